"""The upkeep of an index: rebuilt under new options, merged, and cleared of what nobody keeps.

One job per repository, queued a minute after anything changed there and once an hour for all.
A pass removes at most one generation; while there are more, the job queues itself again.
Searches go on meanwhile: see `search/index/store.py` on what a reader may have open.
"""

from collections.abc import Collection
from typing import Any

from repos.models import GroupVersion, Repository, Version
from search.index.collect import collect
from search.index.format import CorruptIndex
from search.index.merge import merge
from search.index.store import IndexStore
from search.serving import damaged, store_of
from search.usecases.index_commits import queue_history
from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.handle import JobHandle

UPKEEP = "search.upkeep"
SOON_SECONDS = 60

Kept = set[tuple[str, str]]  # commit and path group


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
    for repo in Repository.objects.filter(deleted_at=None, enabled=True, observed_at__isnull=False):
        queue_history(repo)
        queue_upkeep(repo.pk, delay_seconds=0)


def upkeep_index(handle: JobHandle) -> dict[str, Any]:
    """Handler of `search.upkeep`.

    Raises:
        IndexCorrupt: the index is damaged; its repair is queued.
    """
    repo = Repository.objects.filter(pk=handle.job.repository_id or 0).first()
    if repo is None:
        return {}
    store = store_of(repo.storage_key)
    if not store.root.is_dir():
        return {}
    kept = kept_generations(repo)
    commits = {commit for commit, _ in kept}
    handle.progress("indexing", phase="upkeep")
    try:
        rebuilt = _rebuild(store, repo, kept)
        handle.check_cancelled()
        merged = merge(store, commits)
        handle.check_cancelled()
        collected = collect(store, kept)
    except CorruptIndex as exc:
        raise damaged(repo, "any commit", str(exc)) from exc
    if collected.generation is not None:
        queue_upkeep(repo.pk)
    return {
        "rebuilt": rebuilt,
        "merged": len(merged),
        "segments_removed": len(collected.segments),
        "bytes_freed": collected.freed_bytes,
    }


def kept_generations(repo: Repository) -> Kept:
    """Every generation that search may be asked for."""
    if not repo.monorepo:
        found = Version.objects.filter(repository=repo, indexed=True)
        return {(commit, "") for commit in found.values_list("commit", flat=True)}
    rows = GroupVersion.objects.filter(version__repository=repo, group__in=repo.group_names)
    return set(rows.values_list("version__commit", "group"))


def _rebuild(store: IndexStore, repo: Repository, kept: Collection[tuple[str, str]]) -> int:
    """Index again what was indexed under other options; the old segments serve until then."""
    digest = store.options.digest
    if all(segment.meta.options == digest for segment in store.open_segments()):
        return 0
    stale = [
        (each.commit, each.group)
        for each in store.manifests()
        if each.options != digest and (each.commit, each.group) in kept
    ]
    for commit, group in stale:
        store.index_commit(commit, group=group, scope=repo.group_paths(group))
    for group in repo.group_names:
        commits = sorted(commit for commit, of_group in kept if of_group == group)
        store.index_commits(commits, scope=repo.group_paths(group))
    return len(kept)
