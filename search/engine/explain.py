"""What a search planned and what each step of it cost, for `Explain: true` and the command line."""

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
    """Times the steps of one search. Always on: it costs about a microsecond for each."""

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


def explanation(plan: dict[str, object], steps: tuple[Step, ...]) -> dict[str, object]:
    """Plan and steps as JSON-ready data; durations in nanoseconds."""
    rows = [{"Step": step.name, "Duration": step.nanoseconds, **step.detail} for step in steps]
    return {"Plan": plan, "Steps": rows}
