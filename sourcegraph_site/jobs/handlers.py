"""Kind → what does the work. Apps fill the table in `AppConfig.ready()`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sourcegraph_site.jobs.handle import JobHandle

Handler = Callable[["JobHandle"], dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Registered:
    fn: Handler
    time_limit_seconds: int


_handlers: dict[str, Registered] = {}


def register(kind: str, fn: Handler, *, time_limit_seconds: int) -> None:
    """`fn` does jobs of this kind; what it returns is the job's result.

    It may be run twice, stopped half-way, or run after its subject is gone. `enqueue_once`
    may give a single job another time limit.
    """
    _handlers[kind] = Registered(fn, time_limit_seconds)


def handler_of(kind: str) -> Registered:
    """Raises LookupError for a kind that nobody registered."""
    return _handlers[kind]


def unregister(kind: str) -> None:
    """For tests that register a handler of their own."""
    _handlers.pop(kind, None)
