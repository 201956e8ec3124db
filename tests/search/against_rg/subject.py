"""The product's side of the comparison: the compiled pattern alone, and the engine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from search.engine.budget import MAX_LINE_SPANS
from search.engine.request import EngineRequest
from search.globs import compile_globs
from search.index.generation import Generation
from search.index.text import normalise
from search.pattern import compile_pattern
from sourcegraph_site.kernel.errors import AppError
from tests.search.against_rg.query import Hits, Query, Refused
from tests.search.engine.world import World, all_rows, ask


class Subject(Protocol):
    """`line_spans`: how many matches of one line an answer shows; None is all."""

    line_spans: int | None

    def search(self, query: Query) -> Hits | Refused: ...


class LinearScan:
    """Pattern and globs alone, without an index."""

    line_spans = None

    def __init__(self, files: dict[str, bytes]) -> None:
        self._paths = [path.encode() for path in sorted(files)]
        texts = ((path, normalise(files[path])) for path in sorted(files))
        self._texts = {path: text[0] for path, text in texts if isinstance(text, tuple)}

    def search(self, query: Query) -> Hits | Refused:
        try:
            compiled = compile_pattern(
                query.pattern,
                fixed_strings=query.fixed_strings,
                ignore_case=query.ignore_case,
            )
            chosen = compile_globs(query.globs, ()).select(self._paths)
        except AppError as exc:
            return Refused(exc.message)
        hits: Hits = {}
        for path, wanted in zip(self._paths, chosen.tolist(), strict=True):
            text = self._texts.get(path.decode()) if wanted else None
            if not text:
                continue
            spans = compiled.spans(text)
            found: dict[int, list[tuple[int, int]]] = {}
            for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True):
                line_start = text.rfind(b"\n", 0, start) + 1
                found.setdefault(line_start, []).append((start - line_start, end - line_start))
            for line_start, in_line in found.items():
                line = text[line_start:].split(b"\n", 1)[0]
                number = text.count(b"\n", 0, line_start) + 1
                hits.setdefault(path.decode(), []).append((number, line, tuple(in_line)))
        return hits


class IndexedSearch:
    """The whole engine over an index that was built from a commit of these files."""

    line_spans = MAX_LINE_SPANS

    def __init__(self, root: Path, files: dict[str, bytes]) -> None:
        world = World.at(root)
        self.generation = world.generation(world.commit(files))

    def search(self, query: Query) -> Hits | Refused:
        try:
            return hits_of(self.generation, query)
        except AppError as exc:
            return Refused(exc.message)


def hits_of(generation: Generation, query: Query, paths: Sequence[str] = ()) -> Hits:
    """All pages of the engine's answer. Raises PatternInvalid, GlobInvalid."""
    hits: Hits = {}
    for path, number, line, fragments in all_rows(generation, request_of(query, paths=paths)):
        spans = tuple((offset, offset + length) for offset, length in fragments)
        hits.setdefault(path.decode(), []).append((number, line, spans))
    return hits


def request_of(query: Query, **fields: Any) -> EngineRequest:
    """Raises PatternInvalid, GlobInvalid."""
    return ask(
        query.pattern,
        fixed=query.fixed_strings,
        ignore_case=query.ignore_case,
        globs=query.globs,
        **fields,
    )
