"""Run syncs in the test's own thread, through the real claim and the real end."""

from repos import work
from repos.models import Repository
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.jobs.run import run_next


def sync_now(repo: Repository) -> Repository:
    """Queue (or join) a sync, run jobs until it has ended, and return the fresh row."""
    job = sync_job(repo)
    return Repository.objects.get(pk=job.repository_id)


def sync_job(repo: Repository) -> Job:
    """As `sync_now`; the job's row as it ended (or was when it left no row behind)."""
    job, _ = work.queue_sync(repo, source=Job.Source.MANUAL)
    while not Job.objects.get(pk=job.pk).over and run_next(watch=False) is not None:
        pass
    return Job.objects.get(pk=job.pk)
