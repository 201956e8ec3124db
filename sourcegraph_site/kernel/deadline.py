"""A point in time after which work must stop.

Passed down as data and polled between chunks of work of at most 8 MiB; nothing here
interrupts code that does not poll.
"""

import time
from dataclasses import dataclass

from sourcegraph_site.kernel.errors import QueryDeadlineExceeded


@dataclass(frozen=True, slots=True)
class Deadline:
    at: float  # of time.monotonic()

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        return cls(time.monotonic() + seconds)

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - time.monotonic())

    @property
    def expired(self) -> bool:
        return time.monotonic() >= self.at

    def sooner(self, seconds: float) -> "Deadline":
        """This deadline, or `seconds` from now if that comes first."""
        return Deadline(min(self.at, time.monotonic() + seconds))

    def check(self) -> None:
        """Raises QueryDeadlineExceeded once the time has run out."""
        if self.expired:
            raise QueryDeadlineExceeded("The request took too long and was stopped.")
