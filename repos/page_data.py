"""What the pages of repositories are filled with. Reads only; rights come from `access`."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from repos import work
from repos.access import can_manage, can_prepare, get_managed, get_visible, visible_to
from repos.models import IndexHistory, Repository, Version
from repos.presentation import JOB_BADGES, Badge, Row, job_view, rows_of
from repos.revisions import storage_missing
from repos.sources.tokens import ailing
from repos.subjects import subjects_of
from sourcegraph_site.accounts.policy import access, repository_defaults
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.web.addresses import code_address, repo_address, search_address
from sourcegraph_site.web.banners import Action, Banner, Text, fact_of

PER_PAGE = 100
VERSIONS_PER_PAGE = 50
OVERVIEW_VERSIONS, OVERVIEW_JOBS = 7, 4


def listed(actor: Actor, text: str, number: str | None) -> dict[str, Any]:
    """One page of the repositories that the caller sees, narrowed by a part of the name."""
    seen = visible_to(actor).filter(deleted_at=None).order_by("name")
    found = seen.filter(name__icontains=text) if text else seen
    shown = Paginator(found, PER_PAGE).get_page(number)
    rows = rows_of(list(shown.object_list), manageable=actor.unrestricted)
    return {"rows": rows, "page": shown, "total": seen.count(), **_totals(rows)}


def in_service(actor: Actor) -> QuerySet[Repository]:
    """The repositories that the caller can search, by name."""
    return visible_to(actor).filter(enabled=True, deleted_at=None).order_by("name")


def _totals(rows: list[Row]) -> dict[str, int]:
    tones = [row.state.tone for row in rows]
    return {
        "ready": tones.count("good"),
        "working": sum(row.job is not None for row in rows),
        "failing": tones.count("bad"),
    }


def may_register(actor: Actor) -> bool:
    return actor.unrestricted or (actor.signed_in and access().allow_user_repositories)


def token_banners(actor: Actor) -> list[Banner]:
    """What the caller should know of tokens: one's own, and for administrators the site's."""
    site = actor.kind is ActorKind.SESSION and actor.site_admin
    found = []
    for row in ailing(actor.user_id, site=site):
        words = _OWN_TOKEN if row.owner_id else _SITE_TOKEN
        refused, ended, soon = (text % {"source": row.source} for text in words)
        over = row.expires_at is not None and row.expires_at <= clock.now()
        ending = row.expires_at is not None and not row.refused_at
        where = reverse("code_tokens" if row.owner_id else "code_sources")
        found.append(
            Banner(
                fact=ended if over else soon if ending else refused,
                meaning=_("Repositories that need it are not updated without it."),
                tone="bad" if over or row.refused_at else "warn",
                actions=(Action(_("Change token"), where),),
            )
        )
    return found


# Refused, ended, ends soon.
_OWN_TOKEN = (
    gettext_lazy("The code host refused your token for %(source)s."),
    gettext_lazy("Your token for %(source)s has expired."),
    gettext_lazy("Your token for %(source)s expires within a week."),
)
_SITE_TOKEN = (
    gettext_lazy("The code host refused the site's token for %(source)s."),
    gettext_lazy("The site's token for %(source)s has expired."),
    gettext_lazy("The site's token for %(source)s expires within a week."),
)


def name_of(actor: Actor, name: str) -> str:
    """The name, if the caller sees such a repository. Raises as `get_visible`."""
    return get_visible(actor, name).name


@dataclass(frozen=True, slots=True)
class Shown:
    """One repository, and what the caller may do with it."""

    repo: Repository
    row: Row
    manageable: bool
    preparable: bool
    banners: list[Banner]


def open_repository(actor: Actor, name: str) -> Shown:
    """Raises InvalidRepo, RepositoryNotFound."""
    repo = get_visible(actor, name)
    manageable = can_manage(actor, repo)
    row = rows_of([repo], manageable)[0]
    return Shown(repo, row, manageable, can_prepare(actor, repo), _banners(repo, row))


def open_managed(actor: Actor, name: str) -> Shown:
    """For a change. Raises as `get_managed`."""
    return open_repository(actor, get_managed(actor, name).name)


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


def overview(shown: Shown, values: QueryDict) -> dict[str, Any]:
    repo = shown.repo
    newest = list(repo.versions.all()[:OVERVIEW_VERSIONS])
    recent = work.jobs_of(repo.pk).order_by("-pk")[:OVERVIEW_JOBS]
    minutes = repo.git_timeout_minutes or repository_defaults().git_timeout_minutes
    return {
        "versions": _version_rows(repo, newest),
        "jobs": [_job_row(job) for job in recent],
        "chart": _chart(repo),
        "git_minutes": minutes,
        "history": repo.index_history or IndexHistory.ALL,
        "managers": [user.get_username() for user in repo.managers.order_by("username")],
    }


def versions(shown: Shown, values: QueryDict) -> dict[str, Any]:
    repo = shown.repo
    found = repo.versions.all()
    state = values.get("state", "")
    if state in ("ready", "waiting"):
        found = found.filter(indexed=state == "ready")
    here = Paginator(found, VERSIONS_PER_PAGE).get_page(values.get("page"))
    return {
        "page": here,
        "state": state,
        "versions": _version_rows(repo, list(here.object_list)),
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


def jobs(shown: Shown, values: QueryDict) -> dict[str, Any]:
    repo = shown.repo
    found = work.jobs_of(repo.pk).order_by("-pk")
    here = Paginator(found, VERSIONS_PER_PAGE).get_page(values.get("page"))
    live = [job for job in here.object_list if not job.over]
    return {
        "page": here,
        "jobs": [_job_row(job) for job in here.object_list],
        "live_jobs": [
            (job, job_view(job, shown.row.branch, first=repo.observed_at is None)) for job in live
        ],
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
