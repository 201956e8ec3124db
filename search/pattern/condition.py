"""What a block's trigrams must hold for the pattern to match in it.

A condition may let blocks through that hold no match; it never keeps one out that does. The
codes are those that the index posts: bytes b0 | b1 << 8 | b2 << 16 of the text as it is, and of
its case-folded form, in one dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class All:
    """Every block may match."""


@dataclass(frozen=True, slots=True)
class Trigrams:
    """All of these codes, sorted, at least one."""

    codes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class And:
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of these; none of them when there are none, so nothing can match."""

    conditions: tuple[Condition, ...]


Condition = All | Trigrams | And | Or

ALL = All()
NONE = Or(())


def trigrams_of(literal: bytes) -> Condition:
    """The condition for a text that contains `literal`; ALL below three bytes."""
    codes = {
        literal[i] | literal[i + 1] << 8 | literal[i + 2] << 16 for i in range(len(literal) - 2)
    }
    return Trigrams(tuple(sorted(codes))) if codes else ALL


def conjunction(conditions: Iterable[Condition]) -> Condition:
    codes: set[int] = set()
    others: dict[Condition, None] = {}
    for condition in conditions:
        match condition:
            case All():
                continue
            case Trigrams(codes=more):
                codes.update(more)
            case And(conditions=inner):
                for part in inner:
                    if isinstance(part, Trigrams):
                        codes.update(part.codes)
                    else:
                        others[part] = None
            case Or(conditions=()):
                return NONE
            case _:
                others[condition] = None
    parts: list[Condition] = [Trigrams(tuple(sorted(codes)))] if codes else []
    parts.extend(others)
    if not parts:
        return ALL
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def disjunction(conditions: Iterable[Condition]) -> Condition:
    branches: dict[Condition, None] = {}
    for condition in conditions:
        match condition:
            case All():
                return ALL
            case Or(conditions=inner):
                branches.update(dict.fromkeys(inner))
            case _:
                branches[condition] = None
    if len(branches) == 1:
        return next(iter(branches))
    return Or(tuple(branches))


def describe(condition: Condition) -> str:
    """One line for people, as in `("foo" AND "oob") OR ALL`."""
    match condition:
        case All():
            return "ALL"
        case Trigrams(codes=codes):
            return " ".join(f'"{text_of(code)}"' for code in codes)
        case And(conditions=parts):
            return " AND ".join(f"({describe(part)})" for part in parts)
        case Or(conditions=()):
            return "NONE"
        case Or(conditions=parts):
            return " OR ".join(f"({describe(part)})" for part in parts)


def text_of(code: int) -> str:
    """The three bytes of a trigram, for people."""
    return bytes((code & 255, code >> 8 & 255, code >> 16)).decode("utf-8", "backslashreplace")
