"""The jobs that make commits searchable, repair an index, and throw away what nobody keeps.

`search.index` indexes one commit: a branch head after a sync, or what `prepare` asked for.
`search.history` then takes all other kept commits at once (setting `index_history`): their
blobs go into the segments, their manifests are computed when somebody asks. A commit becomes
searchable by its row, written when everything that it needs is on the disk; killed before,
the next run finds the blobs that are done and indexes the rest.
"""

import time
from collections.abc import Callable
from typing import Any

from django.db import transaction

from repos import readiness, work
from repos.errors import RepositoryDisabled
from repos.gitstore.disk import check_free_space
from repos.models import BranchHead, Repository, Version
from search.index.format import CorruptIndex
from search.index.store import BuildReport, IndexStore, Progress
from search.serving import damaged, forget, store_of
from sourcegraph_site.accounts import policy
from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.handle import JobHandle
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.events import RepositorySynced

HISTORY = "search.history"
MAX_FAILURES = 3


def indexes_history(repo: Repository) -> bool:
    return (repo.index_history or policy.repository_defaults().index_history) == "all"


def queue_indexing(event: RepositorySynced) -> None:
    """After a sync: every head that is not searchable, unless it failed three times."""
    repo = Repository.objects.get(pk=event.repository_id)
    heads = BranchHead.objects.filter(repository=repo).values_list("commit", flat=True)
    waiting = Version.objects.filter(repository=repo, indexed=False, commit__in=set(heads))
    for commit in waiting.values_list("commit", flat=True):
        if work.active_failures(repo, commit) < MAX_FAILURES:
            work.queue_index(repo, commit)
    if not waiting.exists():
        queue_history(repo)


def queue_history(repo: Repository) -> None:
    """Queue the commits behind the heads, if they are to be searchable and some are not."""
    if not indexes_history(repo):
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
    """Handler of `search.index`: one commit of one repository.

    Raises:
        RepositoryDisabled: gone or switched off since it was queued.
        IndexCorrupt: the index is damaged; the repair is queued and this job tries again.
        InsufficientStorage: the disk is full; nothing has changed.
    """
    job = handle.job
    repo = _repository(job)
    began = time.monotonic()

    def build(store: IndexStore) -> BuildReport:
        return store.index_commit(job.commit, progress=_progress(handle))

    handle.progress("indexing", phase="indexing", done=0, total=0)
    report = _guarded(repo, job.commit, build)
    generation = store_of(repo.storage_key).open_generation(job.commit)
    with transaction.atomic():
        handle.confirm()
        readiness.mark_indexed(
            repo.pk,
            job.commit,
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
    if not commits or not indexes_history(repo):
        return {"commits": 0}

    def build(store: IndexStore) -> BuildReport:
        return store.index_commits(commits, progress=_progress(handle))

    handle.progress("indexing", phase="history", done=0, total=0)
    report = _guarded(repo, commits[0], build)
    with transaction.atomic():
        handle.confirm()
        readiness.mark_all_indexed(repo.pk, commits, shards=len(report.segments) or 1)
    return {"commits": len(commits), "documents": report.new_documents}


def repair_index(handle: JobHandle) -> dict[str, Any]:
    """Handler of `search.repair`: drop what is damaged and index again what was lost."""
    repo = _repository(handle.job)
    handle.progress("indexing", phase="checking")
    removed = store_of(repo.storage_key).repair()
    forget(repo.storage_key)
    with transaction.atomic():
        handle.confirm()
        # Which commits a lost segment served is not recorded anywhere: all are looked at
        # again, and those whose blobs are still there cost no more than their tree.
        Version.objects.filter(repository=repo, indexed=True).update(indexed=False)
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


def _progress(handle: JobHandle) -> Progress:
    """Shows the bytes done; stops the build when it is cancelled or the disk runs low."""

    def show(done: int, total: int) -> None:
        handle.check_cancelled()
        check_free_space()
        handle.progress("indexing", phase="indexing", done=done, total=total, bytes=done)

    return show
