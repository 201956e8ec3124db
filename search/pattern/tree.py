"""The tree of a parsed pattern, and the one way to walk it.

Groups and flags are gone: they are resolved while parsing. Every consuming node matches whole
code points and never a newline, so a match never leaves its line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from search.pattern.ranges import Ranges

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Chars:
    """One code point out of `ranges`, which hold neither newline nor surrogates.

    Empty ranges match nothing at all.
    """

    ranges: Ranges


@dataclass(frozen=True, slots=True, eq=False)
class Concat:
    """All parts in order; no parts match the empty string."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Alternate:
    """The first branch that leads to a match wins (leftmost-first, as in Perl)."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    node: Node
    least: int
    most: int | None  # None: no upper bound
    greedy: bool
    position: int  # of the operator in the pattern


@dataclass(frozen=True, slots=True, eq=False)
class LineStart:
    pass


@dataclass(frozen=True, slots=True, eq=False)
class LineEnd:
    pass


@dataclass(frozen=True, slots=True, eq=False)
class WordBoundary:
    negated: bool


Node = Chars | Concat | Alternate | Repeat | LineStart | LineEnd | WordBoundary

EMPTY = Concat(())


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case Concat(parts=nodes) | Alternate(branches=nodes):
            return nodes
        case Repeat(node=inner):
            return (inner,)
    return ()


def fold_up(root: Node, visit: Callable[[Node, list[T]], T]) -> T:
    """Compute a value bottom-up; `visit` gets a node and the values of its children.

    Without recursion: a pattern of 8 KiB can nest deeper than Python's stack.
    """
    done: list[T] = []
    todo: list[tuple[Node, bool]] = [(root, False)]
    while todo:
        node, ready = todo.pop()
        below = children(node)
        if not below:
            done.append(visit(node, []))
        elif not ready:
            todo.append((node, True))
            todo.extend((child, False) for child in reversed(below))
        else:
            first = len(done) - len(below)
            values = done[first:]
            del done[first:]
            done.append(visit(node, values))
    return done.pop()


def min_length(root: Node) -> int | None:
    """Fewest code points of a match, taking every assertion as true; None if nothing matches."""

    def visit(node: Node, below: list[int | None]) -> int | None:
        match node:
            case Chars(ranges=ranges):
                return 1 if ranges else None
            case Concat():
                known = [length for length in below if length is not None]
                return sum(known) if len(known) == len(below) else None
            case Alternate():
                return min((length for length in below if length is not None), default=None)
            case Repeat(least=least):
                if least == 0:
                    return 0
                return None if below[0] is None else least * below[0]
        return 0

    return fold_up(root, visit)


def has_word_boundary(root: Node) -> bool:
    return fold_up(root, lambda node, below: isinstance(node, WordBoundary) or any(below))
