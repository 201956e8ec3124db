"""Lines of a segment by arrays: no loop over hits.

Positions count bytes from the start of the segment's content. A line ends before its
newline; the text after a document's last newline is a line if it is not empty. Results are
as long as the arrays that were passed in, element by element.

A block is a run of whole lines, so whatever there is to know about a line is in the rows of
its block: the newline that ends it, or the end of the document, and the one before it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from search.index.format import I64
from search.index.segment import Segment

Integers = npt.NDArray[np.integer]

_LONGEST_RELATIVE = 65_536
# Up to so many positions, counting the newlines of a text costs less than array operations.
_FEW = 24


@dataclass(frozen=True)
class Lines:
    """Some lines. `number` is 1-based in its document; `end` is exclusive, without newline."""

    document: I64
    number: I64
    start: I64
    end: I64


def lines_at(segment: Segment, positions: Integers) -> Lines:
    """The lines that hold the bytes at `positions`. A newline belongs to the line it ends.

    Raises:
        CorruptIndex: the newlines of a block that is needed are damaged.
    """
    blocks = block_at(segment, positions)
    segment.check_newlines(blocks)
    newline = _newlines_before(segment, positions.astype(np.int64), blocks)
    return _lines(segment, blocks, newline)


def line_numbers(segment: Segment, positions: Integers) -> I64:
    """Only the numbers of `lines_at`, at half the cost. Raises CorruptIndex."""
    blocks = block_at(segment, positions)
    segment.check_newlines(blocks)
    newline = _newlines_before(segment, positions.astype(np.int64), blocks)
    return newline - _first_newline(segment, segment.block_document[blocks]) + 1


def line_spans(segment: Segment, documents: Integers, numbers: Integers) -> Lines:
    """The lines with these numbers (1-based) of these documents; for context lines.

    Every number must lie in [1, line_counts(...)].

    Raises:
        CorruptIndex: the newlines of a block that is needed are damaged.
    """
    documents = np.asarray(documents, np.int64)
    newline = _first_newline(segment, documents) + numbers - 1
    blocks = np.searchsorted(segment.block_newline, newline, "right") - 1
    # The newline that would end a last line without one belongs to a later document.
    blocks = np.minimum(blocks, segment.document_first_block[documents + 1] - 1)
    segment.check_newlines(blocks)
    return _lines(segment, blocks, newline)


def line_counts(segment: Segment, documents: Integers) -> I64:
    """How many lines each document has. Raises CorruptIndex."""
    documents = np.asarray(documents, np.int64)
    end_block = segment.document_first_block[documents + 1]
    counts = segment.block_newline[end_block].astype(np.int64)
    counts -= _first_newline(segment, documents)
    some = np.flatnonzero(segment.document_blocks[documents])
    last = end_block[some] - 1
    segment.check_newlines(last)
    closed = segment.block_newline[last + 1].astype(np.int64) - 1
    last_newline = np.where(
        closed >= segment.block_newline[last], _newline_position(segment, last, closed), -1
    )
    counts[some] += last_newline != segment.block_start[last + 1].astype(np.int64) - 1
    return counts


def block_at(segment: Segment, positions: Integers) -> I64:
    """Number of the block that holds each position."""
    return np.searchsorted(segment.block_start, positions.astype(np.uint32), "right") - 1


def _newlines_before(segment: Segment, positions: I64, blocks: I64) -> I64:
    """Newlines of the segment in front of each position: many by bisection, in step."""
    low = segment.block_newline[blocks].astype(np.int64)
    high = segment.block_newline[blocks + 1].astype(np.int64)
    start = segment.block_start[blocks].astype(np.int64)
    wanted = positions - start
    if len(positions) <= _FEW:
        content = segment.content
        bounds = zip(start.tolist(), positions.tolist(), strict=True)
        counts = [bytes(content[begin:end]).count(b"\n") for begin, end in bounds]
        return low + np.array(counts, np.int64)
    # The only newline of a block that is too long for u16 is its last byte.
    high[segment.block_start[blocks + 1] - start > _LONGEST_RELATIVE] = 0
    newlines = segment.newlines
    most = int((high - low).max(initial=0))
    for _ in range(most.bit_length()):
        middle = (low + high) >> 1
        before = newlines.take(middle, mode="clip") < wanted
        before &= low < high
        low = np.where(before, middle + 1, low)
        high = np.where(before, high, middle)
    return low


def _lines(segment: Segment, blocks: I64, newline: I64) -> Lines:
    """The lines that the newlines of these numbers end, or would end; `blocks` hold them."""
    documents = segment.block_document[blocks].astype(np.int64)
    first = segment.block_newline[blocks]
    start = segment.block_start[blocks].astype(np.int64)
    end = segment.block_start[blocks + 1].astype(np.int64)
    closed = newline < segment.block_newline[blocks + 1]
    end = np.where(closed, _newline_position(segment, blocks, newline), end)
    if len(segment.newlines):
        previous = start + segment.newlines.take(newline - 1, mode="clip")
        start = np.where(newline > first, previous + 1, start)
    number = newline - _first_newline(segment, documents) + 1
    return Lines(documents, number, start, end)


def _newline_position(segment: Segment, blocks: I64, newline: I64) -> I64:
    """Position of newlines by their number in the segment; anything where there is none."""
    start = segment.block_start[blocks].astype(np.int64)
    end = segment.block_start[blocks + 1].astype(np.int64)
    if not len(segment.newlines):
        return end
    relative = segment.newlines.take(newline, mode="clip")
    return np.where(end - start > _LONGEST_RELATIVE, end - 1, start + relative)


def _first_newline(segment: Segment, documents: Integers) -> I64:
    return segment.block_newline[segment.document_first_block[documents]].astype(np.int64)
