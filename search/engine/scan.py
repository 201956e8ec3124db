"""Finds the matches in the candidate text of some rows, exactly, in the order of the result.

Literals are found by SIMD (StringZilla) right in the mapped content; an expression runs over
candidate lines, or whole candidate ranges, that are joined to one text first, because one
call over a long text costs far less than one call for each line. Line numbers and bounds of
all matches come from array operations at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import stringzilla as sz

from search.engine.arrays import begins, expand
from search.engine.budget import MAX_BATCH_SPANS
from search.engine.candidates import Ranges, Rows
from search.engine.plan import Plan, Strategy
from search.index.format import I64, Bools
from search.index.lines import lines_at
from search.index.segment import Segment
from search.pattern import CompiledPattern
from sourcegraph_site.kernel.deadline import Deadline

# What folds to ASCII letters and is not ASCII: KELVIN SIGN to k, LONG S to s.
_FOLDS_TO_ASCII = {b"k": b"\xe2\x84\xaa", b"s": b"\xc5\xbf"}
_LOWER_BIT = 0x20


@dataclass(frozen=True, slots=True)
class Hits:
    """Matches by row and position; positions count bytes of the content of the row's segment.

    `rows_done`: how many of the rows that were asked for are complete; of later ones nothing is
    here. `cut`: the last of them has more matches than are kept.
    """

    row: I64
    start: I64
    end: I64
    line: I64  # number, from 1
    line_start: I64
    line_end: I64
    rows_done: int
    cut: bool = False

    def __len__(self) -> int:
        return len(self.row)

    def select(self, keep: Bools | slice) -> "Hits":
        """Some of the matches."""
        return Hits(
            self.row[keep],
            self.start[keep],
            self.end[keep],
            self.line[keep],
            self.line_start[keep],
            self.line_end[keep],
            self.rows_done,
            self.cut,
        )


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines, or ranges of whole lines, by row and position."""

    row: I64
    segment: I64
    start: I64
    end: I64


@dataclass(frozen=True, slots=True)
class _Spans:
    """Matches of which the lines are not known yet."""

    row: I64
    segment: I64
    start: I64
    end: I64
    complete: bool


class Scanner:
    """Looks for one pattern in the rows of one candidate list. For one thread."""

    def __init__(
        self,
        segments: Sequence[Segment],
        rows: Rows,
        plan: Plan,
        pattern: CompiledPattern,
        deadline: Deadline,
    ) -> None:
        self._segments = segments
        self._rows = rows
        self._plan = plan
        self._pattern = pattern
        self._deadline = deadline
        self._finders = [sz.Str(segment.content).find for segment in segments]

    def scan(self, begin: int, end: int) -> Hits:
        """The matches of rows [begin, end).

        Raises CorruptIndex.
        """
        ranges = self._ranges(begin, end)
        match self._plan.strategy:
            case Strategy.LITERAL:
                spans = self._literal(ranges)
            case Strategy.LINES:
                spans = self._expression(self._candidate_lines(ranges))
            case Strategy.BLOCKS:
                spans = self._expression(ranges)
        return self._hits(spans, begin, end)

    def _ranges(self, begin: int, end: int) -> _Lines:
        """The checked candidate ranges of some rows."""
        rows, ranges = self._rows, self._rows.ranges
        at = expand(rows.first[begin:end], rows.last[begin:end])
        counts = rows.last[begin:end] - rows.first[begin:end]
        row = np.repeat(np.arange(begin, end), counts)
        segment = ranges.segment[at]
        self._check(ranges, at, segment)
        return _Lines(row, segment, ranges.start[at], ranges.end[at])

    def _check(self, ranges: Ranges, at: I64, segment: I64) -> None:
        for number, each in enumerate(self._segments):
            mine = at[segment == number] if len(self._segments) > 1 else at
            each.check_blocks(expand(ranges.first_block[mine], ranges.last_block[mine]))

    # Literals

    def _literal(self, ranges: _Lines) -> _Spans:
        (needle,) = self._plan.texts
        positions, counts = self._occurrences(ranges, needle, len(needle))
        return _Spans(
            np.repeat(ranges.row, counts),
            np.repeat(ranges.segment, counts),
            positions,
            positions + len(needle),
            True,
        )

    def _occurrences(self, ranges: _Lines, needle: bytes, step: int) -> tuple[I64, I64]:
        """Positions of a text, leftmost first, and how many of them each range has."""
        found: list[int] = []
        ends: list[int] = []
        append, mark = found.append, ends.append
        finders = [self._finders[number] for number in ranges.segment.tolist()]
        for find, start, end in zip(
            finders, ranges.start.tolist(), ranges.end.tolist(), strict=True
        ):
            at = find(needle, start, end)
            while at >= 0:
                append(at)
                at = find(needle, at + step, end)
            mark(len(found))
        return np.array(found, np.int64), np.diff(np.array(ends, np.int64), prepend=0)

    # Candidate lines

    def _candidate_lines(self, ranges: _Lines) -> _Lines:
        """The lines that hold one of the plan's texts."""
        if self._plan.folded:
            return self._folded_lines(ranges)
        parts = [self._occurrences(ranges, text, len(text)) for text in self._plan.texts]
        row = np.concatenate([np.repeat(ranges.row, counts) for _, counts in parts])
        segment = np.concatenate([np.repeat(ranges.segment, counts) for _, counts in parts])
        position = np.concatenate([positions for positions, _ in parts])
        return self._lines_of(row, segment, position)

    def _folded_lines(self, ranges: _Lines) -> _Lines:
        """As `_candidate_lines`, for ASCII texts in any case.

        Setting one bit makes lower case of upper, at the price of taking `[` for `{` and the
        like; the expression sorts those out.
        """
        data, offsets = self._join(ranges)
        lowered = (np.frombuffer(data, np.uint8) | _LOWER_BIT).tobytes()
        found = []
        for text in self._plan.texts:
            needle = bytes(byte | _LOWER_BIT for byte in text)
            found.append(_all_positions(lowered, needle))
            for letter, other in _FOLDS_TO_ASCII.items():
                if letter in text:
                    found.append(_all_positions(data, other))
        position = np.concatenate(found)
        at = np.searchsorted(offsets, position, "right") - 1
        start = ranges.start[at] + position - offsets[at]
        return self._lines_of(ranges.row[at], ranges.segment[at], start)

    def _lines_of(self, row: I64, segment: I64, position: I64) -> _Lines:
        """The lines that hold these positions, each once, in order."""
        order = np.lexsort((position, row))
        row, segment, position = row[order], segment[order], position[order]
        _, start, end = self._locate(segment, position)
        first = begins(row) | begins(start)
        return _Lines(row[first], segment[first], start[first], end[first])

    # Expressions

    def _expression(self, lines: _Lines) -> _Spans:
        """The pattern's matches in these lines or ranges."""
        data, offsets = self._join(lines)
        spans = self._pattern.spans(data, limit=MAX_BATCH_SPANS, deadline=self._deadline)
        at = np.searchsorted(offsets, spans.starts, "right") - 1
        shift = lines.start[at] - offsets[at]
        return _Spans(
            lines.row[at],
            lines.segment[at],
            spans.starts + shift,
            spans.ends + shift,
            spans.complete,
        )

    def _join(self, lines: _Lines) -> tuple[bytes, I64]:
        """The text of lines or ranges, and where each of them starts in it.

        A newline stands between two: no pattern matches one, or the empty line that comes of it.
        """
        contents = [segment.content for segment in self._segments]
        parts = [
            contents[number][start:end]
            for number, start, end in zip(
                lines.segment.tolist(), lines.start.tolist(), lines.end.tolist(), strict=True
            )
        ]
        sizes = lines.end - lines.start + 1
        return b"\n".join(parts), np.cumsum(sizes) - sizes

    # Lines of matches

    def _hits(self, spans: _Spans, begin: int, end: int) -> Hits:
        line, line_start, line_end = self._locate(spans.segment, spans.start)
        hits = Hits(spans.row, spans.start, spans.end, line, line_start, line_end, end - begin)
        if spans.complete:
            return hits
        # The row of the last match may have more; the rows before it do not.
        last = int(spans.row[-1]) if len(hits) else begin
        if last == begin and len(hits) >= MAX_BATCH_SPANS:
            return Hits(*_columns(hits), rows_done=1, cut=True)
        return Hits(*_columns(hits.select(spans.row < last)), rows_done=last - begin)

    def _locate(self, segment: I64, position: I64) -> tuple[I64, I64, I64]:
        """Number, start and end of the line of each position."""
        number, start, end = (np.empty(len(position), np.int64) for _ in range(3))
        for index, each in enumerate(self._segments):
            mine = np.flatnonzero(segment == index)
            if not len(mine):
                continue
            mine = mine[np.argsort(position[mine])]
            lines = lines_at(each, position[mine])
            number[mine], start[mine], end[mine] = lines.number, lines.start, lines.end
        return number, start, end


def _columns(hits: Hits) -> tuple[I64, I64, I64, I64, I64, I64]:
    return hits.row, hits.start, hits.end, hits.line, hits.line_start, hits.line_end


def _all_positions(text: bytes, needle: bytes) -> I64:
    """Every position of a text in another, overlapping ones too."""
    found = []
    find = sz.Str(text).find
    at = find(needle, 0)
    while at >= 0:
        found.append(at)
        at = find(needle, at + 1)
    return np.array(found, np.int64)
