"""The code reader: one path at one commit (website.md, sections 2 and 5; decision 44)."""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from readers.code_page import LEAD, WINDOW, CodePage, banners_of
from readers.errors import FileNotFound
from readers.finding import Find
from readers.page_data import About, about_repository
from readers.trees import Kind
from readers.usecases.open_code import (
    CodeAt,
    OpenCode,
    OpenDirectory,
    PathExists,
    at_default_head,
    open_code,
    open_directory,
)
from repos.errors import InvalidRepo, RevisionNotEligible
from repos.naming import is_object_id
from repos.sources.web import page_of_file
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import AppError, BadRequest, Missing
from sourcegraph_site.web.addresses import (
    Parameter,
    code_address,
    line_fragment,
    origin_of,
    repo_address,
    search_address,
)
from sourcegraph_site.web.banners import Action, Banner, banner_of
from sourcegraph_site.web.pages import is_htmx, page
from sourcegraph_site.web.preferences import theme_of

_RANGE = re.compile(r"\s*L?(\d{1,9})\s*(?:-\s*L?(\d{1,9})\s*)?", re.ASCII)
_FIND = ("pattern", "fixed_strings", "ignore_case", "find")


@require_safe
@page
def code(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The page of a file or directory; any other spelling leads to the canonical address."""
    values = request.GET
    repo, path = values.get("repo", ""), values.get("path", "").strip("/")
    commit, revision = values.get("commit", ""), values.get("revision", "")
    if not is_object_id(commit):
        commit, revision = "", commit or revision or values.get("branch", "")
    branch = values.get("branch", "")
    try:
        about = about_repository(actor, repo)
        shown = open_code(actor, OpenCode(repo=repo, revision=commit or revision, path=path))
    except RevisionNotEligible as error:
        return _expired(request, actor, repo, path, commit, error)
    except FileNotFound as error:
        return _trouble(request, repo, path, commit or revision, error)
    extra = [(name, values[name]) for name in _FIND if values.get(name)]
    if not commit or values.get("revision"):
        here = code_address(repo, path, shown.commit, shown.branch, extra=extra)
        return HttpResponseRedirect(here)
    if "line" in values:
        jump = _jump(request, repo, path, commit, branch, extra)
        if jump is not None:
            return jump
    if branch not in about.branches:
        branch = ""
    return _pinned(request, about, shown, branch)


def _jump(
    request: HttpRequest, repo: str, path: str, commit: str, branch: str, extra: list[Parameter]
) -> HttpResponse | None:
    """Where the go-to-line field leads; None when it holds no line."""
    found = _RANGE.fullmatch(request.GET["line"])
    if found is None:
        return None
    first = max(1, int(found[1]))
    last = max(1, int(found[2] or first))
    first, last = min(first, last), max(first, last)
    start = [("from", str(max(1, first - LEAD)))]
    here = code_address(
        repo, path, commit, branch, extra=[*extra, *start], fragment=line_fragment(first, last)
    )
    return HttpResponseRedirect(here)


def _pinned(request: HttpRequest, about: About, shown: CodeAt, branch: str) -> HttpResponse:
    """The page at a full SHA: it never changes, so a browser that has it may keep it."""
    tag = _etag(request, shown)
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponse(status=304)
    else:
        response = render(*_page(request, about, shown, branch))
    response["ETag"] = tag
    response["Cache-Control"] = "private, no-cache"
    return response


def _etag(request: HttpRequest, shown: CodeAt) -> str:
    """Changes with all that the page shows: the object, the address, the viewer, the looks."""
    user = getattr(request, "user", None)
    get_token(request)
    parts = (
        request.get_full_path(),
        shown.oid,
        str(is_htmx(request)),
        str(user.pk if user is not None and user.is_authenticated else ""),
        theme_of(request),
        get_language() or "",
        request.META.get("CSRF_COOKIE", ""),  # the secret behind the token of the page's forms
        static("css/site.css"),
        static("js/site.js"),
    )
    return f'"{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:32]}"'


def _page(
    request: HttpRequest, about: About, shown: CodeAt, branch: str
) -> tuple[HttpRequest, str, dict[str, Any]]:
    values = request.GET
    find = _find(values.dict())
    text = None
    if shown.text is not None:
        text = CodePage(shown, find, _line(values.get("from")), _line(values.get("to")))
    here = _Links(about, shown, branch, find)
    context = {
        "section": "search",
        "repo": about.name,
        "code": shown,
        "branch": branch,
        "directory": shown.kind is Kind.DIRECTORY,
        "find": find,
        "text": text,
        "banners": [*_line_banners(request, here), *banners_of(shown, text)],
        **here.context(text),
    }
    if is_htmx(request) and text is not None:
        return request, "readers/lines.html", {**context, "part": values.get("part", "")}
    return request, "readers/code.html", context


def _find(values: dict[str, str]) -> Find:
    """The find field's own text is literal, any case; a search's pattern keeps its flags."""
    if values.get("find"):
        return Find(values["find"], fixed_strings=True, ignore_case=True)
    return Find(
        values.get("pattern", ""),
        values.get("fixed_strings") == "1",
        values.get("ignore_case") == "1",
    )


def _line(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0


class _Links:
    """Where the page leads, all at this commit."""

    def __init__(self, about: About, shown: CodeAt, branch: str, find: Find) -> None:
        self.about = about
        self.shown = shown
        self.branch = branch
        self.extra: list[Parameter] = [
            ("pattern", find.pattern),
            ("fixed_strings", "1" if find.fixed_strings else ""),
            ("ignore_case", "1" if find.ignore_case else ""),
        ]

    def at(self, path: str, extra: Iterable[Parameter] = (), fragment: str = "") -> str:
        return code_address(
            self.about.name,
            path,
            self.shown.commit,
            self.branch,
            extra=extra,
            fragment=fragment,
        )

    def lines(self, first: int, last: int, fragment: str = "") -> str:
        window = [("from", str(first)), ("to", str(last))]
        return self.at(self.shown.path, [*self.extra, *window], fragment)

    def context(self, text: CodePage | None) -> dict[str, Any]:
        name, shown = self.about.name, self.shown
        crumbs, so_far = [], ""
        for part in shown.path.split("/") if shown.path else []:
            so_far = f"{so_far}/{part}" if so_far else part
            crumbs.append((part, self.at(so_far)))
        found = {
            "crumbs": crumbs,
            "root_href": self.at(""),
            "repo_href": repo_address(name),
            "search_href": search_address(name, shown.commit, self.branch, self._only()),
            "permalink": origin_of(code_address(name, shown.path, shown.commit)),
            "cite": f"{name}@{shown.commit[:8]}:{shown.path}",
            "head_href": code_address(name, shown.path, extra=[("revision", self.branch)])
            if self.branch
            else "",
            "host_href": self._code_host(),
        }
        return {**found, **(self._windows(text) if text is not None else {})}

    def _only(self) -> list[Parameter]:
        """The glob that matches this path alone, as the search page spells it."""
        if not self.shown.path:
            return []
        special = "\\*?[]{}!,"
        path = "".join(f"\\{c}" if c in special else c for c in self.shown.path)
        return [("glob", f"/{path}/**" if self.shown.kind is Kind.DIRECTORY else f"/{path}")]

    def _code_host(self) -> str:
        return page_of_file(
            self.about.host_kind,
            self.about.host_base,
            self.shown.commit,
            self.shown.path,
            directory=self.shown.kind is Kind.DIRECTORY,
        )

    def _windows(self, text: CodePage) -> dict[str, Any]:
        first, last, total = text.window.first, text.window.last, text.window.total
        above, below = text.elsewhere()
        found: dict[str, Any] = {}
        if first > 1:
            start = max(1, first - WINDOW)
            found["above_href"] = self.lines(start, first - 1)
            found["above_page"] = self.lines(start, last)
            found["above_count"] = first - start
        if last < total:
            end = min(total, last + WINDOW)
            found["below_href"] = self.lines(last + 1, end)
            found["below_page"] = self.lines(first, end)
            found["below_count"] = end - last
            found["follow_count"] = total - last
        if not text.window.whole and total <= 20_000:
            found["whole_href"] = self.lines(1, total)
        for key, at in (("match_above", above), ("match_below", below)):
            if at is not None:
                found[key] = self.lines(max(1, at - LEAD), at + WINDOW, line_fragment(at))
        return found


def _line_banners(request: HttpRequest, links: _Links) -> list[Banner]:
    """The go-to field held something that is no line."""
    if "line" not in request.GET:
        return []
    return [
        Banner(
            fact=_("This is not a line."),
            meaning=_("Write a line, or a range such as 20-40."),
            tone="bad",
            code="INVALID_LINE_RANGE",
            alert=True,
        )
    ]


def _expired(
    request: HttpRequest, actor: Actor, repo: str, path: str, commit: str, error: AppError
) -> HttpResponse:
    """A pinned commit that left the window: offer the default branch, never go there unasked."""
    if not commit:
        raise error
    try:
        found = at_default_head(actor, PathExists(repo=repo, path=path))
    except AppError:
        found = None
    if found is None:
        return _trouble(request, repo, path, commit, error)
    branch, head = found
    there = code_address(repo, path, head, branch)
    context = {
        "banner": Banner(
            fact=_("This commit is no longer kept."),
            code=error.code,
            actions=(Action(_("Open it there"), there, main=True),),
        ),
        "repo": repo,
        "path": path,
        "old": commit,
        "head": head,
        "branch": branch,
    }
    return render(request, "readers/expired.html", context, status=error.status)


def _trouble(
    request: HttpRequest, repo: str, path: str, revision: str, error: AppError
) -> HttpResponse:
    """The repository is there, the path or the commit is not: say so, and lead on."""
    if not isinstance(error, BadRequest | Missing):
        raise error
    commit = (
        revision if is_object_id(revision) and not isinstance(error, RevisionNotEligible) else ""
    )
    root = code_address(repo, "", commit)
    label = _("Files at this commit") if commit else _("Files at the newest commit")
    banner = banner_of(
        error, Action(label, root), Action(_("Versions"), repo_address(repo, "versions"))
    )
    context = {"banner": banner, "repo": repo, "path": path}
    return render(request, "readers/trouble.html", context, status=error.status)


@require_safe
@page
def directory(request: HttpRequest, actor: Actor) -> HttpResponse:
    """One step of a directory, for the tree; only the script asks for it."""
    values = request.GET
    if not is_object_id(values.get("commit", "")):
        raise InvalidRepo("Give the repository and the full SHA.")
    params = OpenDirectory(
        repo=values.get("repo", ""),
        revision=values["commit"],
        path=values.get("path", ""),
        start=_line(values.get("start")),
    )
    level = open_directory(actor, params)
    context = {
        "level": level,
        "repo": params.repo,
        "commit": params.revision,
        "branch": values.get("branch", ""),
    }
    return render(request, "readers/tree_level.html", context)
