"""One request at one generation: candidates, matches, counts, a page.

Batches of candidate rows are scanned in path order. The page takes what it needs from them;
counting goes on to the end of the result or to its cap. The two have their own positions:
the answer to a first page counts everything, and hands on what it counted, so that a later
page need not count again.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from time import perf_counter

from search.engine.budget import Pace, PartialReason
from search.engine.candidates import find_candidates
from search.engine.clock import Clock
from search.engine.counting import Tally
from search.engine.pieces import Contents
from search.engine.plan import make_plan
from search.engine.request import NOTHING_COUNTED, Counted, EngineRequest, Position
from search.engine.results import NO_LIMIT, FileMatch, Page, PageSize, SearchResult
from search.engine.scan import Hits, Scanner
from search.index.generation import Generation
from sourcegraph_site.kernel.deadline import Deadline

# Whether a page, as the caller is going to render it, fits the caller's budget.
Fits = Callable[[Sequence[FileMatch]], bool]

# A page whose lines alone have more bytes than this is not even handed to `Fits`.
MAX_PAGE_TEXT_BYTES = 2 << 20
SMALL_PAGE = PageSize(files=20, lines=100, context=0)


def search(
    generation: Generation,
    request: EngineRequest,
    deadline: Deadline,
    *,
    fits: Fits = lambda files: True,
) -> SearchResult:
    """Search one generation.

    A content page that does not fit is made smaller: 20 files, 100 lines and no context, then
    files without lines.

    Raises:
        CorruptIndex: a part of the index that was needed is damaged.
    """
    work = _Work(generation, request, deadline)
    work.run()
    if request.output == "files":
        return work.files_page()
    page = work.content_page(fits)
    if page is None:
        work.shrink_to_files()
        work.run()
        page = work.files_page()
    return page


class _Work:
    """The state of one search."""

    def __init__(self, generation: Generation, request: EngineRequest, deadline: Deadline) -> None:
        self._generation = generation
        self._request = request
        self._deadline = deadline
        self._clock = Clock()
        self._plan = make_plan(request.pattern, generation.segments)
        with self._clock.step("candidates") as detail:
            found = find_candidates(generation, self._plan, request)
            detail.update(Blocks=found.blocks, Documents=found.documents, Paths=len(found.rows))
        self._rows = found.rows
        files_only = request.output == "files"
        self._size = PageSize(
            request.max_files, NO_LIMIT if files_only else request.max_lines, request.context
        )
        self._contents = Contents(generation.segments)
        self._page = Page(generation, self._contents, self._rows, self._size)
        self._shrunk = self._files_only = False
        counted = request.after.counted if request.after else NOTHING_COUNTED
        self._until = counted.until
        self._tally = Tally(counted.counts, capped=counted.capped)
        # The rows that the page and the counting go on with.
        self._page_row = self._first_page_row = self._row_of_page()
        self._count_row = self._row_of_counting()
        self._deadline_hit = self._memory_hit = False

    # Work

    def run(self) -> None:
        """Scan rows until the page is full and the counting is over, or the time is up."""
        if not len(self._rows):
            return
        scanner = Scanner(self._contents, self._rows, self._plan, self._deadline)
        pace = Pace()
        text_bytes = self._rows.text_bytes
        batches = scanned = matches = 0
        with self._clock.step("scan") as detail:
            while (at := self._next_row()) is not None and not self._deadline_hit:
                before = int(text_bytes[at - 1]) if at else 0
                end = int(text_bytes.searchsorted(before + pace.batch_bytes, "right"))
                began = perf_counter()
                hits = scanner.scan(at, max(end, at + 1))
                done = at + hits.rows_done
                size = (int(text_bytes[done - 1]) if done else 0) - before
                pace.record(size, len(hits), perf_counter() - began)
                self._take(hits, at, done)
                self._deadline_hit = done == at or self._deadline.expired
                batches, scanned, matches = batches + 1, scanned + size, matches + len(hits)
            detail.update(
                Strategy=self._plan.strategy.value, Batches=batches, Bytes=scanned, Matches=matches
            )

    def _next_row(self) -> int | None:
        """The row that the page needs next, or else the counting; None when both are done."""
        if not self._page.is_full and self._page_row < len(self._rows):
            return self._page_row
        return None if self._counting_is_over else self._count_row

    @property
    def _counting_is_over(self) -> bool:
        return self._tally.capped or self._count_row >= len(self._rows)

    def _take(self, hits: Hits, at: int, done: int) -> None:
        """Give the matches of rows [at, done) to the page and the counting that need them."""
        self._memory_hit |= hits.cut
        if at == self._page_row and not self._page.is_full:
            self._page.add(self._behind_last_page(hits))
            self._page_row = done
        if at <= self._count_row < done and not self._counting_is_over:
            if at < self._count_row:
                hits = hits.select(hits.row >= self._count_row)
            self._tally.add(hits)
            self._count_row = done

    def _behind_last_page(self, hits: Hits) -> Hits:
        """Without the lines that earlier pages have shown of the first row."""
        after = self._request.after
        first = self._first_page_row
        if after is None or after.line is None or not len(hits) or hits.row[0] != first:
            return hits
        if self._path(first) != after.path:
            return hits
        return hits.select((hits.row > first) | (hits.line > after.line))

    # Positions

    def _path(self, row: int) -> bytes:
        path: bytes = self._generation.paths[int(self._rows.path[row])]
        return path

    def _rows_up_to(self, path: bytes, *, inclusive: bool) -> int:
        """How many rows stand in front of a path, or up to and including it."""
        paths = self._generation.paths
        index = (bisect_right if inclusive else bisect_left)(paths, path)
        return int(self._rows.path.searchsorted(index))

    def _row_of_page(self) -> int:
        after = self._request.after
        if after is None:
            return 0
        return self._rows_up_to(after.path, inclusive=after.line is None)

    def _row_of_counting(self) -> int:
        if self._until is None:
            return len(self._rows)
        return self._rows_up_to(self._until, inclusive=True) if self._until else 0

    def _counted(self) -> Counted:
        until = self._until
        if self._counting_is_over:
            until = None
        elif self._count_row:
            until = self._path(self._count_row - 1)
        return Counted(self._tally.counts, until, self._tally.capped)

    # Pages

    def shrink_to_files(self) -> None:
        """Make the page one of files without lines, as no lines would fit."""
        self._files_only = self._shrunk = True
        self._page.want_files()

    def content_page(self, fits: Fits) -> SearchResult | None:
        """The page with lines, made smaller if need be; None if even that does not fit."""
        size = self._size
        small = PageSize(
            min(size.files, SMALL_PAGE.files), min(size.lines, SMALL_PAGE.lines), SMALL_PAGE.context
        )
        for level in (size, small):
            lines = self._page.cut(level)
            if self._page.text_bytes(lines) <= MAX_PAGE_TEXT_BYTES:
                with self._clock.step("page") as detail:
                    files = self._page.content(lines, level.context, self._request.after)
                    detail.update(Files=len(files), Lines=lines)
                if fits(files):
                    cut = self._page.fragments_cut(lines)
                    return self._result(files, self._page.end(lines, self._request.after), cut)
            self._shrunk = True
        return None

    def files_page(self) -> SearchResult:
        """The page without lines."""
        with self._clock.step("page") as detail:
            files = self._page.files(self._size.files)
            detail.update(Files=len(files))
        return self._result(
            files, self._page.files_end(self._size.files, self._request.after), False
        )

    def _result(
        self, files: tuple[FileMatch, ...], end: tuple[bytes, int | None] | None, cut: bool
    ) -> SearchResult:
        if end is None and self._first_page_row < self._page_row < len(self._rows):
            # The time was up. What has been looked at need not be looked at again.
            end = self._path(self._page_row - 1), None
        counted = self._counted()
        after = None if end is None else Position(end[0], end[1], counted)
        return SearchResult(
            files=files,
            counted=counted,
            partial_reason=self._partial_reason(),
            truncated=after is not None or self._files_only or cut,
            next=after,
            shrunk=self._shrunk,
            files_only=self._files_only,
            indexed_documents=len(self._generation.paths),
            skipped=dict(self._generation.skipped),
            nanoseconds=self._clock.elapsed,
            plan=self._plan,
            steps=tuple(self._clock.steps),
        )

    def _partial_reason(self) -> PartialReason | None:
        page_is_open = not self._page.is_full and self._page_row < len(self._rows)
        if self._deadline_hit and (page_is_open or not self._counting_is_over):
            return PartialReason.DEADLINE
        if self._memory_hit:
            return PartialReason.MEMORY
        return PartialReason.MATCH_CAP if self._tally.capped else None
