"""Repairs what crashes leave behind: lost bells, vanished workers, old rows."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock

KEPT_AUTOMATIC = 32  # per repository
KEPT_OTHERS = timedelta(hours=24)
KEPT_FAILURES = 50  # per repository
FAILURES_FOR = timedelta(days=30)
SLACK = timedelta(seconds=30)  # clocks of two machines differ by less


def every_seconds() -> float:
    """Often enough that a vanished worker's job is taken over within a minute."""
    return max(1.0, min(10.0, settings.JOB_LEASE_SECONDS / 4))


def sweep() -> None:
    """Fail what was tried often enough; ring for whatever could run now and may have no bell."""
    now = clock.now()
    settle_clock(now)
    for job in Job.objects.filter(state=Job.State.RUNNING, lease_until__lt=now):
        queue.give_up(job, now)
    waiting = queue.claimable(now)[: settings.JOB_PROCESSES].count()
    # Bells of the sweep lapse, or a long busy hour would pile them up.
    queue.ring(waiting, expires=3 * every_seconds())


def settle_clock(now: datetime) -> int:
    """Bring jobs back to the present after the clock was set back; how many there were.

    A worker that lives renews its lease within a quarter of it, so a lease that ends later
    than one from now was given before the step, perhaps to a worker that is gone: it gets one
    lease more. A queued job that was last touched in the future would wait for that moment.
    """
    running = Job.objects.filter(
        state=Job.State.RUNNING, lease_until__gt=now + queue.lease() + SLACK
    ).update(lease_until=now + queue.lease(), updated_at=now)
    queued = Job.objects.filter(
        state=Job.State.QUEUED, not_before__gt=now, updated_at__gt=now + SLACK
    ).update(not_before=now, updated_at=now)
    return running + queued


def expire() -> None:
    """Keep the history short: the newest 32 automatic jobs of a repository, others for a
    day, failures for 30 days but at most 50 of a repository."""
    now = clock.now()
    failed = Job.objects.filter(state=Job.State.FAILED)
    good = Job.objects.filter(state__in=[Job.State.SUCCEEDED, Job.State.CANCELLED])
    automatic = Q(source=Job.Source.AUTOMATIC, repository_id__isnull=False)
    failed.filter(finished_at__lt=now - FAILURES_FOR).delete()
    _beyond(failed, KEPT_FAILURES)
    good.exclude(automatic).filter(finished_at__lt=now - KEPT_OTHERS).delete()
    _beyond(good.filter(automatic), KEPT_AUTOMATIC)


def _beyond(jobs: QuerySet[Job], keep: int) -> None:
    rank = Window(
        RowNumber(), partition_by=[F("repository_id")], order_by=[F("finished_at").desc(), "-pk"]
    )
    old = jobs.annotate(rank=rank).filter(rank__gt=keep).values_list("pk", flat=True)
    # Read first: SQLite and PostgreSQL differ in what a DELETE may select from itself.
    Job.objects.filter(pk__in=list(old[:1000])).delete()
