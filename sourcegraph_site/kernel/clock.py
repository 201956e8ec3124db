"""The one source of time for rules; tests freeze it."""

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)
