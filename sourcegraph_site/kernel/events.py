"""Typed announcements from lower apps to higher ones.

`repos` announces that a sync has finished; `search` subscribed in `AppConfig.ready()`.
A subscriber may do one thing: enqueue a job. It runs in the announcer's transaction.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RepositorySynced:
    """The eligible versions of a repository were recomputed; `changed` if they differ."""

    repository_id: int
    changed: bool


@dataclass(frozen=True, slots=True)
class RepositoryRemoved:
    """A repository was purged; its name and id are gone."""

    repository_id: int
    storage_key: str


_subscribers: dict[type, list[Callable[[Any], None]]] = defaultdict(list)


def subscribe(event: type, handler: Callable[[Any], None]) -> None:
    """Register once; a second registration of the same handler changes nothing."""
    if handler not in _subscribers[event]:
        _subscribers[event].append(handler)


def announce(event: Any) -> None:
    for handler in _subscribers[type(event)]:
        handler(event)
