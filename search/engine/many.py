"""One request over many repositories, under one deadline, in the order of their names.

Each repository is searched as by itself; the page takes what is left of its size, and the
counting goes on from one to the next, up to one cap for all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from search.engine.budget import PartialReason
from search.engine.request import NOTHING_COUNTED, Counted, Counts, EngineRequest, Position
from search.engine.results import FileMatch, LineMatch, SearchResult
from search.engine.search import SMALL_PAGE, search
from search.engine.signature import may_match
from search.index.format import CorruptIndex
from search.index.generation import Generation
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import AppError

# Whether the files of all repositories together, as the caller renders them, fit its budget.
Fits = Callable[[Sequence["RepositoryFiles"]], bool]


@dataclass(frozen=True, slots=True)
class Target:
    """A repository to be searched. `open` may raise AppError or CorruptIndex.

    `signature` (signature.py) spares opening what cannot match.
    """

    name: str
    open: Callable[[], Generation]
    signature: bytes | None = None


@dataclass(frozen=True, slots=True)
class ManyPosition:
    """Between two results: in this repository, at this position of it.

    `position.counted` is of all repositories; its path is one of `counting`, the repository in
    which the counting stopped.
    """

    name: str
    position: Position
    counting: str


@dataclass(frozen=True, slots=True)
class RepositoryFiles:
    """The part of a page that comes from one repository."""

    name: str
    files: tuple[FileMatch, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one repository: searched or not, in full or not, or why it could not be.

    `result` is None if it was not opened: its signature ruled it out, or an earlier page has
    been through with it, or the time was up (`partial`), or it failed.
    """

    name: str
    result: SearchResult | None = None
    partial: bool = False
    failure: AppError | CorruptIndex | None = None


@dataclass(frozen=True, slots=True)
class ManyResult:
    """As `SearchResult`, of many repositories."""

    pages: tuple[RepositoryFiles, ...]
    counted: Counted
    counting: str  # the repository in which the counting stopped; empty when it is over
    partial_reason: PartialReason | None
    truncated: bool
    next: ManyPosition | None
    shrunk: bool
    files_only: bool
    outcomes: tuple[Outcome, ...]

    @property
    def counts(self) -> Counts:
        return self.counted.counts


def search_many(
    targets: Sequence[Target],
    request: EngineRequest,
    deadline: Deadline,
    *,
    after: ManyPosition | None = None,
    fits: Fits = lambda pages: True,
) -> ManyResult:
    """Search repositories that are given in the order of their names.

    `request.after` must be None; `after` takes its place. A repository that cannot be searched
    is reported in the outcomes and does not keep the others from being searched.
    """
    run = _Run(request, deadline, after)
    for target in targets:
        run.visit(target)
    result = run.result()
    if result.files_only:
        return _without_lines(result)
    if request.output == "files" or fits(result.pages):
        return result
    small = _trimmed(result)
    return small if fits(small.pages) else _without_lines(result)


class _Run:
    """The state of one search over many repositories."""

    def __init__(
        self, request: EngineRequest, deadline: Deadline, after: ManyPosition | None
    ) -> None:
        self._request = request
        self._deadline = deadline
        self._after = after or ManyPosition("", Position(b"", None, NOTHING_COUNTED), "")
        counted = self._after.position.counted
        self._counts, self._capped = counted.counts, counted.capped
        # Where the counting goes on; None when it is over.
        self._counting: tuple[str, bytes] | None = None
        if counted.until is not None:
            self._counting = (self._after.counting, counted.until)
        self._counting_stopped = False
        self._lines, self._files = request.max_lines, request.max_files
        self._pages: list[RepositoryFiles] = []
        self._outcomes: list[Outcome] = []
        # Where the next page begins, once it is known that there is more.
        self._next: tuple[str, bytes, int | None] | None = None
        self._reason: PartialReason | None = None
        self._shrunk = self._files_only = self._withheld = False

    def visit(self, target: Target) -> None:
        """Search one repository, if the page or the counting still needs it."""
        page = self._next is None and target.name >= self._after.name
        count = self._counting is not None and target.name >= self._counting[0]
        if not (page or count) or not _can_match(target, self._request):
            self._outcomes.append(Outcome(target.name))
        elif self._deadline.expired:
            self._outcomes.append(Outcome(target.name, partial=True))
            self._stop_at(target.name, page, count)
        else:
            self._search(target, page, count)

    def _stop_at(self, name: str, page: bool, count: bool) -> None:
        """The time is up: the next page goes on here, if this one got anywhere."""
        self._reason = PartialReason.DEADLINE
        if page and any(outcome.result for outcome in self._outcomes):
            self._next = (name, *self._start(name))
        if count and not self._counting_stopped:
            self._counting, self._counting_stopped = (name, b""), True

    def _start(self, name: str) -> tuple[bytes, int | None]:
        if name == self._after.name:
            return self._after.position.path, self._after.position.line
        return b"", None

    def _search(self, target: Target, page: bool, count: bool) -> None:
        until: bytes | None = None
        if count and self._counting is not None:
            until = self._counting[1] if target.name == self._counting[0] else b""
        path, line = self._start(target.name)
        counted = Counted(self._counts, until, self._capped)
        request = replace(
            self._request,
            max_files=self._files if page else 0,
            max_lines=self._lines if page else 0,
            after=Position(path, line, counted),
        )
        try:
            result = search(target.open(), request, self._deadline)
        except (AppError, CorruptIndex) as exc:
            self._outcomes.append(Outcome(target.name, failure=exc))
            return
        partial = result.partial_reason not in (None, PartialReason.MATCH_CAP)
        self._outcomes.append(Outcome(target.name, result, partial))
        self._take(target.name, result, page, count)

    def _take(self, name: str, result: SearchResult, page: bool, count: bool) -> None:
        if count:
            self._counts, self._capped = result.counts, result.counted.capped
            if self._capped:
                self._counting = None
            elif result.counted.until is not None:
                self._counting, self._counting_stopped = (name, result.counted.until), True
        if result.partial_reason is not None and self._reason in (None, PartialReason.MATCH_CAP):
            self._reason = result.partial_reason
        if not page:
            return
        if result.files:
            self._pages.append(RepositoryFiles(name, result.files))
        self._files -= len(result.files)
        self._lines -= sum(len(file.lines) for file in result.files)
        self._shrunk |= result.shrunk
        self._files_only |= result.files_only
        self._withheld |= result.truncated and not result.has_more
        if result.next is not None:
            self._next = (name, result.next.path, result.next.line)

    def result(self) -> ManyResult:
        """The answer, after all repositories have been visited."""
        counting, until = "", None
        # Without a deadline the counting has come to the end of everything, or to the cap.
        if self._counting is not None and self._counting_stopped:
            counting, until = self._counting
        counted = Counted(self._counts, until, self._capped)
        last = None
        if self._next is not None:
            name, path, line = self._next
            last = ManyPosition(name, Position(path, line, counted), counting)
        return ManyResult(
            pages=tuple(self._pages),
            counted=counted,
            counting=counting,
            partial_reason=self._reason,
            truncated=last is not None or self._withheld or self._files_only,
            next=last,
            shrunk=self._shrunk,
            files_only=self._files_only,
            outcomes=tuple(self._outcomes),
        )


def _can_match(target: Target, request: EngineRequest) -> bool:
    return target.signature is None or may_match(target.signature, request.pattern.condition)


def _trimmed(result: ManyResult) -> ManyResult:
    """The second step of shrinking: fewer files and lines, no context."""
    files, lines = SMALL_PAGE.files, SMALL_PAGE.lines
    pages: list[RepositoryFiles] = []
    end = result.next
    for page in result.pages:
        kept: list[FileMatch] = []
        for file in page.files:
            some = file.lines[:lines] if len(kept) < files else ()
            if some:
                kept.append(file._replace(lines=tuple(map(_without_context, some))))
                lines -= len(some)
            if len(some) < len(file.lines):
                end = _behind(result, pages, page.name, kept)
                break
        files -= len(kept)
        pages.append(RepositoryFiles(page.name, tuple(kept)))
        if end is not result.next:
            break
    pages = [page for page in pages if page.files]
    return replace(result, pages=tuple(pages), next=end, truncated=True, shrunk=True)


def _behind(
    result: ManyResult, pages: list[RepositoryFiles], name: str, kept: list[FileMatch]
) -> ManyPosition:
    """The position behind the last line that is kept."""
    if not kept:
        name, kept = pages[-1].name, list(pages[-1].files)
    position = Position(kept[-1].path, kept[-1].lines[-1].number, result.counted)
    return ManyPosition(name, position, result.counting)


def _without_context(line: LineMatch) -> LineMatch:
    return line._replace(before=(), after=())


def _without_lines(result: ManyResult) -> ManyResult:
    """The last step of shrinking: the files alone; the next page begins behind the last."""
    pages = tuple(
        RepositoryFiles(page.name, tuple(file._replace(lines=()) for file in page.files))
        for page in result.pages
    )
    end = result.next
    if end is not None and pages and end.name == pages[-1].name:
        end = replace(end, position=Position(pages[-1].files[-1].path, None, result.counted))
    return replace(result, pages=pages, next=end, truncated=True, shrunk=True, files_only=True)
