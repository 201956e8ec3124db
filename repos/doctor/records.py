"""Rows that housekeeping should have removed; they say that it does not run."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet

from repos import idempotency, retained
from repos.doctor.finding import Finding
from repos.models import Receipt, ResolvedRef, Version
from sourcegraph_site.audit import retention
from sourcegraph_site.audit.models import AuditEvent
from sourcegraph_site.jobs import sweep
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock

GRACE = timedelta(hours=1)  # housekeeping comes every few minutes


def examine() -> Iterator[Finding]:
    now = clock.now()
    before = now - GRACE

    def release() -> int:
        return retained.expire(clock.now())

    overdue: list[tuple[str, QuerySet[Any], Callable[[], object]]] = [
        (
            "receipts",
            Receipt.objects.filter(created_at__lte=before - idempotency.VALID_FOR),
            idempotency.expire,
        ),
        (
            "promised commits",
            ResolvedRef.objects.filter(resolved_at__lte=before - retained.PROMISED_FOR),
            release,
        ),
        ("retained commits", Version.objects.filter(retained_until__lte=before), release),
        (
            "failed jobs",
            Job.objects.filter(state=Job.State.FAILED, finished_at__lt=before - sweep.FAILURES_FOR),
            sweep.expire,
        ),
        (
            "audit events",
            AuditEvent.objects.filter(at__lt=before - retention.KEPT_FOR),
            retention.expire,
        ),
    ]
    for name, rows, expire in overdue:
        count = rows.count()
        if count:
            text = f"{count:,} are kept beyond their time; is beat running?"
            yield Finding("records", name, text, _expiry(rows, expire))


def _expiry(rows: QuerySet[Any], expire: Callable[[], object]) -> Callable[[], str]:
    def run() -> str:
        left = rows.count()
        while left:
            expire()
            before, left = left, rows.count()
            if left >= before:
                return f"{left:,} could not be removed"
        return "removed"

    return run
