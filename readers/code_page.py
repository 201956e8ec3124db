"""The lines of the code page: which are loaded, their markup, and what is said about the file."""

from dataclasses import dataclass
from functools import cached_property

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from readers.finding import Find, find_spans, mark
from readers.highlight import highlighted, is_plain, lexer_of, plain
from readers.trees import Kind
from readers.usecases.open_code import CodeAt
from sourcegraph_site.templatetags.site import number, size
from sourcegraph_site.web.banners import Banner
from sourcegraph_site.web.code import digits_class, tab_class

WHOLE_LINES, WHOLE_BYTES = 2000, 256 << 10
WINDOW = 200
MAX_WINDOW = 20_000
LEAD = 10  # lines shown before the one that was asked for


@dataclass(frozen=True, slots=True)
class Window:
    """Lines `first` to `last` of `total`, both included; empty when last < first."""

    first: int
    last: int
    total: int

    @property
    def whole(self) -> bool:
        return self.first == 1 and self.last == self.total


def choose_window(total: int, byte_size: int, first: int, last: int) -> Window:
    """All of a file of usual size; of a larger one, what was asked for, or its beginning."""
    if total <= WHOLE_LINES and byte_size <= WHOLE_BYTES:
        return Window(1, total, total)
    start = min(max(1, first), max(1, total))
    end = last if last >= start else start + WINDOW - 1
    return Window(start, min(end, start + MAX_WINDOW - 1, total), total)


class CodePage:
    """A text file on the page. `find` marks what a search or the find field looks for."""

    def __init__(self, code: CodeAt, find: Find, first: int = 0, last: int = 0) -> None:
        assert code.text is not None
        self.code = code
        self.find = find
        self.source = code.text.data.decode("utf-8", "replace")
        self.lossy = "\ufffd" in self.source and not _is_utf8(code.text.data)
        self.lexer = lexer_of(code.path, self.source)
        self.plain = self.lexer is None or is_plain(self.source, len(code.text.data))
        self.window = choose_window(len(self.raw), len(code.text.data), first, last)

    @cached_property
    def raw(self) -> list[str]:
        lines = self.source.split("\n")
        if lines and not lines[-1]:
            lines.pop()
        return lines

    @cached_property
    def marked(self) -> list[str]:
        """Markup of every line, without matches."""
        if self.lexer is None or self.plain:
            return plain(self.source)
        return highlighted(self.code.oid, self.lexer, self.source)

    @cached_property
    def spans(self) -> dict[int, list[tuple[int, int]]] | None:
        return find_spans(self.find, [line.removesuffix("\r") for line in self.raw])

    @property
    def language(self) -> str:
        return self.lexer.name if self.lexer else ""

    @property
    def classes(self) -> str:
        return f"code{tab_class(self.language)}{digits_class(len(self.raw))}"

    @property
    def facts(self) -> str:
        lines = ngettext("%(count)s line", "%(count)s lines", len(self.raw)) % {
            "count": number(len(self.raw))
        }
        known = [self.language, lines, size(self.code.size)]
        return " · ".join(part for part in known if part)

    @property
    def found(self) -> str:
        """How many lines match, or that none does."""
        if not self.find.pattern:
            return ""
        if self.spans is None:
            return _("not a valid pattern")
        if not self.spans:
            return _("no match")
        return ngettext("%(count)s line", "%(count)s lines", len(self.spans)) % {
            "count": number(len(self.spans))
        }

    def lines(self) -> SafeString:
        """The rows of the window. Only numbers are links; they are never copied."""
        label = _("Line %(number)s")
        spans = self.spans or {}
        rows = []
        for at in range(self.window.first, self.window.last + 1):
            text = self.marked[at - 1] if at <= len(self.marked) else ""
            hot = ""
            if at in spans:
                text, hot = mark(text, spans[at]), " hot"
            rows.append(
                f'<div class="line{hot}" id="L{at}"><a class="lineno" href="#L{at}" data-n="{at}"'
                f' aria-label="{label % {"number": at}}"></a><code>{text}</code></div>'
            )
        return mark_safe("".join(rows))

    def elsewhere(self) -> tuple[int | None, int | None]:
        """Of the lines that match outside the window: the nearest above, the nearest below."""
        above = [at for at in self.spans or () if at < self.window.first]
        below = [at for at in self.spans or () if at > self.window.last]
        return max(above, default=None), min(below, default=None)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def banners_of(code: CodeAt, page: CodePage | None) -> list[Banner]:
    """What is special about the file, said before its lines."""
    found = []
    if code.via:
        found.append(
            Banner(
                fact=_("You followed a link."),
                meaning=_("%(via)s points to %(path)s, shown here.")
                % {"via": code.via, "path": code.path or "/"},
                icon="alias",
            )
        )
    if code.follow_error:
        found.append(
            Banner(
                fact=_("This link leads nowhere."),
                meaning=_("Its own text is shown."),
                tone="warn",
                code=code.follow_error,
            )
        )
    if code.kind is Kind.SUBMODULE:
        found.append(
            Banner(
                fact=_("Submodule."),
                meaning=_("Its content is another repository, at %(sha)s.") % {"sha": code.oid[:8]},
            )
        )
    if code.problem == "BINARY_FILE":
        found.append(
            Banner(
                fact=_("Binary file, %(size)s.") % {"size": size(code.size)},
                meaning=_("It is not shown as text and was not searched."),
            )
        )
    elif code.problem:
        found.append(
            Banner(
                fact=_("This encoding is not supported."),
                meaning=_("The file is not shown as text and was not searched."),
                code=code.problem,
            )
        )
    if page is not None:
        found += _text_banners(code, page)
    return found


def _text_banners(code: CodeAt, page: CodePage) -> list[Banner]:
    found = []
    if code.lfs:
        found.append(
            Banner(
                fact=_("Git LFS pointer."),
                meaning=_("The content lives outside Git; only the pointer is shown."),
            )
        )
    if not page.raw:
        found.append(Banner(fact=_("Empty file.")))
    if page.lossy:
        found.append(
            Banner(
                fact=_("Not UTF-8."),
                meaning=_("Bytes that are not text are shown as �."),
            )
        )
    if code.text is not None and not code.text.complete:
        found.append(
            Banner(fact=_("This file is very large."), meaning=_("Its first 8 MiB are shown."))
        )
    return found
