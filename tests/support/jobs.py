"""Run queued jobs in the test's own thread, through the real claim and the real end."""

from sourcegraph_site.jobs.models import Job
from sourcegraph_site.jobs.run import run_next


def run_pending_jobs(limit: int = 100) -> list[Job]:
    """Run what may run now, and what that queues, until nothing is left; the jobs' rows as
    they are afterwards, in the order in which they ran."""
    ran: list[int] = []
    while len(ran) < limit and (job := run_next(watch=False)) is not None:
        ran.append(job.pk)
    found = Job.objects.in_bulk(ran)
    return [found[pk] for pk in ran if pk in found]
