"""Repositories and their jobs as pages show them: words, states, progress. Reads only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from repos import work
from repos.errors import DefaultBranchNotObserved, DefaultBranchUndetermined
from repos.models import BranchHead, Repository, State, Version
from repos.revisions import default_branch
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.templatetags.site import number, seconds, size
from sourcegraph_site.web.addresses import address, repo_address, search_address
from sourcegraph_site.web.banners import Action, Banner, fact_of

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Badge:
    label: Text
    tone: str  # a class of the badge: good, busy, warn, bad, off, plain


READY = Badge(gettext_lazy("Ready"), "good")
DISABLED = Badge(gettext_lazy("Disabled"), "off")
EMPTY = Badge(gettext_lazy("Empty"), "plain")
FAILED = Badge(gettext_lazy("Failed"), "bad")
WAITING = Badge(gettext_lazy("Waiting"), "off")
CLONING = Badge(gettext_lazy("Cloning"), "busy")
CHECKING = Badge(gettext_lazy("Checking"), "busy")
INDEXING = Badge(gettext_lazy("Indexing"), "busy")

JOB_BADGES = {
    Job.State.QUEUED: Badge(gettext_lazy("Waiting"), "off"),
    Job.State.RUNNING: Badge(gettext_lazy("Running"), "busy"),
    Job.State.SUCCEEDED: Badge(gettext_lazy("Done"), "good"),
    Job.State.FAILED: Badge(gettext_lazy("Failed"), "bad"),
    Job.State.CANCELLED: Badge(gettext_lazy("Cancelled"), "plain"),
}


@dataclass(frozen=True, slots=True)
class Step:
    label: Text
    done: bool = False
    current: bool = False


@dataclass(frozen=True, slots=True)
class JobView:
    """A live job: its steps, and how far the present one is; `total` 0 is not known yet."""

    label: str
    detail: str
    steps: list[Step]
    done: int = 0
    total: int = 0

    @property
    def percent(self) -> int | None:
        return min(100, self.done * 100 // self.total) if self.total else None


def job_view(job: Job, branch: str = "", *, first: bool = False, ahead: int = 0) -> JobView:
    """`first`: the repository was never synchronised, so this is its clone."""
    progress = job.progress or {}
    done, total = int(progress.get("done") or 0), int(progress.get("total") or 0)
    queued = job.state == Job.State.QUEUED
    indexing = job.kind == work.INDEX
    phase = str(progress.get("phase") or "")
    steps = _steps(queued, indexing, phase, branch, first, ahead)
    current = next((str(step.label) for step in steps if step.current), "")
    detail = _waiting(job) if queued else _detail(job, phase, done, total, indexing)
    return JobView(current, detail, steps, min(done, total), 0 if queued else total)


def _steps(
    queued: bool, indexing: bool, phase: str, branch: str, first: bool, ahead: int
) -> list[Step]:
    waiting = (
        ngettext("Waiting, %(count)s job ahead", "Waiting, %(count)s jobs ahead", ahead)
        % {"count": ahead}
        if ahead
        else _("Waiting")
    )
    cloning = _("Cloning") if first else _("Checking")
    index_word = _("Indexing head of %(branch)s") % {"branch": branch} if branch else _("Indexing")
    if indexing:
        head = [Step(_("Cloned"), done=True)]
        if queued:
            head.append(Step(waiting, current=True))
            return [*head, Step(_("Indexing")), Step(_("Ready"))]
        return [*head, Step(index_word, current=True), Step(_("Ready"))]
    if queued:
        return [Step(waiting, current=True), Step(cloning), Step(_("Indexing")), Step(_("Ready"))]
    if phase in ("", "connecting"):
        head = [Step(_("Connecting"), current=True), Step(cloning)]
    else:
        head = [Step(_("Connected"), done=True), Step(cloning, current=True)]
    return [*head, Step(_("Indexing")), Step(_("Ready"))]


def _waiting(job: Job) -> str:
    return _("queued %(time)s ago") % {"time": seconds(_since(job.created_at))}


_PHASES = {
    "counting": gettext_lazy("Counting objects"),
    "compressing": gettext_lazy("Compressing objects"),
    "receiving": gettext_lazy("Receiving objects"),
    "resolving": gettext_lazy("Resolving deltas"),
    "unpacking": gettext_lazy("Unpacking objects"),
    "history": gettext_lazy("Reading the history"),
}


def _detail(job: Job, phase: str, done: int, total: int, indexing: bool) -> str:
    parts = []
    if indexing and total:
        files = {"done": number(done), "total": number(total)}
        parts.append(_("%(done)s of %(total)s files") % files)
    elif phase in _PHASES:
        word = str(_PHASES[phase])
        parts.append(f"{word} {done * 100 // total} %" if total else word)
        if total:
            parts.append(
                _("%(done)s of %(total)s") % {"done": number(done), "total": number(total)}
            )
        received = int((job.progress or {}).get("bytes") or 0)
        if received:
            parts.append(size(received))
    if job.started_at is not None:
        spent = _since(job.started_at)
        left = spent * (total - done) / done if done and total and spent > 3 else None
        if left is not None and done < total:
            parts.append(_("about %(time)s left") % {"time": seconds(max(1, left))})
        else:
            parts.append(_("started %(time)s ago") % {"time": seconds(spent)})
    return " · ".join(parts)


def _since(moment: datetime) -> float:
    return max(0.0, (timezone.now() - moment).total_seconds())


@dataclass(slots=True)
class Row:
    """One repository of a list. `indexed` of `versions` commits are searchable."""

    repo: Repository
    state: Badge
    branch: str = ""
    commit: str = ""
    indexed: bool = False
    files: int = 0
    versions: int = 0
    searchable: int = 0
    job: JobView | None = None
    banner: Banner | None = None
    note: Text = ""

    @property
    def name(self) -> str:
        return self.repo.name

    @property
    def href(self) -> str:
        return repo_address(self.repo.name)

    @property
    def search_href(self) -> str:
        return search_address(self.repo.name)

    @property
    def synced(self) -> datetime | None:
        return self.repo.observed_at


@dataclass(slots=True)
class _Facts:
    heads: dict[int, dict[str, str]] = field(default_factory=dict)
    versions: dict[int, tuple[int, int]] = field(default_factory=dict)
    files: dict[tuple[int, str], tuple[bool, int]] = field(default_factory=dict)
    jobs: dict[int, list[Job]] = field(default_factory=dict)


def rows_of(repositories: Sequence[Repository], manageable: bool = False) -> list[Row]:
    """The rows of these repositories, in their order, with five queries in all."""
    facts = _facts([repo.pk for repo in repositories])
    return [_row(repo, facts, manageable) for repo in repositories]


def _facts(keys: Sequence[int]) -> _Facts:
    facts = _Facts()
    heads = BranchHead.objects.filter(repository_id__in=keys)
    for pk, branch, commit in heads.values_list("repository_id", "branch", "commit"):
        facts.heads.setdefault(pk, {})[branch] = commit
    counts = (
        Version.objects.filter(repository_id__in=keys)
        .values("repository_id")
        .annotate(every=Count("pk"), ready=Count("pk", filter=Q(indexed=True)))
        .order_by()
    )
    facts.versions = {row["repository_id"]: (row["every"], row["ready"]) for row in counts}
    tips = {commit for branches in facts.heads.values() for commit in branches.values()}
    found = Version.objects.filter(repository_id__in=keys, commit__in=tips)
    for pk, commit, indexed, files in found.values_list(
        "repository_id", "commit", "indexed", "files"
    ):
        facts.files[pk, commit] = (indexed, files)
    live = Q(state__in=[Job.State.QUEUED, Job.State.RUNNING])
    for job in Job.objects.filter(live, repository_id__in=keys, kind__in=work.KINDS).order_by("pk"):
        if job.repository_id is not None:
            facts.jobs.setdefault(job.repository_id, []).append(job)
    return facts


def head_of(repo: Repository, heads: dict[str, str]) -> tuple[str, str]:
    """Branch and commit that an omitted revision means; empty while they are not known."""
    try:
        branch = default_branch(repo)
    except (DefaultBranchNotObserved, DefaultBranchUndetermined):
        return "", ""
    return branch, heads.get(branch, "")


def current_job(jobs: Iterable[Job], tips: Iterable[str] = ()) -> Job | None:
    """The live job worth showing: a running one first, syncs and heads before older commits."""
    heads = set(tips)

    def order(job: Job) -> tuple[bool, bool, int]:
        old = job.kind == work.INDEX and job.commit not in heads
        return (old, job.state != Job.State.RUNNING, job.pk)

    return min(jobs, key=order, default=None)


def _row(repo: Repository, facts: _Facts, manageable: bool) -> Row:
    heads = facts.heads.get(repo.pk, {})
    branch, commit = head_of(repo, heads)
    every, ready = facts.versions.get(repo.pk, (0, 0))
    indexed, files = facts.files.get((repo.pk, commit), (False, 0))
    job = current_job(facts.jobs.get(repo.pk, ()), heads.values())
    row = Row(repo, READY, branch, commit, indexed, files, every, ready)
    row.state = state_badge(repo, job, indexed)
    if repo.enabled and job is not None and worth_showing(repo, job, heads.values()):
        row.job = job_view(job, branch, first=repo.observed_at is None)
    if repo.enabled and repo.last_error and row.job is None:
        row.banner = failure_banner(repo, manageable)
    if not commit:
        empty = repo.state == State.EMPTY
        row.note = _("no commits on the remote yet") if empty else _("not known yet")
    return row


def worth_showing(repo: Repository, job: Job, tips: Iterable[str]) -> bool:
    """Routine checks and the indexing of old commits run silently."""
    if job.kind == work.INDEX:
        return job.commit in set(tips)
    return repo.observed_at is None or job.source == Job.Source.MANUAL


def state_badge(repo: Repository, job: Job | None, indexed: bool) -> Badge:
    if repo.deleted or not repo.enabled:
        return DISABLED
    if job is not None and job.state == Job.State.RUNNING:
        if job.kind == work.INDEX and not indexed:
            return INDEXING
        if job.kind == work.SYNC and repo.observed_at is None:
            return CLONING
    if repo.last_error:
        return FAILED
    if repo.state == State.EMPTY:
        return EMPTY
    if repo.state == State.REGISTERED:
        return WAITING
    return READY if indexed else INDEXING


# Failures that another token may end.
TOKEN_ERRORS = (
    "GIT_AUTH_FAILED",
    "GIT_ACCESS_DENIED",
    "GIT_CREDENTIAL_UNAVAILABLE",
    "GIT_REPOSITORY_UNAVAILABLE",
)


def failure_banner(repo: Repository, manageable: bool) -> Banner:
    """Why the last check failed, in a sentence, and the way to try again."""
    tried = ngettext(
        "It failed %(count)s time in a row.",
        "It failed %(count)s times in a row.",
        repo.consecutive_failures,
    ) % {"count": repo.consecutive_failures}
    again = Action(_("Try again"), address("repo/sync", [("repo", repo.name)]), post=True)
    actions: tuple[Action, ...] = (again,)
    if repo.last_error in TOKEN_ERRORS:
        # The creator's own token goes first; without a creator there is only the site's.
        where = "code_tokens" if repo.creator_id else "code_sources"
        actions = (Action(_("Change token"), reverse(where)), again)
    return Banner(
        fact=fact_of(repo.last_error),
        meaning=tried if repo.consecutive_failures else "",
        tone="bad",
        code=repo.last_error,
        actions=actions if manageable else (),
    )
