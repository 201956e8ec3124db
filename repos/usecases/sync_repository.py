"""The job that brings a repository up to date with its remote.

Steps: ask the remote, fetch into the mirror, compute the windows, swap heads and versions
with the record of the sync in one transaction. Killed anywhere before the commit, the old
state goes on answering, and the next run repeats the steps from the first.
"""

import logging
from datetime import datetime
from typing import Any

from django.db import transaction

from repos import versions, work
from repos.errors import PolicyChanged, RepositoryDisabled
from repos.gitstore import layout, mirror
from repos.gitstore.disk import full_disk_is_named, size_of
from repos.gitstore.history import first_parent_history
from repos.models import Repository, State, SyncCheck
from repos.readiness import regroup
from repos.retention import Window, eligible
from repos.scheduling import next_sync
from repos.sources.use import way_to
from sourcegraph_site.jobs.handle import JobHandle
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.kernel.events import RepositorySynced, announce

log = logging.getLogger(__name__)


def sync_repository(handle: JobHandle) -> dict[str, Any] | None:
    """Handler of `repos.sync`. The result says what was found.

    Raises:
        RepositoryDisabled: switched off, deleted or gone since it was queued.
        PolicyChanged: the policy changed meanwhile; the change has queued another sync.
        GitRepositoryUnavailable, GitFetchFailed, InsufficientStorage, …: the sync failed;
            the old state goes on answering.
    """
    started = clock.now()
    repo = _take(handle, started)
    try:
        with full_disk_is_named():
            seen = observe(repo, handle)
        with transaction.atomic():
            handle.confirm()
            changed = _publish(repo, seen, started)
    except PolicyChanged:
        raise
    except AppError as exc:
        _record_failure(handle, repo, exc, started)
        raise
    if not changed and _is_automatic(handle.job):
        handle.discard_when_done()
    return {
        "no_changes": not changed,
        "heads": len(seen.heads),
        "versions": len(seen.commits),
    }


def _take(handle: JobHandle, started: datetime) -> Repository:
    """The repository as it is now; notes that a sync has begun."""
    repo = Repository.objects.filter(pk=handle.job.repository_id or 0).first()
    if repo is None or repo.deleted or not repo.enabled:
        raise RepositoryDisabled("The repository was switched off or removed.")
    Repository.objects.filter(pk=repo.pk).update(last_sync_started_at=started)
    return repo


def observe(repo: Repository, handle: JobHandle) -> versions.Observed:
    """Fetch what the policy asks for, and compute the versions that it keeps."""
    watch = mirror.Watch(
        Deadline.after(work.git_seconds(repo)),
        progress=lambda phase, done, total, size: handle.progress(
            "preparing", phase=phase, done=done, total=total, bytes=size
        ),
        check=handle.check_cancelled,
    )
    handle.progress("preparing", phase="connecting")
    with way_to(repo) as route:
        listing = mirror.look(
            route, repo.branches, follow_default=repo.follows_default, watch=watch
        )
        path = mirror.ensure_mirror(repo.storage_key)
        mirror.repair(path)
        mirror.fetch(path, route, listing, watch)
    handle.progress("preparing", phase="history")
    window = Window(days=repo.window_days, count=repo.window_count)
    found = mirror.heads(path)
    histories = {}
    for branch, commit in found.items():
        handle.check_cancelled()
        histories[branch] = first_parent_history(path, commit, window.longest)
    kept = eligible(histories, window, clock.now())
    return versions.Observed(
        listing.default_branch, found, kept.commits, kept.truncated, listing.empty
    )


def _publish(repo: Repository, seen: versions.Observed, started: datetime) -> bool:
    """Swap in what was found, unless the policy has changed since; announce it."""
    now = clock.now()
    row = Repository.objects.select_for_update().get(pk=repo.pk)
    if row.policy_revision != repo.policy_revision or not row.enabled:
        raise PolicyChanged("The policy changed while the sync ran.")
    changed = versions.swap(row, seen, now)
    if row.pending_path_groups is not None:
        regroup(row, row.pending_path_groups)
        changed = True
    state = State.EMPTY if seen.empty else State.READY
    changed = changed or (row.state, row.default_branch) != (state, seen.default_branch)
    row.state, row.default_branch = state, seen.default_branch
    row.history_truncated = seen.truncated
    row.observed_at = now
    row.observed_policy_revision = row.policy_revision
    row.last_error, row.consecutive_failures = "", 0
    row.next_sync_at = next_sync(now, row.sync_interval_minutes)
    if changed or row.disk_bytes is None:
        row.disk_bytes = size_of(layout.repository_path(row.storage_key))
        row.disk_sampled_at = now
    row.save()
    _note_check(row, started, now, changed=changed)
    announce(RepositorySynced(row.pk, changed))
    return changed


def _note_check(
    repo: Repository, started: datetime, now: datetime, *, changed: bool = False, error: str = ""
) -> None:
    unchanged = not changed and not error
    before = SyncCheck.objects.filter(repository=repo).first()
    streak = (before.unchanged_count if before else 0) + 1 if unchanged else 0
    SyncCheck.objects.update_or_create(
        repository=repo,
        defaults={
            "started_at": started,
            "checked_at": now,
            "no_changes": unchanged,
            "unchanged_count": streak,
            "error": error,
        },
    )


def _record_failure(
    handle: JobHandle, repo: Repository, error: AppError, started: datetime
) -> None:
    """Note the code and back off; nothing else of the old state changes."""
    now = clock.now()
    with transaction.atomic():
        handle.confirm()
        row = Repository.objects.select_for_update().filter(pk=repo.pk).first()
        if row is None:
            return
        row.last_error = error.code
        row.consecutive_failures += 1
        row.next_sync_at = next_sync(now, row.sync_interval_minutes, row.consecutive_failures)
        row.save(update_fields=["last_error", "consecutive_failures", "next_sync_at"])
        _note_check(row, started, now, error=error.code)


def _is_automatic(job: Job) -> bool:
    """As the row says now: somebody may have joined the job meanwhile."""
    source = Job.objects.filter(pk=job.pk).values_list("source", flat=True).first()
    return source == Job.Source.AUTOMATIC
