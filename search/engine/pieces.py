"""Pieces of content in the order of the result: ranges of blocks, lines, matches."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from search.engine.arrays import expand
from search.index.format import I64, U8, Bools
from search.index.lines import block_at, line_numbers, line_spans, lines_at
from search.index.segment import Segment

# Positions in content take 32 bits, so a row and a position make one number to sort by.
_POSITION_BITS = 33


@dataclass(frozen=True, slots=True)
class Pieces:
    """[start, end) of the content of a segment, for a row of the candidates; whole lines."""

    row: I64
    segment: I64
    start: I64
    end: I64

    def __len__(self) -> int:
        return len(self.row)

    @property
    def keys(self) -> I64:
        """Ascending in the order of the result."""
        return keys(self.row, self.start)


@dataclass(frozen=True, slots=True)
class Spans:
    """Matches, in order.

    `line`: numbers of their lines, where they are known already. `rows_done`: rows from this
    one on are not looked at in full, and nothing of them is here; None if all are. `cut`: the
    last row that is done has more matches than could be kept.
    """

    row: I64
    segment: I64
    start: I64
    end: I64
    line: I64 | None = None
    rows_done: int | None = None
    cut: bool = False

    def __len__(self) -> int:
        return len(self.row)

    def select(self, keep: Bools | I64) -> "Spans":
        """Some of them."""
        return Spans(
            self.row[keep],
            self.segment[keep],
            self.start[keep],
            self.end[keep],
            None if self.line is None else self.line[keep],
            self.rows_done,
            self.cut,
        )

    def ending_at(self, row: int, *, cut: bool = False) -> "Spans":
        """Without rows from this one on, as those are not done."""
        some = self.select(self.row < row)
        return Spans(some.row, some.segment, some.start, some.end, some.line, row, cut)


_EMPTY = np.zeros(0, np.int64)
NO_SPANS = Spans(_EMPTY, _EMPTY, _EMPTY, _EMPTY)


def keys(row: I64, position: I64) -> I64:
    """One number for each position in each row, ascending in the order of the result."""
    return (row << _POSITION_BITS) | position


class Contents:
    """The text of several segments, by arrays of (segment, position)."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = segments
        self._bytes = [np.frombuffer(segment.content, np.uint8) for segment in segments]

    def bytes_at(self, segment: I64, position: I64) -> U8:
        """The byte at each position."""
        if len(self.segments) == 1:
            return self._bytes[0][position]
        found = np.empty(len(position), np.uint8)
        for number, mine in self.by_segment(segment):
            found[mine] = self._bytes[number][position[mine]]
        return found

    def view(self, segment: int) -> U8:
        """All of one segment."""
        return self._bytes[segment]

    def line_numbers(self, segment: I64, position: I64) -> I64:
        """Number of the line of each position in its document. Raises CorruptIndex."""
        if len(self.segments) == 1:
            return line_numbers(self.segments[0], position)
        found = np.empty(len(position), np.int64)
        for number, mine in self.by_segment(segment):
            found[mine] = line_numbers(self.segments[number], position[mine])
        return found

    def lines(self, row: I64, segment: I64, position: I64) -> tuple[Pieces, I64]:
        """The lines that hold these positions, each once, in order; and their numbers.

        Raises CorruptIndex.
        """
        number, start, end = self._lines_at(segment, position)
        _, first = np.unique(keys(row, start), return_index=True)
        return Pieces(row[first], segment[first], start[first], end[first]), number[first]

    def _lines_at(self, segment: I64, position: I64) -> tuple[I64, I64, I64]:
        """Number, start and end of the line of each position."""
        if len(self.segments) == 1:
            lines = lines_at(self.segments[0], position)
            return lines.number, lines.start, lines.end
        number, start, end = (np.empty(len(position), np.int64) for _ in range(3))
        for index, mine in self.by_segment(segment):
            lines = lines_at(self.segments[index], position[mine])
            number[mine], start[mine], end[mine] = lines.number, lines.start, lines.end
        return number, start, end

    def line_spans(self, segment: I64, document: I64, number: I64) -> tuple[I64, I64]:
        """Start and end of lines by document and number. Raises CorruptIndex."""
        if len(self.segments) == 1:
            lines = line_spans(self.segments[0], document, number)
            return lines.start, lines.end
        start, end = np.empty(len(segment), np.int64), np.empty(len(segment), np.int64)
        for index, mine in self.by_segment(segment):
            lines = line_spans(self.segments[index], document[mine], number[mine])
            start[mine], end[mine] = lines.start, lines.end
        return start, end

    def check_blocks(self, segment: I64, first: I64, last: I64) -> None:
        """Make sure of the text of runs of blocks. Raises CorruptIndex."""
        if len(self.segments) == 1:
            self.segments[0].check_blocks(expand(first, last))
            return
        for number, mine in self.by_segment(segment):
            self.segments[number].check_blocks(expand(first[mine], last[mine]))

    def check(self, segment: I64, start: I64, end: I64) -> None:
        """Make sure of the text of pieces that lie anywhere. Raises CorruptIndex."""
        for index, mine in self.by_segment(segment):
            each = self.segments[index]
            first = block_at(each, start[mine])
            last = np.maximum(block_at(each, np.maximum(end[mine] - 1, start[mine])), first)
            each.check_blocks(expand(first, last + 1))

    def by_segment(self, segment: I64) -> list[tuple[int, I64]]:
        """Which elements belong to which segment, for the segments that occur."""
        if len(self.segments) == 1:
            return [(0, np.arange(len(segment)))]
        return [
            (number, np.flatnonzero(segment == number)) for number in np.unique(segment).tolist()
        ]

    def texts(self, segment: I64, start: I64, end: I64) -> list[bytes]:
        """The text of each piece."""
        bounds = zip(start.tolist(), end.tolist(), strict=True)
        if len(self.segments) == 1:
            content = self.segments[0].content
            return [bytes(content[begin:stop]) for begin, stop in bounds]
        contents = [each.content for each in self.segments]
        return [
            bytes(contents[number][begin:stop])
            for number, (begin, stop) in zip(segment.tolist(), bounds, strict=True)
        ]

    def join(self, pieces: Pieces) -> tuple[bytes, I64]:
        """The text of all pieces, and where each of them starts in it.

        A newline stands between two: no pattern matches it, or the empty line that comes of it.
        """
        sizes = pieces.end - pieces.start + 1
        offsets = sizes.cumsum() - sizes
        return b"\n".join(self._views_of(pieces)), offsets

    def _views_of(self, pieces: Pieces) -> list[memoryview]:
        bounds = zip(pieces.start.tolist(), pieces.end.tolist(), strict=True)
        contents = [each.content for each in self.segments]
        if len(contents) == 1:
            content = contents[0]
            return [content[begin:stop] for begin, stop in bounds]
        numbers = pieces.segment.tolist()
        return [
            contents[number][begin:stop]
            for number, (begin, stop) in zip(numbers, bounds, strict=True)
        ]
