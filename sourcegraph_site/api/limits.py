"""How often anonymous callers may ask (contract 1.1, decisions 6 and 37).

Fixed one-minute windows. The count lives in the database, so that it holds across processes,
but asking it for every request would cost more than a small answer: each process leases
permits in blocks of at most a twentieth of the limit and counts down in memory. A client that
reaches several processes may therefore be refused up to one block per process early.
"""

import threading
import time

from django.conf import settings
from django.db import connection

from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import RateLimited

BLOCK = 50
MAX_BUCKETS = 2048
KEY_PREPARATIONS = 10

_lock = threading.Lock()
_leased: dict[str, tuple[int, int]] = {}  # bucket → (minute, permits left)


def anonymous(address: str) -> None:
    """Spend one permit of this address, and one of all anonymous callers together.

    Raises:
        RateLimited: either is used up for this minute.
    """
    for bucket, limit in (
        (f"client:{address}", settings.ANONYMOUS_PER_CLIENT),
        ("total", settings.ANONYMOUS_TOTAL),
    ):
        if limit:
            spend(bucket, limit)


def preparation(actor: Actor) -> None:
    """Spend one of the ten preparations a minute that a personal key has.

    Raises:
        RateLimited: they are used up.
    """
    if actor.key_id is not None:
        spend(f"prepare:{actor.key_id}", KEY_PREPARATIONS)


def spend(bucket: str, limit: int, *, block: int = BLOCK) -> None:
    """Take one permit of `limit` a minute; permits are leased `block` at a time."""
    minute = int(time.time() // 60)
    with _lock:
        if len(_leased) > MAX_BUCKETS and bucket not in _leased:
            _forget_old(minute)
            if len(_leased) > MAX_BUCKETS:
                raise _limited()
        then, left = _leased.get(bucket, (minute, 0))
        if then == minute and left > 0:
            _leased[bucket] = (minute, left - 1)
            return
        wanted = max(1, min(block, limit // 20))
        over = _count(bucket, minute, wanted) - limit
        granted = wanted - max(0, over)
        if granted <= 0:
            _leased[bucket] = (minute, 0)
            raise _limited()
        _leased[bucket] = (minute, granted - 1)


def _limited() -> RateLimited:
    return RateLimited("Too many requests; try again in a minute.", retry_after=60)


def _forget_old(minute: int) -> None:
    for bucket in [b for b, (then, _) in _leased.items() if then != minute]:
        del _leased[bucket]


def _count(bucket: str, minute: int, permits: int) -> int:
    """Add to the shared count and return it, in one atomic statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_ratecount (bucket, minute, n) VALUES (%s, %s, %s) "
            "ON CONFLICT (bucket, minute) DO UPDATE SET n = accounts_ratecount.n + excluded.n "
            "RETURNING n",
            [bucket, minute, permits],
        )
        return int(cursor.fetchone()[0])


def reset() -> None:
    """Forget leased permits; for tests."""
    with _lock:
        _leased.clear()
