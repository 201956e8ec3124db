"""Answers: what they hold, and how a page is cut out of ordered matches.

The order is total: path bytes, line, offset. A page may end inside a file; the next page
then goes on with the file's next line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from search.engine.arrays import begins, ends, expand
from search.engine.budget import MAX_LINE_SPANS, PartialReason
from search.engine.candidates import Rows
from search.engine.clock import Step
from search.engine.counting import count
from search.engine.languages import language_of
from search.engine.pieces import Contents
from search.engine.plan import Plan
from search.engine.request import Counted, Counts, Position
from search.engine.scan import Hits, join_hits
from search.index.format import I64
from search.index.generation import Generation
from search.index.lines import line_counts

# Lines and files are tuples: a page has a thousand of them, and a frozen dataclass takes four
# times as long to make.

MAX_PAGE_LINES = 1_000
NO_LIMIT = 1 << 62
# Matches of a batch above which those that no page shows are dropped at once.
_THIN_ABOVE = 1 << 15


class LineMatch(NamedTuple):
    """A line with matches, without its newline; neighbours are those that no other match shows.

    `before` ends with the line in front of this one, `after` starts with the one behind it.
    Taken together over a file, in order, `before`, the line and `after` show each line once.
    `fragments` are (offset, length) in bytes of `text`, ascending, at most 1,000.
    """

    number: int
    text: bytes
    before: tuple[bytes, ...]
    after: tuple[bytes, ...]
    fragments: tuple[tuple[int, int], ...]


class FileMatch(NamedTuple):
    """A file with matches. `lines` is empty where only files were asked for."""

    path: bytes
    language: str | None
    oid: bytes
    lines: tuple[LineMatch, ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to one request at one generation.

    `counts` are of the whole result, not of this page; they are lower bounds when `partial`.
    `counted` says how much was found in all, and how far that is counted; `next` continues
    behind this page; None when there is nothing more that could be found.
    `shrunk`: the page was made smaller, because it would not have fitted the caller's budget;
    `files_only`: so small that it has no lines.
    """

    files: tuple[FileMatch, ...]
    counted: Counted
    partial_reason: PartialReason | None
    truncated: bool
    next: Position | None
    shrunk: bool
    files_only: bool
    indexed_documents: int
    skipped: dict[str, int]
    nanoseconds: int
    plan: Plan
    steps: tuple[Step, ...]

    @property
    def counts(self) -> Counts:
        return self.counted.counts

    @property
    def partial(self) -> bool:
        return self.partial_reason is not None

    @property
    def has_more(self) -> bool:
        return self.next is not None


@dataclass(frozen=True, slots=True)
class PageSize:
    """The most that a page holds."""

    files: int
    lines: int
    context: int


@dataclass(frozen=True, slots=True)
class LineTable:
    """Lines with matches, in the order of the result, over the matches of `hits`.

    Line i is that of the matches `first[i]` to `last[i]` (exclusive).
    """

    hits: Hits
    first: I64
    last: I64

    @classmethod
    def of(cls, hits: Hits) -> "LineTable":
        first = (begins(hits.row) | begins(hits.line)).nonzero()[0]
        return cls(hits, first, ends(first, len(hits)))

    def __len__(self) -> int:
        return len(self.first)

    @property
    def row(self) -> I64:
        return self.hits.row[self.first]

    @property
    def number(self) -> I64:
        return self.hits.line[self.first]


class Page:
    """Collects the matches of one page, and one line more, which tells that there is more."""

    def __init__(
        self, generation: Generation, contents: Contents, rows: Rows, size: PageSize
    ) -> None:
        self._generation = generation
        self._contents = contents
        self._rows = rows
        self._size = size
        self._parts: list[Hits] = []
        self._file_count = 0
        self._line_count = 0
        self._table: LineTable | None = None
        self._line_bounds: tuple[I64, I64] | None = None

    @property
    def is_full(self) -> bool:
        """Is more here than the page will hold?"""
        return self._file_count > self._size.files or self._line_count > self._size.lines

    def want_files(self) -> None:
        """From now on the page holds files without lines, so it may hold more of them."""
        self._size = PageSize(self._size.files, NO_LIMIT, 0)
        self._table = self._line_bounds = None

    def add(self, hits: Hits) -> None:
        """Take matches that come behind all earlier ones; whole rows only."""
        if not len(hits):
            return
        found = count(hits)
        self._file_count += found.files
        self._line_count += found.lines
        self._parts.append(self._thinned(hits) if len(hits) > _THIN_ABOVE else hits)

    def _thinned(self, hits: Hits) -> Hits:
        """Without matches that no page shows: of far lines, or too many of one line."""
        table = LineTable.of(hits)
        counts = table.last - table.first
        rank = np.arange(len(hits)) - table.first.repeat(counts)
        # One more than is shown tells that there were more.
        keep = rank <= MAX_LINE_SPANS
        row = table.row
        first = begins(row).nonzero()[0]
        line = np.arange(len(table)) - first.repeat(ends(first, len(table)) - first)
        return hits.select(keep & np.repeat(line <= MAX_PAGE_LINES, counts))

    @property
    def table(self) -> LineTable:
        """Everything that was collected."""
        if self._table is None:
            self._table = LineTable.of(join_hits(self._parts))
        return self._table

    def cut(self, size: PageSize) -> int:
        """How many of the collected lines a page of this size holds."""
        if not self._parts:
            return 0
        row = self.table.row[: size.lines + 1]
        file = np.cumsum(begins(row))
        return min(size.lines, int(file.searchsorted(size.files, "right")))

    def text_bytes(self, lines: int) -> int:
        """Bytes of the first so many lines, without context."""
        if not lines:
            return 0
        start, end = self._bounds(lines)
        return int((end - start).sum())

    def _bounds(self, lines: int) -> tuple[I64, I64]:
        """Start and end of the first so many lines."""
        if self._line_bounds is None or len(self._line_bounds[0]) < lines:
            row = self.table.row[:lines]
            self._line_bounds = self._contents.line_spans(
                self._rows.segment[row], self._rows.document[row], self.table.number[:lines]
            )
        start, end = self._line_bounds
        return start[:lines], end[:lines]

    def end(self, lines: int, start: Position | None) -> tuple[bytes, int | None] | None:
        """Path and line number that the first so many lines end with, if more follow.

        `start` is where the page begins.
        """
        if not self._parts or lines >= len(self.table):
            return None
        if not lines:
            return (start.path, start.line) if start else (b"", None)
        path = self._path(int(self.table.row[lines - 1]))
        return path, int(self.table.number[lines - 1])

    def files_end(self, files: int, start: Position | None) -> tuple[bytes, int | None] | None:
        """As `end`, for files: the path that the first so many of them end with."""
        rows = self._file_rows()
        if files >= len(rows):
            return None
        if not files:
            return (start.path, start.line) if start else (b"", None)
        return self._path(int(rows[files - 1])), None

    def files(self, files: int) -> tuple[FileMatch, ...]:
        """The first so many files, without lines."""
        row = self._file_rows()[:files]
        return self._files(row, [()] * len(row))

    def fragments_cut(self, lines: int) -> bool:
        """Does one of these lines have more matches than are shown?"""
        if not lines:
            return False
        table = self.table
        return bool((table.last[:lines] - table.first[:lines] > MAX_LINE_SPANS).any())

    def content(self, lines: int, context: int, after: Position | None) -> tuple[FileMatch, ...]:
        """The first so many lines, by file. `after` is where the page before this one ended."""
        if not lines:
            return ()
        table = self.table
        row = table.row[:lines]
        start, end = self._bounds(lines)
        texts = self._contents.texts(self._rows.segment[row], start, end)
        fragments = self._fragments(lines, start)
        before, behind = self._context(lines, context, after)
        numbers = table.number[:lines].tolist()
        matches = list(map(LineMatch, numbers, texts, before, behind, fragments))
        first = begins(row).nonzero()[0]
        parts = zip(first.tolist(), ends(first, lines).tolist(), strict=True)
        return self._files(row[first], [tuple(matches[begin:stop]) for begin, stop in parts])

    def _path(self, row: int) -> bytes:
        path: bytes = self._generation.paths[int(self._rows.path[row])]
        return path

    def _file_rows(self) -> I64:
        row = self.table.row
        return row[begins(row)]

    def _files(self, row: I64, lines: Sequence[tuple[LineMatch, ...]]) -> tuple[FileMatch, ...]:
        """One file for each row, with these lines."""
        paths = [self._generation.paths[index] for index in self._rows.path[row].tolist()]
        segments = self._generation.segments
        places = zip(
            self._rows.segment[row].tolist(), self._rows.document[row].tolist(), strict=True
        )
        oids = [segments[number].oid(document) for number, document in places]
        return tuple(map(FileMatch, paths, map(language_of, paths), oids, lines))

    def _fragments(self, lines: int, line_start: I64) -> list[tuple[tuple[int, int], ...]]:
        """(offset, length) of the matches of each line, at most MAX_LINE_SPANS."""
        table = self.table
        first = table.first[:lines]
        counts = table.last[:lines] - first
        stop = int(table.last[lines - 1]) if lines else 0
        start = table.hits.start[:stop]
        offsets = (start - line_start.repeat(counts)).tolist()
        lengths = (table.hits.end[:stop] - start).tolist()
        pairs = list(zip(offsets, lengths, strict=True))
        if stop == lines:  # One match on each line.
            return [(pair,) for pair in pairs]
        last = (first + np.minimum(counts, MAX_LINE_SPANS)).tolist()
        return [tuple(pairs[begin:end]) for begin, end in zip(first.tolist(), last, strict=True)]

    def _context(
        self, lines: int, context: int, after: Position | None
    ) -> tuple[Sequence[tuple[bytes, ...]], Sequence[tuple[bytes, ...]]]:
        """Lines before and after each line, each line of a file in one place only."""
        nothing: list[tuple[bytes, ...]] = [()] * lines
        if not context or not lines:
            return nothing, nothing
        table = self.table
        row, number = table.row[: lines + 1], table.number[: lines + 1]
        total = self._line_totals(row[:lines])
        # The nearest matching lines of the same file, on this page or beside it.
        same = row[1:] == row[:-1]
        previous = np.zeros(lines, np.int64)
        previous[1:] = np.where(same[: lines - 1], number[: lines - 1], 0)
        if after is not None and after.line is not None and after.path == self._path(int(row[0])):
            previous[0] = after.line
        following = np.append(np.where(same, number[1:], 0), 0)[:lines]
        number = number[:lines]
        # A line between two matches is behind the first if it is near enough, else before
        # the second.
        shown = np.where(previous > 0, np.minimum(previous + context, number - 1), 0)
        first = np.maximum(np.maximum(number - context, 1), shown + 1)
        last = np.minimum(number + context, np.where(following > 0, following - 1, total))
        before = self._neighbours(row[:lines], first, number)
        return before, self._neighbours(row[:lines], number + 1, last + 1)

    def _line_totals(self, row: I64) -> I64:
        totals = np.empty(len(row), np.int64)
        for number, mine in self._contents.by_segment(self._rows.segment[row]):
            documents = self._rows.document[row[mine]]
            totals[mine] = line_counts(self._generation.segments[number], documents)
        return totals

    def _neighbours(self, row: I64, first: I64, last: I64) -> list[tuple[bytes, ...]]:
        """The lines [first, last) of each row's document. Raises CorruptIndex."""
        counts = np.maximum(last - first, 0)
        owner = row.repeat(counts)
        segment = self._rows.segment[owner]
        start, end = self._contents.line_spans(
            segment, self._rows.document[owner], expand(first, first + counts)
        )
        # They may lie in blocks that the scan has not looked at.
        self._contents.check(segment, start, end)
        texts = self._contents.texts(segment, start, end)
        stops = counts.cumsum()
        return [
            tuple(texts[begin:stop])
            for begin, stop in zip((stops - counts).tolist(), stops.tolist(), strict=True)
        ]
