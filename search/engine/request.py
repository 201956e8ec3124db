"""What the engine is asked: everything that decides an answer at one generation."""

from dataclasses import dataclass
from typing import Literal

from search.globs import PathFilter
from search.pattern import CompiledPattern

Output = Literal["content", "files"]

MATCH_CAP = 10_000


@dataclass(frozen=True, slots=True)
class Counts:
    """How much was found: files, lines with a match, matches."""

    files: int = 0
    lines: int = 0
    matches: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.files + other.files, self.lines + other.lines, self.matches + other.matches
        )


@dataclass(frozen=True, slots=True)
class Counted:
    """How far the whole result has been counted, so that no page counts it again.

    `until` is the last path that is counted in full, empty before the first, None when counting
    is over: at the end of the result, or, when `capped`, at `MATCH_CAP` matches.
    """

    counts: Counts
    until: bytes | None
    capped: bool = False


NOTHING_COUNTED = Counted(Counts(), until=b"")


@dataclass(frozen=True, slots=True)
class Position:
    """Between two results: behind this line of this path; line None is behind the whole path."""

    path: bytes
    line: int | None
    counted: Counted


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """One search. `context` 0 to 10 lines, `max_files` 1 to 100, `max_lines` 1 to 1,000.

    `language` is a name of `languages.py`, in its spelling. `after` is the `next` of an answer
    to the same request at the same commit.
    """

    pattern: CompiledPattern
    path_filter: PathFilter
    output: Output = "content"
    context: int = 0
    max_files: int = 100
    max_lines: int = 1000
    after: Position | None = None
    language: str | None = None
