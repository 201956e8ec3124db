"""Manual requests of one repository: joined, else paced (decision 25) and within the queue's
room. The caller holds the repository's row."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from math import ceil

from repos import work
from repos.models import Repository
from repos.readiness import group_ready
from repos.revisions import Resolved
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import RateLimited

PACE = timedelta(seconds=30)

Wanted = tuple[str, Callable[[], tuple[Job, bool]]]  # identity, how to queue it


def index_groups(
    actor: Actor,
    repo: Repository,
    target: Resolved,
    groups: Sequence[str],
    *,
    requested_revision: str,
) -> list[Job]:
    """Queue the index of every one of these path groups that lacks the commit.

    Raises:
        RateLimited, QueueFull: as `paced`.
    """

    def indexer(group: str) -> Callable[[], tuple[Job, bool]]:
        return lambda: work.queue_index(
            repo,
            target.commit,
            group=group,
            source=Job.Source.MANUAL,
            actor=actor.label,
            requested_revision=requested_revision,
        )

    missing = [group for group in groups if not group_ready(target.version, group)]
    return paced(
        repo, [(f"index:{repo.pk}:{group}:{target.commit}", indexer(group)) for group in missing]
    )


def paced(repo: Repository, wanted: Sequence[Wanted]) -> list[Job]:
    """Queue all of `wanted` as one request, unless all of it is at work already.

    Raises:
        RateLimited: the last manual request was less than 30 seconds ago.
        QueueFull: too many jobs of this repository wait.
    """
    live = work.active_jobs(repo.pk).filter(identity__in=[identity for identity, _ in wanted])
    joined = set(live.values_list("identity", flat=True))
    new = sum(identity not in joined for identity, _ in wanted)
    if new:
        _check_pace(repo)
        work.check_room(repo, new)
        repo.last_manual_request_at = clock.now()
        repo.save(update_fields=["last_manual_request_at"])
    return [enqueue()[0] for _, enqueue in wanted]


def _check_pace(repo: Repository) -> None:
    last = repo.last_manual_request_at
    if last is None:
        return
    wait = (last + PACE - clock.now()).total_seconds()
    # A clock that was set back must not lock the repository for longer than the pace.
    if 0 < wait <= PACE.total_seconds():
        raise RateLimited(
            "A preparation of this repository was requested moments ago.", retry_after=ceil(wait)
        )
