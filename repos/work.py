"""The jobs of a repository: their kinds, identities and limits.

Only ids go into a job. A sync is alone in its repository (`exclusive`); indexing runs beside
it, one job per commit and path group. The search app registers the handler of INDEX and
queues the heads after a sync with `queue_index`, as `prepare` does for single commits.
"""

from django.db.models import Q, QuerySet

from repos.errors import QueueFull
from repos.models import Repository
from sourcegraph_site.accounts import policy
from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.models import Job

SYNC = "repos.sync"
INDEX = "search.index"
RETAIN = "repos.retain"
MAINTAIN = "repos.maintain"
RESTORE = "repos.restore"
KINDS = {SYNC: "sync", INDEX: "index", RETAIN: "prepare"}

SECONDS_BESIDE_GIT = 45 * 60
MAX_ACTIVE = 8


def git_seconds(repo: Repository) -> int:
    """How long Git may talk to this repository's remote in one job."""
    return 60 * (repo.git_timeout_minutes or policy.repository_defaults().git_timeout_minutes)


def job_seconds(repo: Repository) -> int:
    return git_seconds(repo) + SECONDS_BESIDE_GIT


def exclusive_key(repository_id: int) -> str:
    """Jobs with this key write to the mirror or to the versions; one runs at a time."""
    return f"repository:{repository_id}"


def queue_sync(
    repo: Repository,
    *,
    source: str = Job.Source.AUTOMATIC,
    actor: str = "",
    delay_seconds: float = 0,
    join_running: bool = False,
) -> tuple[Job, bool]:
    """Queue one sync, or join the queued one (with `join_running`, also a running one)."""
    return queue.enqueue_once(
        SYNC,
        identity=f"sync:{repo.pk}",
        exclusive=exclusive_key(repo.pk),
        repository_id=repo.pk,
        source=source,
        delay_seconds=delay_seconds,
        join_running=join_running,
        time_limit_seconds=job_seconds(repo),
        policy_revision=repo.policy_revision,
        actor=actor,
    )


def queue_index(
    repo: Repository,
    commit: str,
    *,
    group: str = "",
    source: str = Job.Source.AUTOMATIC,
    actor: str = "",
    requested_revision: str = "",
) -> tuple[Job, bool]:
    """Queue the indexing of one commit (of one path group), or join the same work."""
    return queue.enqueue_once(
        INDEX,
        identity=f"index:{repo.pk}:{group}:{commit}",
        exclusive=f"index:{repo.pk}:{group}:{commit}",
        repository_id=repo.pk,
        group=group,
        commit=commit,
        source=source,
        join_running=True,
        time_limit_seconds=job_seconds(repo),
        policy_revision=repo.policy_revision,
        requested_revision=requested_revision,
        actor=actor,
    )


def queue_retain(
    repo: Repository, commit: str, *, ref: str, actor: str, requested_revision: str
) -> tuple[Job, bool]:
    """Queue the fetch of one commit outside the window; it is indexed afterwards."""
    return queue.enqueue_once(
        RETAIN,
        identity=f"retain:{repo.pk}:{commit}",
        exclusive=exclusive_key(repo.pk),
        repository_id=repo.pk,
        commit=commit,
        source=Job.Source.MANUAL,
        join_running=True,
        time_limit_seconds=job_seconds(repo),
        policy_revision=repo.policy_revision,
        requested_revision=requested_revision,
        actor=actor,
        params={"ref": ref},
    )


def queue_restore(repo: Repository) -> tuple[Job, bool]:
    """Queue the check of the mirror under its lease, and its replacement if it is damaged."""
    return queue.enqueue_once(
        RESTORE,
        identity=f"restore:{repo.pk}",
        exclusive=exclusive_key(repo.pk),
        repository_id=repo.pk,
        source=Job.Source.MANUAL,
        join_running=True,
        time_limit_seconds=job_seconds(repo),
        policy_revision=repo.policy_revision,
    )


def jobs_of(repository_id: int) -> QuerySet[Job]:
    """The jobs that people see; maintenance is not among them."""
    return Job.objects.filter(repository_id=repository_id, kind__in=KINDS)


def active_jobs(repository_id: int) -> QuerySet[Job]:
    """Everything of this repository that is queued or running, maintenance included."""
    live = Q(state__in=[Job.State.QUEUED, Job.State.RUNNING])
    return Job.objects.filter(live, repository_id=repository_id)


def active_failures(repo: Repository, commit: str, group: str = "") -> int:
    """How often indexing this commit has failed under the present policy."""
    return Job.objects.filter(
        kind=INDEX,
        repository_id=repo.pk,
        commit=commit,
        group=group,
        state=Job.State.FAILED,
        policy_revision=repo.policy_revision,
    ).count()


def check_room(repo: Repository, wanted: int = 1) -> None:
    """Raises QueueFull when `wanted` more manual jobs are more than one repository may have."""
    limit = max(MAX_ACTIVE, len(repo.group_names))
    waiting = active_jobs(repo.pk).filter(source=Job.Source.MANUAL).count()
    if waiting + wanted > limit:
        raise QueueFull("Too many jobs of this repository are waiting.", retry_after=30)
