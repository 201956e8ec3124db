"""Small repositories with an index, and a scan of every line to compare the engine with."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from search.engine.budget import MAX_LINE_SPANS
from search.engine.languages import language_of
from search.engine.request import MATCH_CAP, Counts, EngineRequest
from search.engine.results import FileMatch, SearchResult
from search.engine.search import search
from search.globs import compile_globs
from search.index.generation import Generation
from search.index.store import IndexStore
from search.index.text import normalise
from search.pattern import compile_pattern
from sourcegraph_site.kernel.deadline import Deadline
from tests.support.git_remote import GitRemote

Files = dict[str, bytes]
# (path, line number, line, spans)
Row = tuple[bytes, int, bytes, tuple[tuple[int, int], ...]]


@dataclass
class World:
    """One repository; every commit is indexed when it is made, so each adds a segment."""

    remote: GitRemote
    store: IndexStore

    @classmethod
    def at(cls, root: Path) -> "World":
        remote = GitRemote(root / "remote.git")
        return cls(remote, IndexStore(root / "index", remote.path, workers=1))

    def commit(self, files: Files) -> str:
        """A commit of exactly these files."""
        sha = self.remote.commit(dict(files), orphan=True)
        self.store.index_commit(sha)
        return sha

    def generation(self, commit: str) -> Generation:
        return self.store.open_generation(commit)


def generation_of(root: Path, files: Files) -> Generation:
    """The only commit of a new repository."""
    world = World.at(root)
    return world.generation(world.commit(files))


def ask(
    pattern: str,
    *,
    fixed: bool = False,
    ignore_case: bool = False,
    globs: Sequence[str] = (),
    paths: Sequence[str] = (),
    **fields: Any,
) -> EngineRequest:
    """A request; the fields that are not given have the engine's defaults."""
    compiled = compile_pattern(pattern, fixed_strings=fixed, ignore_case=ignore_case)
    return EngineRequest(compiled, compile_globs(globs, paths), **fields)


def run(generation: Generation, request: EngineRequest, seconds: float = 60) -> SearchResult:
    return search(generation, request, Deadline.after(seconds))


def rows(files: Iterable[FileMatch]) -> list[Row]:
    """What a page shows, one row for each line."""
    return [
        (file.path, line.number, line.text, line.fragments) for file in files for line in file.lines
    ]


def all_pages(generation: Generation, request: EngineRequest) -> list[SearchResult]:
    """Every page, first to last."""
    pages = [run(generation, request)]
    while (after := pages[-1].next) is not None:
        pages.append(run(generation, replace(request, after=after)))
        assert len(pages) < 100_000
    return pages


def all_rows(generation: Generation, request: EngineRequest) -> list[Row]:
    return [row for page in all_pages(generation, request) for row in rows(page.files)]


def lines_of(blob: bytes) -> list[bytes]:
    """The lines of a file as they are searched; none if the file is not searched."""
    normal = normalise(blob)
    if not isinstance(normal, tuple):
        return []
    lines = normal[0].split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def scan(files: Files, request: EngineRequest) -> list[Row]:
    """What a search of these files must find: the pattern on each line by itself."""
    found = []
    for path in sorted(path.encode() for path in files):
        if not request.path_filter.matches(path):
            continue
        if request.language is not None and language_of(path) != request.language:
            continue
        for number, line in enumerate(lines_of(files[path.decode()]), 1):
            spans = request.pattern.finditer(line)
            if spans:
                found.append((path, number, line, tuple((a, b - a) for a, b in spans)))
    return found


def shown(found: Sequence[Row]) -> list[Row]:
    """The rows as pages show them: the first 1,000 spans of each line."""
    return [(path, number, line, spans[:MAX_LINE_SPANS]) for path, number, line, spans in found]


def counts_of(found: Sequence[Row]) -> Counts:
    """The counts of a whole result: of all of it, or of its first 10,000 matches."""
    files: set[bytes] = set()
    lines = matches = 0
    for path, _, _, spans in found:
        if matches == MATCH_CAP:
            break
        files.add(path)
        lines += 1
        matches = min(matches + len(spans), MATCH_CAP)
    return Counts(len(files), lines, matches)
