"""The search page: what it is asked, the search, what it shows (website.md, sections 2 to 5)."""

import shlex
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from repos.page_data import may_register
from search import page_data, pickers
from search.answer import SearchAnswer
from search.examples import example_of
from search.page_query import CONTEXT_CHOICES, LIVE_FROM_CHARACTERS, PageQuery, read_query
from search.presentation import Card, outline, render_cards
from search.requests import SearchCode
from search.states import answer_banners, error_state
from search.usecases.search_code import Prepared, prepare_search, run_search
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.kernel.wire import dumps
from sourcegraph_site.mcp.snippets import clients
from sourcegraph_site.templatetags.site import lines_in_files, number
from sourcegraph_site.web.addresses import origin_of
from sourcegraph_site.web.banners import Text
from sourcegraph_site.web.pages import is_htmx, page
from sourcegraph_site.web.preferences import REPOSITORY_COOKIE, TOGGLES_COOKIE, remember


@require_safe
@page
def search_page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The first visit, a page of results, or for the script the results alone."""
    query = read_query(request.GET)
    live = is_htmx(request)
    posted = bool(request.GET.get("ui"))
    if posted and not live:
        return _remembering(HttpResponseRedirect(query.address), query)
    if not query.pattern:
        return _home(request, actor, query)
    typed = request.headers.get("X-Typed") == "1"
    if live and typed and len(query.pattern) < LIVE_FROM_CHARACTERS:
        return HttpResponse(status=204)
    if not query.repo:
        query = query.first_page(repo=_chosen(request, actor))
    shown = _search(actor, query)
    context = shown.context
    if live and request.headers.get("HX-Target") == "more":
        return render(request, "search/more_hits.html", context, status=shown.status)
    if live:
        response = render(request, "search/results.html", context, status=shown.status)
        _say_address(request, response, query, typed)
        return _remembering(response, query) if posted else response
    context |= _form(actor, query, shown.repo) | {"section": "search"}
    return render(request, "search/page.html", context, status=shown.status)


def _say_address(
    request: HttpRequest, response: HttpResponse, query: PageQuery, typed: bool
) -> None:
    """Typing replaces the address, Enter makes a new entry of the history."""
    current = request.headers.get("HX-Current-URL", "")
    if not current.endswith(query.address):
        response["HX-Replace-Url" if typed else "HX-Push-Url"] = query.address


def _remembering(response: HttpResponse, query: PageQuery) -> HttpResponse:
    """The last choice is where the next visit begins."""
    toggles = ("" if query.ignore_case else "c") + ("" if query.fixed_strings else "r")
    remember(response, TOGGLES_COOKIE, toggles or "-")
    if query.repo:
        remember(response, REPOSITORY_COOKIE, query.repo)
    return response


def _chosen(request: HttpRequest, actor: Actor) -> str:
    return page_data.chosen(actor, request.COOKIES.get(REPOSITORY_COOKIE, ""))


# --- Results -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NextPage:
    href: str
    label: Text


@dataclass(frozen=True, slots=True)
class Copy:
    """One entry of the menu "Copy as"; `key` is the shortcut that does the same."""

    label: Text
    text: str
    icon: str = "copy"
    key: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    context: dict[str, Any]
    status: int = 200
    repo: page_data.Found = None


def _search(actor: Actor, query: PageQuery) -> Shown:
    try:
        prepared = prepare_search(actor, _request(query))
        answer = run_search(prepared)
    except AppError as error:
        banners, working = error_state(actor, query, error)
        repo = page_data.repository(actor, query.repo)
        context = {
            "query": query,
            "banners": banners,
            "working": working,
            "summary": _("No result"),
            "hits": "",
        }
        return Shown(context, error.status, repo)
    return Shown(_answered(query, prepared, answer), 200, prepared.repo)


def _request(query: PageQuery) -> SearchCode:
    return SearchCode(
        repo=query.repo,
        revision=query.wanted,
        pattern=query.pattern,
        fixed_strings=query.fixed_strings,
        ignore_case=query.ignore_case,
        glob=list(query.globs),
        output="files" if query.files_only else "content",
        context=0 if query.files_only else query.context,
        after=query.after,
    )


def _answered(query: PageQuery, prepared: Prepared, answer: SearchAnswer) -> dict[str, Any]:
    commit = prepared.at.commit
    branch = prepared.at.branch or ""
    if query.branch in prepared.repo.monitored_branches:
        branch = query.branch
    cards = _cards(query, answer, commit, branch)
    pinned = query.at(commit, branch)
    result = answer.result
    hits: SafeString | str = render_cards(cards, pinned, all_lines=result.file_count == 1)
    return {
        "query": query,
        "commit": commit,
        "branch": branch,
        "committed": prepared.at.version.committer_time,
        "synced": prepared.repo.observed_at,
        "summary": _summary(answer, query),
        "engine_ms": f"{result.duration / 1e6:.1f}",
        "copies": _copies(pinned),
        "banners": answer_banners(answer, query),
        "groups": outline(cards, pinned),
        "cards_count": len(cards),
        "hits": hits,
        **_paging(query, answer, cards),
    }


def _cards(query: PageQuery, answer: SearchAnswer, commit: str, branch: str) -> list[Card]:
    return [
        Card(
            repo=query.repo,
            commit=commit,
            branch=branch,
            path=file.file_name,
            language=file.language,
            matches=file.line_matches,
            continued=bool(query.after) and file.file_name == query.tail,
        )
        for file in answer.result.files
    ]


def _summary(answer: SearchAnswer, query: PageQuery) -> str:
    result = answer.result
    if not result.file_count:
        return _("No line matches")
    return lines_in_files(result.line_count, result.file_count, answer.meta.partial)


def _paging(query: PageQuery, answer: SearchAnswer, cards: list[Card]) -> dict[str, Any]:
    """How much of the whole is on the page, and the way to the rest."""
    total = answer.result.file_count
    shown = query.seen + sum(not card.continued for card in cards)
    if not answer.meta.next_cursor and not query.after:
        return {}
    known = {"shown": number(shown), "all": number(total)}
    if not answer.meta.next_cursor:
        return {"paged": _("All %(all)s files are shown.") % known}
    rest = replace(
        query,
        after=answer.meta.next_cursor,
        seen=shown,
        tail=cards[-1].path if cards else query.tail,
    )
    left = max(1, total - shown)
    if left > 100 or answer.meta.partial:
        label = _("Show more files")
    else:
        label = ngettext("Show the other file", "Show the other %(count)s files", left) % {
            "count": number(left)
        }
    if shown >= total:  # the page ended inside its last file
        label = _("Show the other lines")
    return {
        "paged": _("The first %(shown)s of %(all)s files are shown.") % known,
        "next_page": NextPage(rest.address, label),
    }


def _copies(pinned: PageQuery) -> list[Copy]:
    """The same search for other tools; all with the full SHA."""
    return [
        Copy(_("Link to this commit"), origin_of(pinned.first_page().address), "link", "y"),
        Copy(_("curl command"), curl_command(pinned)),
    ]


def curl_command(query: PageQuery) -> str:
    """The search as a program asks for it, on two lines."""
    body: dict[str, Any] = {"Revision": query.wanted, "Pattern": query.pattern}
    if query.fixed_strings:
        body["FixedStrings"] = True
    if query.ignore_case:
        body["IgnoreCase"] = True
    if query.globs:
        body["Glob"] = list(query.globs)
    body = {name: value for name, value in body.items() if value}
    where = origin_of(f"{settings.PREFIX}api/search?repo={query.repo}")
    return f"curl -s {shlex.quote(where)} \\\n  -d {shlex.quote(dumps(body).decode().strip())}"


# --- The first visit, and the form -------------------------------------------------------


def _home(request: HttpRequest, actor: Actor, query: PageQuery) -> HttpResponse:
    if not query.repo:
        query = query.first_page(repo=_chosen(request, actor))
    toggles = request.COOKIES.get(TOGGLES_COOKIE, "")
    query = query.first_page(ignore_case="c" not in toggles, fixed_strings="r" not in toggles)
    rows, total = page_data.first_rows(actor)
    repo = page_data.repository(actor, query.repo)
    example = example_of(actor, repo) if repo is not None else None
    context = {
        "section": "search",
        "home": True,
        "rows": rows,
        "rows_total": total,
        "any_working": any(row.job for row in rows),
        "may_register": may_register(actor),
        "example": example,
        "agent": clients()[0],
        **_form(actor, query, repo),
    }
    return render(request, "search/page.html", context)


def _form(actor: Actor, query: PageQuery, repo: page_data.Found) -> dict[str, Any]:
    rows, more = pickers.repositories(actor, query)
    now, branches = pickers.revisions(repo, query)
    return {
        "query": query,
        "repositories": rows,
        "more_repositories": more,
        "revision": now,
        "branches": branches,
        "context_choices": CONTEXT_CHOICES,
        "live_from": LIVE_FROM_CHARACTERS,
    }


@require_safe
@page
def pick_repositories(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The rows of the repository picker for what is typed into its filter."""
    query = read_query(request.GET)
    rows, more = pickers.repositories(actor, query, request.GET.get("name", "").strip())
    context = {"query": query, "repositories": rows, "more_repositories": more}
    return render(request, "search/pick_repos.html", context)
