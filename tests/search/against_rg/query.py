"""What is asked of both sides, and what comes back."""

from dataclasses import dataclass

# By path: (line number from 1, line without its newline, spans of the matches in it).
Hits = dict[str, list[tuple[int, bytes, tuple[tuple[int, int], ...]]]]


@dataclass(frozen=True, slots=True)
class Query:
    pattern: str
    ignore_case: bool = False
    fixed_strings: bool = False
    globs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """The query was not run; why."""

    message: str
