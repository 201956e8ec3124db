"""When a repository is synchronised next. Pure, except for the jitter."""

import random
from datetime import datetime, timedelta

JITTER = 0.1  # of the interval, so that repositories registered together drift apart
MAX_BACKOFF = timedelta(hours=24)


def next_sync(now: datetime, interval_minutes: int, failures: int = 0) -> datetime:
    """The interval later, doubled for each failure in a row up to a day, plus some jitter.

    An interval longer than the back-off is kept.
    """
    interval = timedelta(minutes=interval_minutes)
    wait = interval * int(2 ** min(failures, 16))
    wait = max(interval, min(wait, MAX_BACKOFF))
    return now + wait + wait * JITTER * random.random()
