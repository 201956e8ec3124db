"""The jobs that make commits searchable, repair an index, and throw away what nobody keeps.

`search.index` indexes one commit: a branch head after a sync, or what `prepare` asked for.
`search.history` then takes all other kept commits at once (setting `index_history`): their
blobs go into the segments, their manifests are computed when somebody asks. A commit becomes
searchable by its row, written when everything that it needs is on the disk; killed before,
the next run finds the blobs that are done and indexes the rest.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction

from repos import readiness, work
from repos.errors import RepositoryDisabled, UnknownPathGroup
from repos.gitstore.disk import check_free_space
from repos.models import BranchHead, Repository, Version
from search.index.format import CorruptIndex
from search.index.store import BuildReport, IndexStore, Progress
from search.serving import damaged, forget, store_of
from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.handle import JobHandle
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.events import RepositorySynced

HISTORY = "search.history"
MAX_FAILURES = 3


def queue_indexing(event: RepositorySynced) -> None:
    """After a sync: every head that is not searchable, unless it failed three times."""
    repo = Repository.objects.get(pk=event.repository_id)
    if repo.deleted or not repo.enabled:
        return
    heads = set(BranchHead.objects.filter(repository=repo).values_list("commit", flat=True))
    waiting = Version.objects.filter(repository=repo, indexed=False, commit__in=heads)
    for version in waiting:
        for group in _unready(repo, version):
            if work.active_failures(repo, version.commit, group) < MAX_FAILURES:
                work.queue_index(repo, version.commit, group=group)
    if not waiting.exists():
        queue_history(repo)


def _unready(repo: Repository, version: Version) -> list[str]:
    """The path groups (one, "", in full mode) that lack this commit."""
    ready = readiness.ready_groups(version)
    return [group for group in repo.group_names if not group or group not in ready]


def queue_history(repo: Repository) -> None:
    """Queue the commits behind the heads, if they are to be searchable and some are not."""
    if not readiness.keeps_all_indexes(repo):
        return
    if not Version.objects.filter(repository=repo, indexed=False).exists():
        return
    queue.enqueue_once(
        HISTORY,
        identity=f"history:{repo.pk}",
        exclusive=f"history:{repo.pk}",
        repository_id=repo.pk,
        policy_revision=repo.policy_revision,
    )


def index_commit(handle: JobHandle) -> dict[str, Any]:
    """Handler of `search.index`: one commit, or one path group of it.

    Raises:
        RepositoryDisabled: gone or switched off since it was queued.
        UnknownPathGroup: the group is no longer in force.
        IndexCorrupt: the index is damaged; the repair is queued and this job tries again.
        InsufficientStorage: the disk is full; nothing has changed.
    """
    job = handle.job
    repo = _repository(job)
    if job.group not in repo.group_names:
        raise UnknownPathGroup("This path group is no longer in force.")
    scope = repo.group_paths(job.group)
    began = time.monotonic()

    def build(store: IndexStore) -> BuildReport:
        return store.index_commit(
            job.commit, group=job.group, scope=scope, progress=progress_of(handle)
        )

    handle.progress("indexing", phase="indexing", done=0, total=0)
    report = _guarded(repo, job.commit, build)
    generation = store_of(repo.storage_key).open_generation(job.commit, job.group, scope)
    with transaction.atomic():
        handle.confirm()
        readiness.mark_indexed(
            repo.pk,
            job.commit,
            group=job.group,
            files=len(generation.paths),
            shards=len(generation.segments),
            finished_at=clock.now(),
            seconds=time.monotonic() - began,
        )
        queue_history(repo)
    return {"documents": report.new_documents, "bytes": report.new_bytes}


def index_history(handle: JobHandle) -> dict[str, Any]:
    """Handler of `search.history`: every kept commit that cannot be searched yet."""
    repo = _repository(handle.job)
    waiting = Version.objects.filter(repository=repo, indexed=False)
    commits = list(waiting.values_list("commit", flat=True))
    if not commits or not readiness.keeps_all_indexes(repo):
        return {"commits": 0}
    handle.progress("indexing", phase="history", done=0, total=0)
    documents = 0
    for group in repo.group_names:
        documents += _index_history_of(handle, repo, group, commits)
    return {"commits": len(commits), "documents": documents}


def _index_history_of(
    handle: JobHandle, repo: Repository, group: str, commits: Sequence[str]
) -> int:
    def build(store: IndexStore) -> BuildReport:
        return store.index_commits(
            commits, scope=repo.group_paths(group), progress=progress_of(handle)
        )

    report = _guarded(repo, commits[0], build)
    with transaction.atomic():
        handle.confirm()
        readiness.mark_all_indexed(
            repo, commits, group=group, shards=len(report.segments) or 1, finished_at=clock.now()
        )
    return report.new_documents


def repair_index(handle: JobHandle) -> dict[str, Any]:
    """Handler of `search.repair`: drop what is damaged and index again what was lost."""
    repo = _repository(handle.job)
    handle.progress("indexing", phase="checking")
    suspects = handle.job.params.get("files", [])
    removed = store_of(repo.storage_key).repair(suspects)
    forget(repo.storage_key)
    with transaction.atomic():
        handle.confirm()
        # Which commits a lost segment served is not recorded anywhere: all are looked at
        # again, and those whose blobs are still there cost no more than their tree.
        readiness.mark_none_indexed(repo.pk)
        queue_indexing(RepositorySynced(repo.pk, True))
    return {"removed": len(removed)}


def _repository(job: Job) -> Repository:
    repo = Repository.objects.filter(pk=job.repository_id or 0).first()
    if repo is None or repo.deleted or not repo.enabled:
        raise RepositoryDisabled("The repository was switched off or removed.")
    return repo


def _guarded(
    repo: Repository, commit: str, build: Callable[[IndexStore], BuildReport]
) -> BuildReport:
    check_free_space()
    try:
        return build(store_of(repo.storage_key))
    except CorruptIndex as exc:
        raise damaged(repo, commit, str(exc)) from exc


def progress_of(handle: JobHandle) -> Progress:
    """Shows the bytes done; stops the build when it is cancelled or the disk runs low."""

    def show(done: int, total: int) -> None:
        handle.check_cancelled()
        check_free_space()
        handle.progress("indexing", phase="indexing", done=done, total=total, bytes=done)

    return show
