"""Housekeeping: ticks that expire and sweep, and the job that packs one mirror."""

import logging
from datetime import timedelta
from typing import Any

from django.db.models import Q

from repos import idempotency, retained, work
from repos.errors import RepositoryDisabled
from repos.gitstore import layout, maintenance
from repos.gitstore.disk import full_disk_is_named, size_of
from repos.models import Repository, Version
from repos.usecases.remove_repository import discard
from sourcegraph_site.audit import retention
from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.handle import JobHandle
from sourcegraph_site.kernel import clock

log = logging.getLogger(__name__)

EVERY_SECONDS = 300
PACK_AGAIN_AFTER = timedelta(days=7)
MAX_PACKS = 20
SAMPLE_AGAIN_AFTER = timedelta(hours=1)
MAX_SAMPLES = 20


def housekeep() -> None:
    """One pass: expire what is past its time, sweep leftovers, sample disks, queue packing.

    Bounded: at most one orphan, 20 disk samples and one mirror to pack a pass.
    """
    now = clock.now()
    idempotency.expire()
    retained.expire(now)
    retention.expire()
    maintenance.sweep_left_behind()
    sweep_orphan()
    _sample_disks()
    queue_packing()


def sweep_orphan() -> str:
    """Remove one directory that belongs to no repository; its name, "" if there is none."""
    known = set(Repository.objects.values_list("storage_key", flat=True))
    for path in maintenance.orphans(known):
        # Rows are made before directories, so a directory without one stays without one.
        log.warning("Removing %s, which belongs to no repository.", path.name)
        discard(path)
        return path.name
    return ""


def _sample_disks() -> None:
    before = clock.now() - SAMPLE_AGAIN_AFTER
    stale = Q(disk_sampled_at__isnull=True) | Q(disk_sampled_at__lt=before)
    due = Repository.objects.filter(stale, observed_at__isnull=False)
    for key, storage_key in due.order_by("disk_sampled_at").values_list("pk", "storage_key")[
        :MAX_SAMPLES
    ]:
        Repository.objects.filter(pk=key).update(
            disk_bytes=size_of(layout.repository_path(storage_key)),
            disk_sampled_at=clock.now(),
        )


def queue_packing() -> str:
    """Queue the packing of the one repository that needs it most; its name or ""."""
    now = clock.now()
    for repo in Repository.objects.filter(observed_at__isnull=False, deleted_at=None).order_by(
        "maintained_at", "pk"
    ):
        if work.active_jobs(repo.pk).filter(kind=work.MAINTAIN).exists():
            return ""
        packs = maintenance.pack_count(layout.mirror_path(repo.storage_key))
        rested = repo.maintained_at is None or repo.maintained_at < now - PACK_AGAIN_AFTER
        if packs > MAX_PACKS or (rested and packs > 1):
            _queue(repo)
            return repo.name
    return ""


def _queue(repo: Repository) -> None:
    queue.enqueue_once(
        work.MAINTAIN,
        identity=f"maintain:{repo.pk}",
        exclusive=work.exclusive_key(repo.pk),
        repository_id=repo.pk,
    )


def maintain_repository(handle: JobHandle) -> dict[str, Any]:
    """Handler of `repos.maintain`: drop objects that no version needs, pack the rest.

    Raises:
        RepositoryDisabled: the repository or its mirror is gone.
        InsufficientStorage, GitOperationFailed: the mirror is as it was.
    """
    repo = Repository.objects.filter(pk=handle.job.repository_id or 0).first()
    mirror = layout.mirror_path(repo.storage_key) if repo else None
    if repo is None or mirror is None or not mirror.is_dir():
        raise RepositoryDisabled("The repository or its mirror is gone.")
    handle.progress("preparing", phase="packing")
    before = size_of(mirror)
    kept = Version.objects.filter(repository=repo, retained_until__isnull=False)
    with full_disk_is_named():
        maintenance.keep_only(
            mirror,
            repo.heads.values_list("commit", flat=True),
            kept.values_list("commit", flat=True),
        )
        maintenance.pack(mirror)
    after = size_of(mirror)
    Repository.objects.filter(pk=repo.pk).update(
        maintained_at=clock.now(),
        disk_bytes=size_of(layout.repository_path(repo.storage_key)),
        disk_sampled_at=clock.now(),
    )
    handle.discard_when_done()
    return {"bytes_before": before, "bytes_after": after}
