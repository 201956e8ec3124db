"""The product's side of the comparison: a scan of every file with the compiled pattern.

The engine can take its place: anything with `search(query) -> Hits | Refused` can.
"""

from typing import Protocol

from search.globs import compile_globs
from search.index.text import normalise
from search.pattern import compile_pattern
from sourcegraph_site.kernel.errors import AppError
from tests.search.against_rg.query import Hits, Query, Refused


class Subject(Protocol):
    def search(self, query: Query) -> Hits | Refused: ...


class LinearScan:
    """Pattern and globs alone, without an index."""

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
