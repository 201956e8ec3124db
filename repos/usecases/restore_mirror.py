"""The job that replaces a damaged mirror by a fresh clone, while the old one goes on serving
what it still can."""

import logging
import shutil
from pathlib import Path
from typing import Any

from django.db import transaction

from repos import retained, work
from repos.errors import RepositoryDisabled
from repos.gitstore import layout, mirror
from repos.gitstore.disk import full_disk_is_named
from repos.gitstore.integrity import damage
from repos.gitstore.remote_url import Route
from repos.models import Repository, ResolvedRef, Version
from repos.sources.use import way_to
from repos.usecases.remove_repository import discard
from sourcegraph_site.jobs.handle import JobHandle
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel.deadline import Deadline

log = logging.getLogger(__name__)


def restore_mirror(handle: JobHandle) -> dict[str, Any]:
    """Handler of `repos.restore`. Nothing happens to a mirror that is whole.

    Retained commits that the remote no longer gives end as versions. A sync follows, because
    the new mirror may be ahead of the database.

    Raises:
        RepositoryDisabled: switched off, deleted or gone since it was queued.
        GitRepositoryUnavailable, InsufficientStorage, …: as a sync; the old mirror stays.
    """
    repo = Repository.objects.filter(pk=handle.job.repository_id or 0).first()
    if repo is None or repo.deleted or not repo.enabled:
        raise RepositoryDisabled("The repository was switched off or removed.")
    path = layout.mirror_path(repo.storage_key)
    handle.progress("preparing", phase="checking")
    commits = set(repo.versions.values_list("commit", flat=True))
    reason = damage(path, commits)
    if not reason:
        return {"restored": False}
    log.warning("The mirror of %s is replaced: %s", repo.name, reason)
    fresh = path.with_name("mirror.new")
    shutil.rmtree(fresh, ignore_errors=True)  # of a run that was killed
    try:
        with full_disk_is_named():
            lost = _clone(repo, fresh, handle)
        with transaction.atomic():
            handle.confirm()
            retained.release(repo, lost)
            discard(path)
            fresh.rename(path)
            work.queue_sync(repo, source=Job.Source.MANUAL)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return {"restored": True, "reason": reason, "lost_commits": len(lost)}


def _clone(repo: Repository, fresh: Path, handle: JobHandle) -> list[int]:
    """Fetch all that is served into a new mirror; keys of retained versions that are lost."""
    watch = mirror.Watch(
        Deadline.after(work.git_seconds(repo)),
        progress=lambda phase, done, total, size: handle.progress(
            "preparing", phase=phase, done=done, total=total, bytes=size
        ),
        check=handle.check_cancelled,
    )
    fresh.parent.mkdir(parents=True, exist_ok=True)
    with way_to(repo) as route:
        return _fetch_all(repo, fresh, route, watch)


def _fetch_all(repo: Repository, fresh: Path, route: Route, watch: mirror.Watch) -> list[int]:
    listing = mirror.look(route, repo.branches, follow_default=repo.follows_default, watch=watch)
    mirror.init_mirror(fresh)
    mirror.fetch(fresh, route, listing, watch)
    refs = dict(ResolvedRef.objects.filter(repository=repo).values_list("commit", "ref"))
    lost = []
    for version in Version.objects.filter(repository=repo, retained_until__isnull=False):
        ref = refs.get(version.commit, version.commit)
        if not mirror.fetch_commit(fresh, route, version.commit, ref, watch):
            lost.append(version.pk)
    return lost
