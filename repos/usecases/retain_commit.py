"""The job that fetches one commit outside the window, so that it can be used like any other."""

from typing import Any

from django.db import transaction

from repos import retained, work
from repos.errors import RepositoryDisabled, RevisionNotEligible
from repos.gitstore import mirror
from repos.gitstore.disk import full_disk_is_named
from repos.gitstore.history import commit_time
from repos.models import Repository
from repos.sources.use import way_to
from sourcegraph_site.jobs.handle import JobHandle
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel.deadline import Deadline


def retain_commit(handle: JobHandle) -> dict[str, Any]:
    """Handler of `repos.retain`: fetch exactly this commit, keep it, queue its index.

    Raises:
        RepositoryDisabled: switched off, deleted or gone since it was queued.
        RevisionNotEligible: the remote no longer gives this commit.
        GitAuthFailed, InsufficientStorage, …: as a sync.
    """
    job = handle.job
    repo = Repository.objects.filter(pk=job.repository_id or 0).first()
    if repo is None or repo.deleted or not repo.enabled:
        raise RepositoryDisabled("The repository was switched off or removed.")
    watch = mirror.Watch(
        Deadline.after(work.git_seconds(repo)),
        progress=lambda phase, done, total, size: handle.progress(
            "preparing", phase=phase, done=done, total=total, bytes=size
        ),
        check=handle.check_cancelled,
    )
    with full_disk_is_named():
        path = mirror.ensure_mirror(repo.storage_key)
        mirror.repair(path)
        with way_to(repo) as route:
            given = mirror.fetch_commit(path, route, job.commit, job.params["ref"], watch)
        if not given:
            raise RevisionNotEligible("The remote no longer gives this commit.")
        time = commit_time(path, job.commit)
    with transaction.atomic():
        handle.confirm()
        row = Repository.objects.select_for_update().get(pk=repo.pk)
        retained.keep(row, job.commit, time)
        for group in row.group_names:
            work.queue_index(
                row,
                job.commit,
                group=group,
                source=Job.Source.MANUAL,
                actor=job.actor,
                requested_revision=job.requested_revision,
            )
    return {"commit": job.commit}
