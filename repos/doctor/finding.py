from collections.abc import Callable
from dataclasses import dataclass

# Does what it can and says what it did. Raises AppError or OSError.
Repair = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be.

    `area` is one word (`jobs`, `mirror`, …), `subject` the repository, job or directory.
    Without `repair` a person has to act; the text says how.
    """

    area: str
    subject: str
    text: str
    repair: Repair | None = None
