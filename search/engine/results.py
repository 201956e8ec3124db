"""Answers: what they hold, and how a page is cut out of ordered matches.

The order is total: path bytes, line, offset. A page may end inside a file; the next page
then goes on with the file's next line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from search.engine.arrays import begins, ends, expand
from search.engine.budget import MAX_LINE_SPANS, PartialReason
from search.engine.candidates import Rows
from search.engine.counting import count
from search.engine.explain import Step
from search.engine.languages import language_of
from search.engine.request import Counts, Position
from search.engine.scan import Hits
from search.index.format import I64
from search.index.generation import Generation
from search.index.lines import line_counts, line_spans

MAX_PAGE_LINES = 1_000
NO_LIMIT = 1 << 62
# Matches of a batch above which those that no page shows are dropped at once.
_THIN_ABOVE = 1 << 15


@dataclass(frozen=True, slots=True)
class LineMatch:
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


@dataclass(frozen=True, slots=True)
class FileMatch:
    """A file with matches. `lines` is empty where only files were asked for."""

    path: bytes
    language: str | None
    oid: bytes
    lines: tuple[LineMatch, ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to one request at one generation.

    `counts` are of the whole result, not of this page; they are lower bounds when `partial`.
    `next` continues behind this page; None when there is nothing more that could be found.
    `shrunk`: the page was made smaller, because it would not have fitted the caller's budget;
    `files_only`: so small that it has no lines.
    """

    files: tuple[FileMatch, ...]
    counts: Counts
    partial_reason: PartialReason | None
    truncated: bool
    next: Position | None
    shrunk: bool
    files_only: bool
    indexed_documents: int
    skipped: dict[str, int]
    nanoseconds: int
    plan: dict[str, object]
    steps: tuple[Step, ...]

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
        first = np.flatnonzero(begins(hits.row) | begins(hits.line))
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

    def __init__(self, generation: Generation, rows: Rows, size: PageSize) -> None:
        self._generation = generation
        self._rows = rows
        self._size = size
        self._parts: list[Hits] = []
        self._files = 0
        self._lines = 0
        self._table: LineTable | None = None

    @property
    def is_full(self) -> bool:
        """Is more here than the page will hold?"""
        return self._files > self._size.files or self._lines > self._size.lines

    def want_files(self) -> None:
        """From now on the page holds files without lines, so it may hold more of them."""
        self._size = PageSize(self._size.files, NO_LIMIT, 0)
        self._table = None

    def add(self, hits: Hits) -> None:
        """Take matches that come behind all earlier ones; whole rows only."""
        if not len(hits):
            return
        found = count(hits)
        self._files += found.files
        self._lines += found.lines
        self._parts.append(self._thinned(hits) if len(hits) > _THIN_ABOVE else hits)

    def _thinned(self, hits: Hits) -> Hits:
        """Without matches that no page shows: of far lines, or too many of one line."""
        table = LineTable.of(hits)
        counts = table.last - table.first
        rank = np.arange(len(hits)) - np.repeat(table.first, counts)
        # One more than is shown tells that there were more.
        keep = rank <= MAX_LINE_SPANS
        row = table.row
        first = np.flatnonzero(begins(row))
        line = np.arange(len(table)) - np.repeat(first, ends(first, len(table)) - first)
        return hits.select(keep & np.repeat(line <= MAX_PAGE_LINES, counts))

    @property
    def table(self) -> LineTable:
        """Everything that was collected."""
        if self._table is None:
            names = ("row", "start", "end", "line", "line_start", "line_end")
            empty = np.zeros(0, np.int64)
            columns = [
                np.concatenate([empty, *(getattr(part, name) for part in self._parts)])
                for name in names
            ]
            self._table = LineTable.of(Hits(*columns, rows_done=0))
        return self._table

    def cut(self, size: PageSize) -> int:
        """How many of the collected lines a page of this size holds."""
        row = self.table.row[: size.lines + 1]
        file = np.cumsum(begins(row))
        return min(size.lines, int(np.searchsorted(file, size.files, "right")))

    def text_bytes(self, lines: int) -> int:
        """Bytes of the first so many lines, without context."""
        table = self.table
        at = table.first[:lines]
        return int((table.hits.line_end[at] - table.hits.line_start[at]).sum())

    def end(self, lines: int) -> tuple[bytes, int] | None:
        """Path and line number that the first so many lines end with, if more follow."""
        if lines >= len(self.table):
            return None
        path = self._path(int(self.table.row[lines - 1]))
        return path, int(self.table.number[lines - 1])

    def files_end(self, files: int) -> tuple[bytes, None] | None:
        """The path that the first so many files end with, if more follow."""
        rows = self._file_rows()
        return (self._path(rows[files - 1]), None) if files < len(rows) else None

    def files(self, files: int) -> tuple[FileMatch, ...]:
        """The first so many files, without lines."""
        return tuple(self._file(row, ()) for row in self._file_rows()[:files])

    def fragments_cut(self, lines: int) -> bool:
        """Does one of these lines have more matches than are shown?"""
        table = self.table
        return bool((table.last[:lines] - table.first[:lines] > MAX_LINE_SPANS).any())

    def content(self, lines: int, context: int, after: Position | None) -> tuple[FileMatch, ...]:
        """The first so many lines, by file. `after` is where the page before this one ended."""
        table = self.table
        row = table.row[:lines]
        texts = self._texts(table, lines)
        fragments = self._fragments(table, lines)
        before, behind = self._context(table, lines, context, after)
        numbers = table.number[:lines].tolist()
        matches = list(map(LineMatch, numbers, texts, before, behind, fragments))
        first = np.flatnonzero(begins(row))
        last = ends(first, lines)
        return tuple(
            self._file(at, tuple(matches[begin:end]))
            for at, begin, end in zip(
                row[first].tolist(), first.tolist(), last.tolist(), strict=True
            )
        )

    def _path(self, row: int) -> bytes:
        return self._generation.paths[int(self._rows.path[row])]

    def _file_rows(self) -> list[int]:
        row = self.table.row
        return row[begins(row)].tolist()  # type: ignore[no-any-return]

    def _file(self, row: int, lines: tuple[LineMatch, ...]) -> FileMatch:
        segment = self._generation.segments[int(self._rows.segment[row])]
        path = self._path(row)
        oid = segment.oid(int(self._rows.document[row]))
        return FileMatch(path, language_of(path), oid, lines)

    def _texts(self, table: LineTable, lines: int) -> list[bytes]:
        at = table.first[:lines]
        segment = self._rows.segment[table.hits.row[at]]
        return self._slices(segment, table.hits.line_start[at], table.hits.line_end[at])

    def _slices(self, segment: I64, start: I64, end: I64) -> list[bytes]:
        contents = [each.content for each in self._generation.segments]
        return [
            bytes(contents[number][begin:stop])
            for number, begin, stop in zip(
                segment.tolist(), start.tolist(), end.tolist(), strict=True
            )
        ]

    @staticmethod
    def _fragments(table: LineTable, lines: int) -> list[tuple[tuple[int, int], ...]]:
        """(offset, length) of the matches of each line, at most MAX_LINE_SPANS."""
        first = table.first[:lines]
        last = np.minimum(table.last[:lines], first + MAX_LINE_SPANS)
        stop = int(last[-1]) if len(last) else 0
        offsets = (table.hits.start[:stop] - table.hits.line_start[:stop]).tolist()
        lengths = (table.hits.end[:stop] - table.hits.start[:stop]).tolist()
        pairs = list(zip(offsets, lengths, strict=True))
        return [
            tuple(pairs[begin:end])
            for begin, end in zip(first.tolist(), last.tolist(), strict=True)
        ]

    def _context(
        self, table: LineTable, lines: int, context: int, after: Position | None
    ) -> tuple[Sequence[tuple[bytes, ...]], Sequence[tuple[bytes, ...]]]:
        """Lines before and after each line, each line of a file in one place only."""
        nothing: list[tuple[bytes, ...]] = [()] * lines
        if not context or not lines:
            return nothing, nothing
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
        segment = self._rows.segment[row]
        for number in np.unique(segment).tolist():
            mine = segment == number
            documents = self._rows.document[row[mine]]
            totals[mine] = line_counts(self._generation.segments[number], documents)
        return totals

    def _neighbours(self, row: I64, first: I64, last: I64) -> list[tuple[bytes, ...]]:
        """The lines [first, last) of each row's document."""
        counts = np.maximum(last - first, 0)
        stops = np.cumsum(counts)
        starts = stops - counts
        numbers = expand(first, first + counts)
        owner = np.repeat(row, counts)
        segment, document = self._rows.segment[owner], self._rows.document[owner]
        begin, stop = np.empty(len(numbers), np.int64), np.empty(len(numbers), np.int64)
        for index in np.unique(segment).tolist():
            mine = segment == index
            lines = line_spans(self._generation.segments[index], document[mine], numbers[mine])
            begin[mine], stop[mine] = lines.start, lines.end
        self._check(segment, begin, stop)
        texts = self._slices(segment, begin, stop)
        return [tuple(texts[a:b]) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]

    def _check(self, segment: I64, begin: I64, stop: I64) -> None:
        """Context may lie in blocks that the scan has not looked at."""
        for index in np.unique(segment).tolist():
            mine = segment == index
            for start, end in zip(begin[mine].tolist(), stop[mine].tolist(), strict=True):
                self._generation.segments[index].check_range(start, end)
