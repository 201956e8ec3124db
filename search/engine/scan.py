"""Finds the matches in the candidate text of some rows, exactly, in the order of the result.

Texts are found by SIMD in the mapped content (occurrences.py). An expression runs over
candidate lines, or whole candidate ranges, that are joined to one text first, because one
call over a long text costs far less than one call for each line. Line numbers of all matches
come from array operations at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from search.engine.arrays import expand
from search.engine.budget import MAX_BATCH_SPANS
from search.engine.candidates import Rows
from search.engine.occurrences import find_positions, find_shape, join_spans
from search.engine.pieces import Contents, Pieces, Spans, keys
from search.engine.plan import Plan, Strategy
from search.index.format import I64, Bools
from sourcegraph_site.kernel.deadline import Deadline

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Hits:
    """Matches by row and position; positions count bytes of the content of the row's segment.

    `line` are line numbers, from 1. `rows_done`: how many of the rows that were asked for are
    complete; of later ones nothing is here. `cut`: the last of them has more matches than are
    kept.
    """

    row: I64
    start: I64
    end: I64
    line: I64
    rows_done: int
    cut: bool = False

    def __len__(self) -> int:
        return len(self.row)

    def select(self, keep: Bools | I64 | slice) -> "Hits":
        """Some of the matches."""
        return Hits(
            self.row[keep],
            self.start[keep],
            self.end[keep],
            self.line[keep],
            self.rows_done,
            self.cut,
        )


def join_hits(parts: Sequence[Hits]) -> Hits:
    """Parts that come one behind the other."""
    if len(parts) == 1:
        return parts[0]
    columns = (
        np.concatenate([_NONE, *(getattr(part, name) for part in parts)])
        for name in ("row", "start", "end", "line")
    )
    row, start, end, line = columns
    return Hits(row, start, end, line, rows_done=0)


class Scanner:
    """Looks for one pattern in the rows of one candidate list. For one thread."""

    def __init__(
        self,
        contents: Contents,
        rows: Rows,
        plan: Plan,
        deadline: Deadline,
    ) -> None:
        self._contents = contents
        self._rows = rows
        self._plan = plan
        self._pattern = plan.pattern
        self._deadline = deadline

    def scan(self, begin: int, end: int) -> Hits:
        """The matches of rows [begin, end). Raises CorruptIndex."""
        ranges = self._ranges(begin, end)
        match self._plan.strategy:
            case Strategy.LITERAL:
                spans = self._literal(ranges)
            case Strategy.LINES:
                spans = self._lines(ranges)
            case Strategy.BLOCKS:
                spans = self._expression(ranges)
        line = spans.line
        if line is None:
            line = self._contents.line_numbers(spans.segment, spans.start)
        done = end if spans.rows_done is None else spans.rows_done
        return Hits(spans.row, spans.start, spans.end, line, done - begin, spans.cut)

    def _ranges(self, begin: int, end: int) -> Pieces:
        """The checked candidate ranges of some rows."""
        rows, ranges = self._rows, self._rows.ranges
        first, last = rows.first[begin:end], rows.last[begin:end]
        at = expand(first, last)
        row = np.repeat(np.arange(begin, end), last - first)
        segment = ranges.segment[at]
        self._contents.check_blocks(segment, ranges.first_block[at], ranges.last_block[at])
        return Pieces(row, segment, ranges.start[at], ranges.end[at])

    def _literal(self, ranges: Pieces) -> Spans:
        """The occurrences of the text; on doubtful lines the expression's matches instead."""
        (shape,) = self._plan.shapes
        found = find_shape(self._contents, ranges, shape)
        if not len(found.doubtful):
            return join_spans(found.spans, found.doubtful)
        doubtful = found.doubtful
        lines, _ = self._contents.lines(doubtful.row, doubtful.segment, doubtful.start)
        judged = self._expression(lines)
        spans = found.spans
        line = lines.keys.searchsorted(keys(spans.row, spans.start), "right") - 1
        on_line = (line >= 0) & (spans.row == lines.row[line]) & (spans.start < lines.end[line])
        return join_spans(spans.select(~on_line), judged)

    def _lines(self, ranges: Pieces) -> Spans:
        """The expression's matches on the lines that hold one of the plan's texts."""
        found = find_positions(self._contents, ranges, self._plan.shapes)
        if found is None:
            return self._expression(ranges)
        lines, numbers = self._contents.lines(found.row, found.segment, found.start)
        return self._expression(lines, numbers)

    def _expression(self, pieces: Pieces, numbers: I64 | None = None) -> Spans:
        """The pattern's matches in these pieces; `numbers` are the numbers of lines."""
        data, offsets = self._contents.join(pieces)
        found = self._pattern.spans(data, limit=MAX_BATCH_SPANS, deadline=self._deadline)
        at = offsets.searchsorted(found.starts, "right") - 1
        shift = pieces.start[at] - offsets[at]
        spans = Spans(
            pieces.row[at],
            pieces.segment[at],
            found.starts + shift,
            found.ends + shift,
            None if numbers is None else numbers[at],
        )
        if found.complete:
            return spans
        # The row of the last match may have more, the rows before it do not.
        first = int(pieces.row[0])
        last = int(spans.row[-1]) if len(spans) else first
        if first == last and len(spans) >= MAX_BATCH_SPANS:
            return spans.ending_at(last + 1, cut=True)
        return spans.ending_at(last)
