"""Jobs that wait or run for no good reason, and repositories that nobody synchronises."""

from collections.abc import Iterator
from datetime import timedelta

from repos import work
from repos.doctor.finding import Finding, Repair
from repos.errors import RepositoryDisabled
from repos.models import Repository
from sourcegraph_site.jobs import queue, sweep
from sourcegraph_site.jobs.handlers import handler_of
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock

WAITS_TOO_LONG = timedelta(minutes=10)
OVERDUE = timedelta(hours=1)


def examine() -> Iterator[Finding]:
    yield from _live_jobs()
    yield from _unsynchronised()


def _live_jobs() -> Iterator[Finding]:
    now = clock.now()
    enabled = set(Repository.objects.filter(enabled=True).values_list("pk", flat=True))
    claimable = set(queue.claimable(now).values_list("pk", flat=True))
    for job in Job.objects.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING]).order_by("pk"):
        subject = f"{job.kind} {job.job_id}"
        if job.repository_id is not None and job.repository_id not in enabled:
            yield Finding("jobs", subject, "its repository is gone or disabled", _cancel(job))
        elif not _known(job.kind):
            yield Finding("jobs", subject, "no installed app does such work", _cancel(job))
        elif job.state == Job.State.RUNNING:
            yield from _running(job, subject)
        elif job.not_before > now and job.updated_at > now + sweep.SLACK:
            yield Finding("jobs", subject, "waits for a time before the clock was set back", _sweep)
        elif job.pk in claimable and job.not_before < now - WAITS_TOO_LONG:
            text = f"could run since {job.not_before:%Y-%m-%d %H:%M} UTC; is a worker running?"
            yield Finding("jobs", subject, text, _sweep)


def _running(job: Job, subject: str) -> Iterator[Finding]:
    now = clock.now()
    if job.lease_until is None or job.lease_until < now:
        yield Finding("jobs", subject, "its worker vanished", _sweep)
    elif job.lease_until > now + queue.lease() + sweep.SLACK:
        yield Finding("jobs", subject, "its lease dates from before the clock was set back", _sweep)


def _unsynchronised() -> Iterator[Finding]:
    now = clock.now()
    for repo in Repository.objects.filter(enabled=True, deleted_at=None):
        if work.active_jobs(repo.pk).filter(kind=work.SYNC).exists():
            continue
        if repo.next_sync_at is None:
            yield Finding("syncs", repo.name, "no sync is planned", _sync(repo))
        elif repo.next_sync_at < now - OVERDUE:
            text = f"the sync of {repo.next_sync_at:%Y-%m-%d %H:%M} UTC did not happen"
            yield Finding("syncs", repo.name, f"{text}; is beat running?", _sync(repo))


def _known(kind: str) -> bool:
    try:
        handler_of(kind)
    except LookupError:
        return False
    return True


def _sweep() -> str:
    sweep.sweep()
    return "handed to the next free worker, or failed after its last attempt"


def _cancel(job: Job) -> Repair:
    def cancel() -> str:
        error = RepositoryDisabled("The repository was switched off or removed.")
        queue.cancel(Job.objects.filter(pk=job.pk), error=error)
        return "cancelled"

    return cancel


def _sync(repo: Repository) -> Repair:
    def sync() -> str:
        work.queue_sync(repo)
        return "a sync is queued; its end plans the next"

    return sync
