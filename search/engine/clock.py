"""Times the steps of one search."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter_ns


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what it was, how long it took, and what it saw."""

    name: str
    nanoseconds: int
    detail: dict[str, object]


@dataclass(slots=True)
class Clock:
    """The steps so far. Always on: it costs about a microsecond for each."""

    began: int = field(default_factory=perf_counter_ns)
    steps: list[Step] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[dict[str, object]]:
        """Time the body, which may put what it saw into the dictionary that it is given."""
        detail: dict[str, object] = {}
        began = perf_counter_ns()
        try:
            yield detail
        finally:
            self.steps.append(Step(name, perf_counter_ns() - began, detail))

    @property
    def elapsed(self) -> int:
        """Nanoseconds since the search began."""
        return perf_counter_ns() - self.began
