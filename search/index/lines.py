"""Lines of a segment by arrays: no loop over hits.

Positions count bytes from the start of the segment's content. A line ends before its
newline; the text after a document's last newline is a line if it is not empty. The
arrays are as long as the ones that were passed in, element by element.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from search.index.format import I64
from search.index.segment import Segment

Integers = npt.NDArray[np.integer]

# Above this many newlines in the blocks that hold the positions, bisecting for each
# position costs less than laying out all the newlines of those blocks.
_LAY_OUT_AT_MOST = 16_384
_LONGEST_RELATIVE = 65_536


@dataclass(frozen=True)
class Lines:
    """Some lines. `number` is 1-based in its document; `end` is exclusive, without newline."""

    document: I64
    number: I64
    start: I64
    end: I64


def lines_at(segment: Segment, positions: Integers) -> Lines:
    """The lines that hold the bytes at `positions`, which must be ascending.

    A newline belongs to the line that it ends.

    Raises:
        CorruptIndex: the newlines of a block that is needed are damaged.
    """
    positions = positions.astype(np.int64)
    blocks = block_at(segment, positions)
    documents = segment.block_document[blocks].astype(np.int64)
    newline = newlines_before(segment, positions, blocks)
    number = newline - _first_newline(segment, documents) + 1
    start, end = _bounds(segment, documents, newline)
    return Lines(documents, number, start, end)


def line_spans(segment: Segment, documents: Integers, numbers: Integers) -> Lines:
    """The lines with these numbers (1-based) of these documents; for context lines.

    Every number must lie in [1, line_counts(...)].
    """
    documents = documents.astype(np.int64)
    numbers = numbers.astype(np.int64)
    start, end = _bounds(segment, documents, _first_newline(segment, documents) + numbers - 1)
    return Lines(documents, numbers, start, end)


def line_counts(segment: Segment, documents: Integers) -> I64:
    """How many lines each document has."""
    documents = documents.astype(np.int64)
    last = segment.document_first_block[documents + 1]
    newlines = segment.block_newline[last].astype(np.int64) - _first_newline(segment, documents)
    lengths = segment.document_length[documents]
    ends = segment.document_start[documents].astype(np.int64) + lengths
    content = np.frombuffer(segment.content, np.uint8)
    open_ended = np.zeros(len(documents), np.int64)
    some = lengths > 0
    open_ended[some] = content[ends[some] - 1] != 10
    return newlines + open_ended


def block_at(segment: Segment, positions: Integers) -> I64:
    """Number of the block that holds each position."""
    return np.searchsorted(segment.block_start, positions.astype(np.uint32), "right") - 1


def newlines_before(segment: Segment, positions: I64, blocks: I64) -> I64:
    """Newlines of the segment in front of each ascending position; `blocks` hold them."""
    touched = blocks[np.concatenate(([True], blocks[1:] != blocks[:-1]))] if len(blocks) else blocks
    segment.check_newlines(touched)
    first = segment.block_newline[touched].astype(np.int64)
    counts = segment.block_newline[touched + 1].astype(np.int64) - first
    if int(counts.sum()) > _LAY_OUT_AT_MOST:
        return _bisect(segment, positions, blocks)
    ends = np.cumsum(counts)
    rows = np.arange(ends[-1] if len(ends) else 0)
    shift = first - (ends - counts)
    laid_out = newline_positions(
        segment, rows + np.repeat(shift, counts), np.repeat(touched, counts)
    )
    return np.searchsorted(laid_out, positions) + shift[np.searchsorted(touched, blocks)]


def newline_positions(segment: Segment, newlines: I64, blocks: I64 | None = None) -> I64:
    """Position of newlines, by their number in the segment; `blocks` hold them if given."""
    if blocks is None:
        blocks = np.searchsorted(segment.block_newline, newlines, "right") - 1
        segment.check_newlines(np.unique(blocks))
    start = segment.block_start[blocks].astype(np.int64)
    end = segment.block_start[blocks + 1].astype(np.int64)
    # The newline of a block too long for u16 is its last byte (format.py).
    return np.where(end - start > _LONGEST_RELATIVE, end - 1, start + segment.newlines[newlines])


def _bisect(segment: Segment, positions: I64, blocks: I64) -> I64:
    """One binary search per position, in the newlines of its block, all in step."""
    low = segment.block_newline[blocks].astype(np.int64)
    high = segment.block_newline[blocks + 1].astype(np.int64)
    top = len(segment.newlines) - 1
    while (low < high).any():
        middle = (low + high) >> 1
        before = newline_positions(segment, np.minimum(middle, top), blocks) < positions
        before &= low < high
        low = np.where(before, middle + 1, low)
        high = np.where(before, high, np.minimum(middle, high))
    return low


def _first_newline(segment: Segment, documents: I64) -> I64:
    return segment.block_newline[segment.document_first_block[documents]].astype(np.int64)


def _bounds(segment: Segment, documents: I64, newline: I64) -> tuple[I64, I64]:
    """Start and end of the line that the newline of this number ends, or would end."""
    first = _first_newline(segment, documents)
    past = segment.block_newline[segment.document_first_block[documents + 1]].astype(np.int64)
    start = segment.document_start[documents].astype(np.int64)
    end = start + segment.document_length[documents]
    inner = newline > first
    start[inner] = newline_positions(segment, newline[inner] - 1) + 1
    closed = newline < past
    end[closed] = newline_positions(segment, newline[closed])
    return start, end
