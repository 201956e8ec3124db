"""Colours of code: the text of a blob → one piece of markup per line.

Kept by blob id, which never changes its content: in this process by size, and in the shared
cache for what was dear to make. Only classes that the stylesheet knows become spans; plain
names, spaces and operators need none, which halves the markup.
"""

import json
import logging
import time
import zlib
from html import escape

from django.core.cache import cache
from django.db import DatabaseError
from pygments import __version__ as PYGMENTS
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

from readers.caching import WeightedCache

log = logging.getLogger(__name__)

MAX_BYTES = 512 << 10
MAX_LINE_CHARACTERS = 5000
SHARE_FROM_SECONDS = 0.03
SHARE_FOR_SECONDS = 7 * 24 * 3600
FORMAT = 1  # of the cached value

_COLOURED_TEXT = """
c ch cm c1 cs k kc kd kn kp kr ow nt kt nc nn ne s s1 s2 sa sb sc sd se sh si sx sr ss dl cpf
m mi mf mh mb mo il nf fm nd gh gu gs gi gd nb bp no ni nl cp na nv vi vg vc
"""
_COLOURED = frozenset(_COLOURED_TEXT.split())
_lines: WeightedCache[tuple[str, str], list[str]] = WeightedCache(24 << 20)
_classes: dict[object, str] = {}


def lexer_of(path: str, text: str) -> Lexer | None:
    """The lexer that the file's name asks for; the text decides between several."""
    try:
        return get_lexer_for_filename(path.rpartition("/")[2], text[:2000])
    except ClassNotFound:
        return None


def is_plain(text: str, size: int) -> bool:
    """Too large, or its lines too long, for colours?"""
    return size > MAX_BYTES or any(len(line) > MAX_LINE_CHARACTERS for line in text.split("\n"))


def highlighted(oid: str, lexer: Lexer, text: str) -> list[str]:
    """One piece of markup per line of `text`; lines end at LF alone."""
    key = (oid, lexer.name)
    found = _lines.get(key)
    if found is None:
        found = _shared(key, lexer, text)
        _lines.put(key, found, sum(map(len, found)) + 64 * len(found))
    return found


def _shared(key: tuple[str, str], lexer: Lexer, text: str) -> list[str]:
    name = f"highlight:{FORMAT}:{PYGMENTS}:{key[1].replace(' ', '_')}:{key[0]}"
    try:
        packed = cache.get(name)
    except DatabaseError:
        packed = None
    if packed is not None:
        lines: list[str] = json.loads(zlib.decompress(packed))
        return lines
    begun = time.perf_counter()
    lines = markup(lexer, text)
    if time.perf_counter() - begun >= SHARE_FROM_SECONDS:
        try:
            cache.set(name, zlib.compress(json.dumps(lines).encode(), 1), SHARE_FOR_SECONDS)
        except DatabaseError:
            log.warning("the shared cache did not take a highlighted file")
    return lines


def plain(text: str) -> list[str]:
    return [escape(line) for line in _split(text)]


def markup(lexer: Lexer, text: str) -> list[str]:
    """Colour a whole text. CR before LF is dropped: it ends no line of its own."""
    # Not get_tokens(): it would also take a lone CR for the end of a line.
    text = text.replace("\r\n", "\n")
    lines: list[str] = []
    row: list[str] = []
    pending, pending_class = "", ""
    for _at, token, value in lexer.get_tokens_unprocessed(text):
        css = _classes.get(token)
        if css is None:
            css = _classes[token] = _class_of(token)
        first, *others = value.split("\n")
        if css == pending_class:
            pending += first
        else:
            row.append(_span(pending, pending_class))
            pending, pending_class = first, css
        for part in others:
            row.append(_span(pending, pending_class))
            lines.append("".join(row))
            row, pending = [], part
    row.append(_span(pending, pending_class))
    last = "".join(row)
    if last or not text.endswith("\n"):
        lines.append(last)
    return lines if text else []


def _span(text: str, css: str) -> str:
    if not text:
        return ""
    if not css or text.isspace():
        return escape(text)
    return f'<span class="{css}">{escape(text)}</span>'


def _class_of(token: object) -> str:
    while token is not None:
        css = STANDARD_TYPES.get(token, "")
        if css:
            return css if css in _COLOURED else ""
        token = getattr(token, "parent", None)
    return ""


def _split(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines
