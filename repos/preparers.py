"""Who can prepare anything at all: whether a connection is offered the operation.

A hint for listings, kept for a minute; the right itself is `access.can_prepare`, per call.
"""

import time

from repos.models import RepositoryManager
from sourcegraph_site.kernel.actor import Actor

FRESH_SECONDS = 60.0
MAX_KEPT = 4096

_kept: dict[int, tuple[float, bool]] = {}


def can_prepare_something(actor: Actor) -> bool:
    """Administrators and the service can; others if they manage at least one repository."""
    if not actor.signed_in or actor.no_prepare:
        return False
    if actor.unrestricted or actor.site_admin:
        return True
    return actor.user_id is not None and _manages_something(actor.user_id)


def _manages_something(user_id: int) -> bool:
    then, answer = _kept.get(user_id, (0.0, False))
    now = time.monotonic()
    if not then or now - then >= FRESH_SECONDS:
        if len(_kept) >= MAX_KEPT:
            _kept.clear()
        answer = RepositoryManager.objects.filter(user_id=user_id).exists()
        _kept[user_id] = (now, answer)
    return answer


def forget() -> None:
    """Ask again at the next question; for tests."""
    _kept.clear()
