"""Pages of repositories: the list, one repository with its tabs, registration."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from repos import work
from repos.access import can_manage, can_prepare, get_visible, visible_to
from repos.errors import RegistrationDisabled, RepositoryExists
from repos.forms import RegisterForm
from repos.models import IndexHistory, Repository, Version
from repos.presentation import (
    JOB_BADGES,
    Badge,
    Row,
    job_view,
    rows_of,
)
from repos.revisions import storage_missing
from repos.subjects import subjects_of
from repos.usecases.cancel_job import CancelJob, cancel_job
from repos.usecases.prepare import Prepare, prepare
from repos.usecases.register_repository import register_repository
from sourcegraph_site.accounts.policy import access, repository_defaults
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.web.addresses import address, code_address, repo_address, search_address
from sourcegraph_site.web.banners import Banner, Text, banner_of, fact_of
from sourcegraph_site.web.pages import page, signed_in

PER_PAGE = 100
VERSIONS_PER_PAGE = 50
OVERVIEW_VERSIONS, OVERVIEW_JOBS = 7, 4
POLL_WORKING, POLL_IDLE = 2, 15  # seconds
TABS = ("", "versions", "jobs")


# --- The list ----------------------------------------------------------------------------


@require_safe
@page
def repositories(request: HttpRequest, actor: Actor) -> HttpResponse:
    """All that the caller sees; the working ones first is not the order: names do not move."""
    if request.GET.get("new"):
        return redirect("repo_new")
    text = request.GET.get("q", "").strip()
    seen = visible_to(actor).filter(deleted_at=None).order_by("name")
    found = seen.filter(name__icontains=text) if text else seen
    pages = Paginator(found, PER_PAGE)
    shown = pages.get_page(request.GET.get("page"))
    here = list(shown.object_list)
    rows = rows_of(here, manageable=actor.unrestricted)
    context = {
        "section": "repos",
        "rows": rows,
        "page": shown,
        "text": text,
        "page_query": urlencode({"q": text}),
        "total": seen.count(),
        "may_register": may_register(actor),
        "poll_seconds": POLL_WORKING if any(row.job for row in rows) else POLL_IDLE,
        **_totals(rows),
    }
    return render(request, "repos/list.html", context)


def _totals(rows: list[Row]) -> dict[str, int]:
    tones = [row.state.tone for row in rows]
    return {
        "ready": tones.count("good"),
        "working": sum(row.job is not None for row in rows),
        "failing": tones.count("bad"),
    }


def may_register(actor: Actor) -> bool:
    return actor.unrestricted or (actor.signed_in and access().allow_user_repositories)


@require_safe
@page
def by_name(request: HttpRequest, actor: Actor, name: str) -> HttpResponse:
    """The other spelling of a repository's address."""
    return HttpResponseRedirect(repo_address(get_visible(actor, name).name))


# --- One repository ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VersionRow:
    version: Version
    subject: str
    branch: str
    search_href: str
    browse_href: str


@dataclass(frozen=True, slots=True)
class JobRow:
    job: Job
    badge: Badge
    what: Text
    took: float | None
    why: Text
    live: bool


@require_safe
@page
def repository(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Is it current, which commits can be searched, what failed?"""
    repo = get_visible(actor, request.GET.get("repo", ""))
    tab = request.GET.get("tab", "")
    tab = tab if tab in TABS else ""
    manageable = can_manage(actor, repo)
    row = rows_of([repo], manageable)[0]
    context: dict[str, Any] = {
        "section": "repos",
        "repo": repo,
        "row": row,
        "tab": tab,
        "manageable": manageable,
        "preparable": can_prepare(actor, repo),
        "tabs": [
            (_("Overview"), repo_address(repo.name), tab == ""),
            (_("Versions"), repo_address(repo.name, "versions"), tab == "versions"),
            (_("Jobs"), repo_address(repo.name, "jobs"), tab == "jobs"),
        ],
        "search_href": search_address(repo.name),
        "browse_href": code_address(repo.name, "", row.commit, row.branch) if row.commit else "",
        "here": request.get_full_path(),
        "poll_seconds": POLL_WORKING if row.job else POLL_IDLE,
        "banners": _banners(repo, row),
    }
    fill = {"": _overview, "versions": _versions, "jobs": _jobs}[tab]
    context |= fill(request, repo, row)
    return render(request, f"repos/{tab or 'overview'}.html", context)


def _banners(repo: Repository, row: Row) -> list[Banner]:
    found = [row.banner] if row.banner is not None else []
    if storage_missing(repo):
        found.append(
            Banner(
                fact=fact_of("REPOSITORY_STORAGE_MISSING"),
                meaning=_("The next check for updates fetches it again."),
                tone="warn",
                code="REPOSITORY_STORAGE_MISSING",
            )
        )
    if repo.history_truncated:
        found.append(
            Banner(
                fact=_("The history is cut."),
                meaning=_("More commits fall into the window than are kept; the newest are."),
                tone="warn",
            )
        )
    return found


def _overview(request: HttpRequest, repo: Repository, row: Row) -> dict[str, Any]:
    versions = list(repo.versions.all()[:OVERVIEW_VERSIONS])
    jobs = work.jobs_of(repo.pk).order_by("-pk")[:OVERVIEW_JOBS]
    minutes = repo.git_timeout_minutes or repository_defaults().git_timeout_minutes
    return {
        "versions": _version_rows(repo, versions),
        "jobs": [_job_row(job) for job in jobs],
        "chart": _chart(repo),
        "git_minutes": minutes,
        "history": repo.index_history or IndexHistory.ALL,
        "managers": [user.get_username() for user in repo.managers.order_by("username")],
    }


def _versions(request: HttpRequest, repo: Repository, row: Row) -> dict[str, Any]:
    found = repo.versions.all()
    state = request.GET.get("state", "")
    if state in ("ready", "waiting"):
        found = found.filter(indexed=state == "ready")
    shown = Paginator(found, VERSIONS_PER_PAGE).get_page(request.GET.get("page"))
    return {
        "page": shown,
        "state": state,
        "versions": _version_rows(repo, list(shown.object_list)),
        "base": repo_address(repo.name, "versions"),
        "page_query": urlencode({"repo": repo.name, "tab": "versions", "state": state}),
    }


def _version_rows(repo: Repository, versions: list[Version]) -> list[VersionRow]:
    """With their subjects, and the branch of those that are a head."""
    try:
        subjects = subjects_of(repo, [version.commit for version in versions])
    except AppError:
        subjects = {}  # the mirror is away; the page says so in a banner
    heads = dict(repo.heads.values_list("commit", "branch"))
    return [
        VersionRow(
            version,
            subjects.get(version.commit, ""),
            heads.get(version.commit, ""),
            search_address(repo.name, version.commit),
            code_address(repo.name, "", version.commit),
        )
        for version in versions
    ]


@dataclass(frozen=True, slots=True)
class Bar:
    """One day of the chart, in the units of its view box."""

    x: int
    y: float
    height: float
    title: str
    todo: bool


CHART_DAYS, CHART_HEIGHT = 74, 60.0


def _chart(repo: Repository) -> dict[str, Any]:
    """Retained commits per day, the newest day at the end."""
    rows = list(repo.versions.values_list("committer_time", "indexed"))
    if not rows:
        return {}
    last = max(moment for moment, _indexed in rows).date()
    first = last - timedelta(days=CHART_DAYS - 1)
    days: dict[int, list[bool]] = {}
    for moment, indexed in rows:
        if moment.date() >= first:
            days.setdefault((moment.date() - first).days, []).append(indexed)
    most = max(len(day) for day in days.values())
    bars = []
    for at, day in sorted(days.items()):
        height = max(2.0, (CHART_HEIGHT - 5) * len(day) / most)
        title = f"{(first + timedelta(days=at)).isoformat()}: {len(day)}"
        y = round(CHART_HEIGHT - height, 1)
        bars.append(Bar(at * 10 + 1, y, round(height, 1), title, not all(day)))
    return {
        "bars": bars,
        "width": CHART_DAYS * 10,
        "first": first,
        "last": last,
        "total": len(rows),
    }


def _jobs(request: HttpRequest, repo: Repository, row: Row) -> dict[str, Any]:
    found = work.jobs_of(repo.pk).order_by("-pk")
    shown = Paginator(found, VERSIONS_PER_PAGE).get_page(request.GET.get("page"))
    live = [job for job in shown.object_list if not job.over]
    return {
        "page": shown,
        "jobs": [_job_row(job) for job in shown.object_list],
        "live_jobs": [
            (job, job_view(job, row.branch, first=repo.observed_at is None)) for job in live
        ],
        "poll_seconds": POLL_WORKING if live else POLL_IDLE,
        "page_query": urlencode({"repo": repo.name, "tab": "jobs"}),
    }


def _job_row(job: Job) -> JobRow:
    took = None
    if job.started_at is not None and job.finished_at is not None:
        took = (job.finished_at - job.started_at).total_seconds()
    return JobRow(
        job=job,
        badge=JOB_BADGES[Job.State(job.state)],
        what=_what(job),
        took=took,
        why=fact_of(job.error) if job.error else "",
        live=not job.over,
    )


def _what(job: Job) -> str:
    if job.kind == work.SYNC:
        return _("Check for updates")
    sha = {"sha": job.commit[:8]}
    if job.kind == work.INDEX:
        return _("Index %(sha)s") % sha
    return _("Fetch %(sha)s") % sha


# --- Acts --------------------------------------------------------------------------------


@require_POST
@page
def check_for_updates(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Ask for a sync now."""
    return _prepared(request, actor, "sync", "")


@require_POST
@page
def index_commit(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Ask for the index of one commit now; then on to searching it."""
    return _prepared(request, actor, "index", request.GET.get("commit", ""))


def _prepared(request: HttpRequest, actor: Actor, kind: str, commit: str) -> HttpResponse:
    name = request.GET.get("repo", "")
    key = secrets.token_hex(16)  # a form is sent once; its key only has to be new
    params = Prepare(repo=name, kind=kind, commit=commit)
    try:
        prepare(actor, params, idempotency_key=key)
    except AppError as error:
        if error.code != "RATE_LIMITED":
            raise
        there = address("repo", [("repo", name), ("tab", "jobs")])
        banner = banner_of(error)
        context = {"section": "repos", "banner": banner, "back": there, "name": name}
        response = render(request, "repos/too_soon.html", context, status=error.status)
        response["Retry-After"] = str(error.retry_after or 30)
        return response
    return redirect(repo_address(name, "jobs"))


@require_POST
@page
def cancel(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Cancel one job."""
    name = request.GET.get("repo", "")
    cancel_job(actor, CancelJob(repo=name, job_id=request.POST.get("job_id", "")))
    return redirect(repo_address(name, "jobs"))


@require_http_methods(["GET", "HEAD", "POST"])
@page
def register(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The form for a new repository, and what it sends."""
    signed_in(actor)
    if not may_register(actor):
        raise RegistrationDisabled("Only administrators may register repositories here.")
    sent = request.method == "POST"
    form = RegisterForm(request.POST if sent else None, administrator=actor.unrestricted)
    owner = None
    if sent and form.is_valid():
        try:
            made = register_repository(actor, form.to_input())
            return redirect(repo_address(made.name))
        except AppError as error:
            form.refuse(error)
            if isinstance(error, RepositoryExists):
                owner = error.details.get("creator")
    context = {"section": "repos", "form": form, "owner": owner}
    status = 400 if form.errors else 200
    return render(request, "repos/register.html", context, status=status)
