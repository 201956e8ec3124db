"""Cancel one queued or running job of a repository."""

from django.db import transaction

from repos import work
from repos.access import get_managed
from repos.records import JobRecord, job_record
from sourcegraph_site.audit.record import record
from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.errors import CancelledByUser, JobNotFound
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.inputs import Input


class CancelJob(Input):
    repo: str
    job_id: str


def cancel_job(actor: Actor, params: CancelJob) -> JobRecord:
    """End a job with CANCELLED_BY_USER; one that is over already is returned unchanged.

    Raises:
        AuthenticationRequired, InvalidRepo, RepositoryNotFound, RepositoryManagementDenied.
        JobNotFound: the repository has no such job.
    """
    repo = get_managed(actor, params.repo)
    with transaction.atomic():
        mine = work.jobs_of(repo.pk).filter(job_id=params.job_id)
        if not mine.exists():
            raise JobNotFound("This repository has no such job.")
        if queue.cancel(mine, error=CancelledByUser("A person cancelled the job.")):
            record(
                actor,
                "repository.job_cancelled",
                target=f"repository:{repo.name}",
                job_id=params.job_id,
            )
        return job_record(Job.objects.get(job_id=params.job_id))
