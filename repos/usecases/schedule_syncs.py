"""The tick that queues what is due."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Q

from repos import work
from repos.models import Repository
from repos.scheduling import next_sync
from sourcegraph_site.kernel import clock

EVERY_SECONDS = 20
MAX_PER_TICK = 500
SLACK = timedelta(seconds=30)


def schedule_due_syncs() -> int:
    """Queue a sync of each repository whose time has come; how many were queued.

    Whoever moves `next_sync_at` on queues the job, so two ticks at once queue it once. A
    repository whose sync is queued or running is only moved on.
    """
    now = clock.now()
    # One that began in the future began before the clock was set back.
    due = Repository.objects.filter(
        Q(next_sync_at__lte=now) | Q(last_sync_started_at__gt=now + SLACK),
        enabled=True,
        deleted_at=None,
    )
    queued = 0
    for repo in due.order_by("next_sync_at")[:MAX_PER_TICK]:
        later = next_sync(now, repo.sync_interval_minutes, repo.consecutive_failures)
        with transaction.atomic():
            mine = Repository.objects.filter(pk=repo.pk, next_sync_at=repo.next_sync_at).update(
                next_sync_at=later
            )
            if mine and not work.active_jobs(repo.pk).filter(kind=work.SYNC).exists():
                queued += work.queue_sync(repo)[1]
    return queued
