"""The upkeep of an index: rebuilt under new options, merged, and cleared of what nobody keeps.

One job per repository, queued a minute after anything changed there and once an hour for all.
A pass removes at most one generation; while there are more, the job queues itself again.
Searches go on meanwhile: see `search/index/store.py` on what a reader may have open.
"""

import logging
import time
from collections.abc import Collection
from typing import Any

from django.db.models import Q

from repos import readiness, work
from repos.gitstore.disk import check_free_space
from repos.models import BranchHead, GroupVersion, Repository, Version
from search.index.collect import collect
from search.index.format import CorruptIndex
from search.index.merge import merge
from search.index.store import IndexStore
from search.serving import REPAIR, damaged, forget, store_of
from search.usecases.index_commits import HISTORY, progress_of, queue_history
from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.handle import JobHandle
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.events import RepositoryRemoved, RepositorySynced

log = logging.getLogger(__name__)

UPKEEP = "search.upkeep"
SOON_SECONDS = 60
ALL_EVERY_SECONDS = 3600

Kept = set[tuple[str, str]]  # commit and path group


# When
def queue_upkeep(repository_id: int, *, delay_seconds: float = SOON_SECONDS) -> None:
    queue.enqueue_once(
        UPKEEP,
        identity=f"upkeep:{repository_id}",
        exclusive=f"upkeep:{repository_id}",
        repository_id=repository_id,
        delay_seconds=delay_seconds,
    )


def queue_all_upkeep() -> None:
    """Once an hour: every repository, and histories that a changed setting asks for."""
    repos = Repository.objects.filter(deleted_at=None, enabled=True, observed_at__isnull=False)
    total = repos.count()
    for number, repo in enumerate(repos.order_by("pk")):
        queue_history(repo)
        # Spread, so that syncs do not wait behind all of them.
        queue_upkeep(repo.pk, delay_seconds=ALL_EVERY_SECONDS * number / max(total, 1))


def tidy_after(event: RepositorySynced) -> None:
    if event.changed:
        queue_upkeep(event.repository_id)


def forget_removed(event: RepositoryRemoved) -> None:
    forget(event.storage_key)


# What
def upkeep_index(handle: JobHandle) -> dict[str, Any]:
    """Handler of `search.upkeep`. It leaves a row only if it did something.

    While the index is written to it tries again a minute later, and occupies no worker.

    Raises:
        IndexCorrupt: the index is damaged; its repair is queued.
        InsufficientStorage: the disk is full; nothing is lost.
    """
    repo = Repository.objects.filter(pk=handle.job.repository_id or 0).first()
    if repo is None or repo.deleted or not store_of(repo.storage_key).root.is_dir():
        handle.discard_when_done()
        return {}
    if _is_being_written(repo):
        queue_upkeep(repo.pk)
        handle.discard_when_done()
        return {}
    done = _pass(handle, repo)
    if not any(done.values()):
        handle.discard_when_done()
    return done


def _is_being_written(repo: Repository) -> bool:
    kinds = [work.INDEX, HISTORY, REPAIR]
    return work.active_jobs(repo.pk).filter(kind__in=kinds, state=Job.State.RUNNING).exists()


def _pass(handle: JobHandle, repo: Repository) -> dict[str, Any]:
    store = store_of(repo.storage_key)
    handle.progress("indexing", phase="upkeep")
    try:
        rebuilt = _rebuild(handle, store, repo)
        handle.check_cancelled()
        merged = merge(store, lambda: {commit for commit, _ in kept_generations(repo)})
        handle.check_cancelled()
        collected = collect(store, lambda: kept_generations(repo))
    except CorruptIndex as exc:
        raise damaged(repo, "any commit", str(exc)) from exc
    if collected.generation is not None:
        queue_upkeep(repo.pk)
    return {
        "rebuilt": rebuilt,
        "merged": len(merged),
        "generations_removed": int(collected.generation is not None),
        "segments_removed": len(collected.segments),
        "bytes_freed": collected.freed_bytes,
    }


def searchable_generations(repo: Repository) -> Kept:
    """Every generation that search answers at now."""
    if not repo.monorepo:
        found = Version.objects.filter(repository=repo, indexed=True)
        return {(commit, "") for commit in found.values_list("commit", flat=True)}
    rows = GroupVersion.objects.filter(version__repository=repo, group__in=repo.group_names)
    return set(rows.values_list("version__commit", "group"))


def kept_generations(repo: Repository) -> Kept:
    """Every generation that is searchable, or is being made so.

    The latter too: a job that indexes a commit finds most of its blobs in segments, and they
    must still be there when it records that the commit is searchable.
    """
    found = Version.objects.filter(repository=repo)
    if not readiness.keeps_all_indexes(repo):
        heads = BranchHead.objects.filter(repository=repo).values("commit")
        found = found.filter(Q(commit__in=heads) | Q(retained_until__isnull=False))
    jobs = work.active_jobs(repo.pk).filter(kind=work.INDEX)
    coming = {
        (commit, group)
        for commit in found.values_list("commit", flat=True)
        for group in repo.group_names
    }
    return searchable_generations(repo) | coming | set(jobs.values_list("commit", "group"))


# New options
def _rebuild(handle: JobHandle, store: IndexStore, repo: Repository) -> int:
    """Index again what was indexed under other options; the old segments serve until then.

    Returns how many manifests were replaced. Commits without one are answered from the new
    segments as soon as those hold all of it.
    """
    digest = store.options.digest
    if all(segment.meta.options == digest for segment in store.open_segments()):
        return 0
    check_free_space()
    log.info("index of %s: rebuilding under new options", repo.name)
    wanted = searchable_generations(repo)
    for group in repo.group_names:
        commits = sorted(commit for commit, of_group in wanted if of_group == group)
        if commits:
            store.index_commits(
                commits, scope=repo.group_paths(group), progress=progress_of(handle)
            )
    stale = [
        (each.commit, each.group)
        for each in store.manifests()
        if each.options != digest and (each.commit, each.group) in wanted
    ]
    for commit, group in stale:
        _replace_manifest(store, repo, commit, group)
    _forget_sizes(repo, {commit for commit, _ in stale})
    return len(stale)


def _replace_manifest(store: IndexStore, repo: Repository, commit: str, group: str) -> None:
    began = time.monotonic()
    scope = repo.group_paths(group)
    store.index_commit(commit, group=group, scope=scope)
    generation = store.open_generation(commit, group, scope)
    readiness.mark_indexed(
        repo.pk,
        commit,
        group=group,
        files=len(generation.paths),
        shards=len(generation.segments),
        finished_at=clock.now(),
        seconds=time.monotonic() - began,
    )


def _forget_sizes(repo: Repository, known: Collection[str]) -> None:
    """Other commits may hold more or fewer files now; their next search tells."""
    Version.objects.filter(repository=repo).exclude(commit__in=known).update(files=0)
