"""Find in a file: which lines of a text match, and where. RE2, so that no pattern is slow."""

import re
from dataclasses import dataclass

import re2

MAX_PATTERN_BYTES = 8192
MAX_LINES = 10_000

_PIECES = re.compile(r"(<[^>]*>|&[^;]*;)")


@dataclass(frozen=True, slots=True)
class Find:
    """The pattern that a search or the find field carries; case-sensitive RE2 by default."""

    pattern: str = ""
    fixed_strings: bool = False
    ignore_case: bool = False


def find_spans(find: Find, lines: list[str]) -> dict[int, list[tuple[int, int]]] | None:
    """Line number → spans of characters, in order; None when the pattern is not valid."""
    if not find.pattern:
        return {}
    if len(find.pattern.encode("utf-8", "replace")) > MAX_PATTERN_BYTES:
        return None
    options = re2.Options()
    options.case_sensitive = not find.ignore_case
    options.literal = find.fixed_strings
    options.never_nl = True
    options.log_errors = False
    try:
        compiled = re2.compile(find.pattern, options=options)
    except re2.error:
        return None
    found: dict[int, list[tuple[int, int]]] = {}
    for number, line in enumerate(lines, 1):
        spans = [match.span() for match in compiled.finditer(line)]
        spans = [(start, end) for start, end in spans if end > start]
        if spans:
            found[number] = spans
            if len(found) >= MAX_LINES:
                break
    return found


def mark(markup: str, spans: list[tuple[int, int]]) -> str:
    """Put `<mark>` round these characters of a highlighted line.

    A match that runs over several spans of colour is marked piece by piece, so the elements
    stay nested.

    >>> mark('a<span class="s">b&lt;c</span>', [(1, 3)])
    'a<span class="s"><mark>b&lt;</mark>c</span>'
    """
    out: list[str] = []
    at, inside = 0, False
    edges = iter([edge for span in spans for edge in span])
    edge = next(edges, None)
    opened = False  # a <mark> is open in the output

    def text(piece: str) -> None:
        nonlocal opened
        if inside and not opened:
            out.append("<mark>")
            opened = True
        out.append(piece)

    def close() -> None:
        nonlocal opened
        if opened:
            out.append("</mark>")
            opened = False

    for piece in _PIECES.split(markup):
        if piece.startswith("<"):
            close()
            out.append(piece)
            continue
        units = [piece] if piece.startswith("&") else list(piece)
        for unit in units:
            if at == edge:
                close()
                inside = not inside
                edge = next(edges, None)
                if at == edge:  # two matches meet
                    inside = not inside
                    edge = next(edges, None)
            text(unit)
            at += 1
    close()
    return "".join(out)
