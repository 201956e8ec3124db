"""Ask for a sync, or for the index of one commit, now (contract 1.5, decisions 20, 24, 25).

Order: rights, receipt, then an identical job that is queued or running, then pacing, then
the queue's room. A receipt or a joined job costs nothing and moves no clock.
"""

from dataclasses import dataclass

from django.db import transaction

from repos import idempotency, retained, work
from repos.access import get_preparable
from repos.errors import InvalidAction, InvalidGroup, RevisionNotEligible, UnknownPathGroup
from repos.models import Repository
from repos.naming import is_object_id
from repos.preparing import index_groups, paced
from repos.records import JobRecord, job_record
from repos.revisions import Resolved, check_serving, resolve_commit
from sourcegraph_site.audit.record import record
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.wire import optional

OPERATION = "prepare"


class Prepare(Input):
    repo: str
    kind: str = Field(description="`index` or `sync`.")
    commit: str = Field("", description="Nothing, a monitored branch or a full SHA.")
    group: str = Field("", description="One path group of a monorepo; nothing means all.")


@dataclass(frozen=True, slots=True)
class Prepared:
    """The jobs that will do it; one, except for all groups of a monorepo.

    Without jobs, all that was asked for is ready.
    """

    jobs: list[JobRecord]
    status: str = "accepted"
    replayed: bool | None = optional()


def prepare(actor: Actor, params: Prepare, *, idempotency_key: str = "") -> Prepared:
    """Queue what was asked for, or join it.

    Raises:
        InvalidRepo, RepositoryNotFound, PreparationNotAllowed, RepositoryManagementDenied.
        InvalidAction, InvalidGroup, UnknownPathGroup: the request.
        IdempotencyConflict: the key was used for another request.
        what `resolve_commit` raises: the commit.
        RateLimited: the repository's last manual request was less than 30 seconds ago.
        QueueFull: too many jobs of this repository wait.
    """
    if params.kind not in ("index", "sync"):
        raise InvalidAction("The kind is index or sync.")
    repo = get_preparable(actor, params.repo)
    digest = idempotency.digest_of(params.model_dump())
    operation = f"{OPERATION}:{repo.pk}"
    with transaction.atomic():
        repo = Repository.objects.select_for_update().get(pk=repo.pk)
        receipt = idempotency.replayed(actor, operation, idempotency_key, digest)
        if receipt is not None:
            return Prepared(_records(receipt.answer["jobs"]), replayed=True)
        check_serving(repo)
        jobs = _sync(actor, repo) if params.kind == "sync" else _index(actor, repo, params)
        ids = [job.pk for job in jobs]
        idempotency.keep(actor, operation, idempotency_key, digest, repo, {"jobs": ids})
        record(
            actor,
            "repository.sync_requested"
            if params.kind == "sync"
            else "repository.prepare_requested",
            target=f"repository:{repo.name}",
            revision=params.commit,
            group=params.group,
        )
    return Prepared([job_record(job) for job in jobs])


def _records(keys: list[int]) -> list[JobRecord]:
    found = Job.objects.in_bulk(keys)
    return [job_record(found[key]) for key in keys if key in found]


def _sync(actor: Actor, repo: Repository) -> list[Job]:
    def enqueue() -> tuple[Job, bool]:
        return work.queue_sync(repo, source=Job.Source.MANUAL, actor=actor.label, join_running=True)

    return paced(repo, [(f"sync:{repo.pk}", enqueue)])


def _index(actor: Actor, repo: Repository, params: Prepare) -> list[Job]:
    groups = _groups(repo, params.group)
    target = _target(repo, params.commit)
    if isinstance(target, retained.Promise):
        promise = target

        def fetch() -> tuple[Job, bool]:
            return work.queue_retain(
                repo,
                promise.commit,
                ref=promise.ref,
                actor=actor.label,
                requested_revision=params.commit,
            )

        return paced(repo, [(f"retain:{repo.pk}:{promise.commit}", fetch)])
    if target.version.retained:
        retained.prolong(target.version)
    return index_groups(actor, repo, target, groups, requested_revision=params.commit)


def _groups(repo: Repository, group: str) -> list[str]:
    if not group:
        return repo.group_names
    if not repo.monorepo:
        raise InvalidGroup("This repository has no path groups.")
    if group not in repo.group_names:
        raise UnknownPathGroup("No path group of this name.")
    return [group]


def _target(repo: Repository, revision: str) -> "Resolved | retained.Promise":
    """A version, or a commit outside the window that `resolve` promised."""
    try:
        return resolve_commit(repo, revision)
    except RevisionNotEligible:
        promise = retained.promise_of(repo, revision) if is_object_id(revision) else None
        if promise is None:
            raise
        return promise
