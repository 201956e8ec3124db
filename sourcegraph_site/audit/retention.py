"""How long the audit log reaches back."""

from datetime import timedelta

from sourcegraph_site.audit.models import AuditEvent
from sourcegraph_site.kernel import clock

KEPT_FOR = timedelta(days=365)
MAX_PER_PASS = 10_000


def expired() -> int:
    """How many events are older than they are kept."""
    return AuditEvent.objects.filter(at__lt=clock.now() - KEPT_FOR).count()


def expire() -> int:
    """Delete the oldest of them, at most 10,000 a pass; how many went."""
    old = AuditEvent.objects.filter(at__lt=clock.now() - KEPT_FOR).order_by("at")
    keys = list(old.values_list("pk", flat=True)[:MAX_PER_PASS])
    for start in range(0, len(keys), 500):
        AuditEvent.objects.filter(pk__in=keys[start : start + 500]).delete()
    return len(keys)
