"""Taking away: old indexes (cleanup), the repository from service (delete), all of it (purge).

Cleanup and delete are previewed, and applied only if nothing changed since. A cleanup's files
are removed by the search app's collector, which takes every generation whose commit is no
longer marked as indexed. A deleted repository loses its whole index at once; its mirror goes
with the purge.
"""

import hashlib
import json
import shutil
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Literal

from django.db import transaction

from repos import work
from repos.access import get_managed
from repos.compare import check_revision
from repos.errors import (
    CleanupNotReady,
    LatestIndexNotReady,
    PreparationActive,
    RepositoryBusy,
    RepositoryCleaned,
    RepositoryDeleted,
)
from repos.gitstore import layout
from repos.gitstore.disk import size_of
from repos.models import GroupVersion, Repository, Version
from repos.readiness import group_ready, keeps_all_indexes
from sourcegraph_site.audit.record import record
from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import RevisionConflict
from sourcegraph_site.kernel.events import RepositoryRemoved, RepositorySynced, announce
from sourcegraph_site.kernel.inputs import Input

DELETED_FOR_AT_LEAST = timedelta(minutes=1)

Operation = Literal["cleanup", "delete"]


class RemovalTarget(Input):
    repo: str


class Removal(RemovalTarget):
    preview: str


@dataclass(frozen=True, slots=True)
class Kept:
    group: str
    branch: str
    commit: str


@dataclass(frozen=True, slots=True)
class RemovalPreview:
    preview: str
    revision: int
    keep: list[Kept]
    remove_generations: int
    remove_shards: int
    reclaim_bytes: int
    git_bytes: int


@dataclass(frozen=True, slots=True)
class Removed:
    cleaned: bool
    deleted: bool
    removed_generations: int
    removed_shards: int
    reclaimed_bytes: int
    keep: list[Kept]


@dataclass(frozen=True, slots=True)
class Purged:
    purged: bool = True


@dataclass(frozen=True, slots=True)
class _Plan:
    keep: list[Kept] = field(default_factory=list)
    commits_kept: frozenset[str] = frozenset()
    generations: int = 0
    shards: int = 0
    index_bytes: int = 0


# --- Cleanup and delete ------------------------------------------------------------------
def preview_removal(actor: Actor, params: RemovalTarget, operation: Operation) -> RemovalPreview:
    """What cleanup or delete would take away; changes nothing.

    Raises:
        AuthenticationRequired, InvalidRepo, RepositoryNotFound, RepositoryManagementDenied.
        LatestIndexNotReady: cleanup, while a monitored head has no index.
    """
    repo = get_managed(actor, params.repo)
    plan = _plan(repo, operation)
    return RemovalPreview(
        preview=_digest(repo, plan, operation),
        revision=repo.revision,
        keep=plan.keep,
        remove_generations=plan.generations,
        remove_shards=plan.shards,
        reclaim_bytes=plan.index_bytes,
        git_bytes=size_of(layout.mirror_path(repo.storage_key)),
    )


def apply_removal(
    actor: Actor, params: Removal, operation: Operation, *, revision: int | None
) -> Removed:
    """Clean up old indexes, or take the repository out of service for good.

    A deleted repository answers nothing and cannot be revived; `purge` frees its name.

    Raises:
        as `preview_removal`, and
        PreconditionRequired: no `revision`.
        RevisionConflict: the record changed, or `preview` is of another state.
        RepositoryBusy: a job is running.
    """
    repo = get_managed(actor, params.repo)
    with transaction.atomic():
        repo = Repository.objects.select_for_update().get(pk=repo.pk)
        check_revision(repo, revision)
        plan = _plan(repo, operation)
        if params.preview != _digest(repo, plan, operation):
            raise RevisionConflict("The repository changed since the preview; preview again.")
        if work.active_jobs(repo.pk).filter(state=Job.State.RUNNING).exists():
            raise RepositoryBusy("A job of this repository is running.")
        _release_indexes(repo, plan.commits_kept)
        deleting = operation == "delete"
        if deleting:
            _take_out(repo)
        else:
            queue.cancel(
                work.active_jobs(repo.pk), error=RepositoryCleaned("Old indexes were cleaned.")
            )
        repo.revision += 1
        repo.save()
        record(
            actor,
            "repository.deleted" if deleting else "repository.cleaned",
            target=f"repository:{repo.name}",
            generations=plan.generations,
        )
        if deleting:
            transaction.on_commit(partial(discard, layout.index_path(repo.storage_key)))
        else:
            announce(RepositorySynced(repo.pk, changed=True))
    return Removed(
        cleaned=not deleting,
        deleted=deleting,
        removed_generations=plan.generations,
        removed_shards=plan.shards,
        reclaimed_bytes=plan.index_bytes,
        keep=plan.keep,
    )


def _plan(repo: Repository, operation: Operation) -> _Plan:
    indexed = {
        (version.commit, version.pk): version.shards
        for version in repo.versions.filter(indexed=True)
    }
    total_bytes = size_of(layout.index_path(repo.storage_key))
    if operation == "delete":
        return _Plan(
            generations=len(indexed), shards=sum(indexed.values()), index_bytes=total_bytes
        )
    keep = _heads_kept(repo)
    if keeps_all_indexes(repo):
        kept = frozenset(commit for commit, _ in indexed)
    else:
        kept = frozenset(item.commit for item in keep)
    going = [shards for (commit, _), shards in indexed.items() if commit not in kept]
    # Blobs are shared between commits, so the true gain is known only afterwards.
    share = len(going) / len(indexed) if indexed else 0.0
    return _Plan(keep, kept, len(going), sum(going), int(total_bytes * share))


def _heads_kept(repo: Repository) -> list[Kept]:
    heads = list(repo.heads.order_by("branch"))
    versions = {v.commit: v for v in repo.versions.filter(commit__in=[h.commit for h in heads])}
    kept = []
    for group in repo.group_names:
        for head in heads:
            version = versions.get(head.commit)
            if version is None or not group_ready(version, group):
                raise LatestIndexNotReady(f"The head of {head.branch} has no index yet.")
            kept.append(Kept(group, head.branch, head.commit))
    return kept


def _release_indexes(repo: Repository, keep: frozenset[str]) -> None:
    going = [pk for pk, commit in repo.versions.values_list("pk", "commit") if commit not in keep]
    for start in range(0, len(going), 500):
        some = going[start : start + 500]
        GroupVersion.objects.filter(version__in=some).delete()
        Version.objects.filter(pk__in=some).update(indexed=False, files=0, shards=0)


def _take_out(repo: Repository) -> None:
    repo.enabled = False
    repo.deleted_at = repo.deleted_at or clock.now()
    queue.cancel(work.active_jobs(repo.pk), error=RepositoryDeleted("The repository was deleted."))


def _digest(repo: Repository, plan: _Plan, operation: Operation) -> str:
    state = [operation, repo.revision, repo.policy_revision, sorted(plan.commits_kept)]
    return hashlib.sha256(json.dumps([*state, plan.generations]).encode()).hexdigest()


# --- Purge -------------------------------------------------------------------------------
def purge_repository(actor: Actor, params: RemovalTarget, *, revision: int | None) -> Purged:
    """Remove every trace of a deleted repository; its name is free again.

    The rows go first, in one transaction; then the files, out of reach at once by a rename.
    Files that a crash leaves behind belong to no repository and are swept by maintenance.

    Raises:
        AuthenticationRequired, InvalidRepo, RepositoryNotFound, RepositoryManagementDenied.
        PreconditionRequired: no `revision`.
        RevisionConflict: the record changed since `revision`.
        CleanupNotReady: not deleted for a minute yet.
        PreparationActive: a job is queued or running.
    """
    repo = get_managed(actor, params.repo)
    with transaction.atomic():
        repo = Repository.objects.select_for_update().get(pk=repo.pk)
        check_revision(repo, revision)
        if repo.deleted_at is None or clock.now() - repo.deleted_at < DELETED_FOR_AT_LEAST:
            raise CleanupNotReady("Delete the repository first, and wait a minute.")
        if work.active_jobs(repo.pk).exists():
            raise PreparationActive("A job of this repository is queued or running.")
        announce(RepositoryRemoved(repo.pk, repo.storage_key))
        record(actor, "repository.purged", target=f"repository:{repo.name}")
        path = layout.repository_path(repo.storage_key)
        repo.delete()
        transaction.on_commit(partial(discard, path))
    return Purged()


def discard(path: Path) -> None:
    """Move a directory out of reach, then delete it; nothing happens if it is not there."""
    doomed = layout.fresh(layout.trash_root())
    try:
        path.rename(doomed)
    except FileNotFoundError:
        return
    shutil.rmtree(doomed, ignore_errors=True)
