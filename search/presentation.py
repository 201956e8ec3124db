"""Results as markup, fast: a page holds a thousand lines, too many for a template each.

Everything that comes from a repository or from the query passes `escape` here, and nowhere
else is markup of results made. Times: 100 files with 10 lines each cost some milliseconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape  # a tenth of the cost of Django's, which also takes lazy texts
from typing import Protocol
from zlib import crc32

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from search.page_query import PageQuery, glob_of_path
from sourcegraph_site.web.addresses import citation, code_address
from sourcegraph_site.web.code import digits_class, tab_class
from sourcegraph_site.web.icons import icon

LINES_PER_FILE = 5
MAX_LINE_BYTES = 2048
LEAD_BYTES = 200  # kept before the first match of a line that is cut


class Fragment(Protocol):
    @property
    def line_offset(self) -> int: ...
    @property
    def match_length(self) -> int: ...


class Match(Protocol):
    """One matching line; offsets are bytes of `line` in UTF-8."""

    @property
    def line_number(self) -> int: ...
    @property
    def line(self) -> str: ...
    @property
    def before(self) -> Sequence[str]: ...
    @property
    def after(self) -> Sequence[str]: ...
    @property
    def line_fragments(self) -> Sequence[Fragment]: ...


class Hit(Protocol):
    @property
    def file_name(self) -> str: ...
    @property
    def language(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Card:
    """One file of the results, with what its links need."""

    repo: str
    commit: str
    branch: str
    path: str
    language: str
    matches: Sequence[Match] | None
    continued: bool = False
    show_repository: bool = False

    @property
    def anchor(self) -> str:
        return f"f-{crc32(f'{self.repo}:{self.path}'.encode()):08x}"


class Words:
    """Sentences and icons that every card repeats, looked up once a page."""

    def __init__(self) -> None:
        self.copy = str(icon("copy"))
        self.more = str(icon("more"))
        self.copy_path = escape(_("Copy path"))
        self.copy_citation = escape(_("Copy citation"))
        self.more_for_file = escape(_("More for this file"))
        self.only_this_file = escape(_("Search only this file"))
        self.open_file = escape(_("Open file"))
        self.line = escape(_("Line %(number)s"))
        self.cut = escape(_("line cut at 2,048 bytes"))
        self.continued = escape(_("continued"))
        self.file_icon = str(icon("file"))
        self.search_icon = str(icon("search"))


def render_cards(cards: Sequence[Card], query: PageQuery, *, all_lines: bool) -> SafeString:
    """The cards of a page; with `all_lines`, every line of each, else the first few."""
    words = Words()
    return mark_safe("".join(_card(card, query, words, all_lines) for card in cards))


def _card(card: Card, query: PageQuery, words: Words, all_lines: bool) -> str:
    link = escape(
        code_address(card.repo, card.path, card.commit, card.branch, extra=query.reader_parameters)
    )
    name = escape(card.path)
    matches = card.matches
    parts = [
        f'<article class="hit" id="{card.anchor}" tabindex="-1" aria-label="{name}">',
        _header(card, query, words, link),
    ]
    if matches:
        shown = matches if all_lines else matches[:LINES_PER_FILE]
        parts.append(_lines(shown, card, link, words, gaps=query.context > 0))
        hidden = len(matches) - len(shown)
        if hidden:
            parts.append(_footer(hidden, _only(card, query)))
    parts.append("</article>")
    return "".join(parts)


def _only(card: Card, query: PageQuery) -> str:
    """The same query in this file alone."""
    pinned = query.first_page(repo=card.repo, globs=(glob_of_path(card.path),))
    return escape(pinned.at(card.commit, card.branch).address)


def _header(card: Card, query: PageQuery, words: Words, link: str) -> str:
    name = escape(card.path)
    directory, _slash, base = card.path.rpartition("/")
    folder = f'<span class="dir">{escape(directory)}/</span>' if directory else ""
    owner = f'<span class="dir">{escape(card.repo)}</span> ' if card.show_repository else ""
    first = card.matches[0].line_number if card.matches else None
    count = len(card.matches or ())
    lines = f'<span class="count">{_count(count)}</span>' if card.matches is not None else ""
    again = f'<span class="count">{words.continued}</span>' if card.continued else ""
    cited = escape(citation(card.repo, card.path, card.commit, first))
    return (
        f'<header>{owner}<a class="path" href="{link}" translate="no">{folder}'
        f"<b>{escape(base)}</b></a>"
        f'<button class="icon hide-s" type="button" data-copy="{name}" title="{words.copy_path}">'
        f'{words.copy}<span class="sronly">{words.copy_path}</span></button>{again}'
        f'<span class="count push">{escape(card.language)}</span>{lines}'
        f'<details class="menu" name="hit"><summary class="icon" title="{words.more_for_file}">'
        f'{words.more}<span class="sronly">{words.more_for_file}</span></summary>'
        f'<div class="pop end"><button class="item" type="button" data-copy="{cited}">{words.copy}'
        f'{words.copy_citation}</button><a href="{link}">{words.file_icon}{words.open_file}</a>'
        f'<a href="{_only(card, query)}">{words.search_icon}'
        f"{words.only_this_file}</a></div></details></header>"
    )


def _count(count: int) -> str:
    text = ngettext("<b>%(count)s</b> line", "<b>%(count)s</b> lines", count)
    return text % {"count": f"{count:,}"}


def _footer(hidden: int, href: str) -> str:
    text = escape(
        ngettext(
            "Show %(count)s more line in this file",
            "Show %(count)s more lines in this file",
            hidden,
        )
        % {"count": f"{hidden:,}"}
    )
    return (
        f'<footer><a href="{href}" hx-get="{href}" hx-target="closest article"'
        f' hx-select="article.hit" hx-swap="outerHTML" data-expand>{text}</a></footer>'
    )


def _lines(matches: Sequence[Match], card: Card, link: str, words: Words, *, gaps: bool) -> str:
    """Matching lines with their context; neighbours that overlap are shown once."""
    rows: dict[int, str] = {}
    hot = {match.line_number for match in matches}
    for match in matches:
        number = match.line_number
        start = number - len(match.before)
        for at, text in enumerate(match.before, start):
            if at not in hot and at not in rows:
                rows[at] = _context_line(at, text)
        rows[number] = _hot_line(match, link, words)
        for at, text in enumerate(match.after, number + 1):
            if at not in hot and at not in rows:
                rows[at] = _context_line(at, text)
    out, previous = [], 0
    for at in sorted(rows):
        if gaps and previous and at != previous + 1:
            out.append('<div class="gap"></div>')
        out.append(rows[at])
        previous = at
    classes = f"code{tab_class(card.language)}{digits_class(previous)}"
    return f'<div class="{classes}" translate="no">{"".join(out)}</div>'


def _context_line(number: int, text: str) -> str:
    if len(text) > MAX_LINE_BYTES:
        text = text[:MAX_LINE_BYTES] + "…"
    return (
        f'<div class="line"><span class="lineno" data-n="{number}"></span>'
        f"<code>{escape(text)}</code></div>"
    )


def _hot_line(match: Match, link: str, words: Words) -> str:
    number = match.line_number
    label = words.line % {"number": number}
    return (
        f'<div class="line hot"><a class="lineno" href="{link}#L{number}" data-n="{number}"'
        f' aria-label="{label}"></a><code>{marked(match, words)}</code></div>'
    )


def marked(match: Match, words: Words) -> str:
    """The text of a line with its matches marked; a very long line is cut around the first."""
    text = match.line
    if getattr(match, "lossy", None):
        # Bytes that are not text became U+FFFD: offsets no longer fit, so nothing is marked.
        return escape(text[:MAX_LINE_BYTES])
    spans = [(f.line_offset, f.line_offset + f.match_length) for f in match.line_fragments]
    if text.isascii() and len(text) <= MAX_LINE_BYTES:
        return _mark_text(text, spans)
    data = text.encode("utf-8", "replace")
    low = 0
    if len(data) > MAX_LINE_BYTES:
        low = max(0, (spans[0][0] if spans else 0) - LEAD_BYTES)
    high = min(len(data), low + MAX_LINE_BYTES)
    body = _mark_bytes(
        data, [(max(a, low), min(b, high)) for a, b in spans if a < high and b > low], low, high
    )
    if high - low == len(data):
        return body
    before, after = "…" if low else "", "…" if high < len(data) else ""
    return f'{before}{body}{after} <span class="count">{words.cut}</span>'


def _mark_text(text: str, spans: list[tuple[int, int]]) -> str:
    out, done = [], 0
    for start, end in spans:
        out.append(f"{escape(text[done:start])}<mark>{escape(text[start:end])}</mark>")
        done = end
    out.append(escape(text[done:]))
    return "".join(out)


def _mark_bytes(data: bytes, spans: list[tuple[int, int]], low: int, high: int) -> str:
    out, done = [], low
    for start, end in spans:
        out.append(f"{_text(data[done:start])}<mark>{_text(data[start:end])}</mark>")
        done = end
    out.append(_text(data[done:high]))
    return "".join(out)


def _text(data: bytes) -> str:
    """Cutting may split a character; its halves are left out."""
    return escape(data.decode("utf-8", "ignore"))


@dataclass(frozen=True, slots=True)
class OutlineFile:
    anchor: str
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class OutlineGroup:
    """The files of this page below one top-level directory; empty for the top level."""

    directory: str
    count: int
    files: list[OutlineFile]
    open: bool
    only_here: str
    not_here: str


OPEN_FILES = 24


def outline(cards: Sequence[Card], query: PageQuery) -> list[OutlineGroup]:
    """Files of the page by top-level directory, in the order of the results."""
    groups: dict[str, list[OutlineFile]] = {}
    for card in cards:
        top, slash, rest = card.path.partition("/")
        key = top if slash else ""
        files = groups.setdefault(key, [])
        files.append(OutlineFile(card.anchor, rest or top, len(card.matches or ())))
    found, seen = [], 0
    for directory, files in groups.items():
        found.append(
            OutlineGroup(
                directory=directory,
                count=sum(f.count for f in files) or len(files),
                files=files,
                open=seen < OPEN_FILES,
                only_here=_only_here(query, directory) if directory else "",
                not_here=_not_here(query, directory) if directory else "",
            )
        )
        seen += len(files)
    return found


def _only_here(query: PageQuery, directory: str) -> str:
    """Narrow to a directory. Includes add up, so those that exist are narrowed one by one."""
    here = glob_of_path(directory)
    included = [glob for glob in query.globs if not glob.startswith("!")]
    narrowed = []
    for glob in included:
        if "/" not in glob.rstrip("/"):
            narrowed.append(f"{here}/**/{glob}")
        elif glob.lstrip("/").startswith(here[1:] + "/"):
            narrowed.append(glob)
    excluded = [glob for glob in query.globs if glob.startswith("!")]
    return query.first_page(globs=(*(narrowed or [f"{here}/**"]), *excluded)).address


def _not_here(query: PageQuery, directory: str) -> str:
    return query.first_page(globs=(*query.globs, f"!{glob_of_path(directory)}/")).address
