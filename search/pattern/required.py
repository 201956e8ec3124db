"""Tree → what every match must hold: trigram condition and literals. Pure.

The published codesearch method: for each node the whole set of texts that it matches, while that
is small, or else the texts that its matches start and end with, and what they must contain in
between. Each bound below only loosens the result; it never keeps a match out.

An analysis is either exact, over the bytes of the text, or folded, over the bytes of its folded
form. A pattern with parts that ignore case gets both, since either alone must hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from search.kernel.fold import fold_codepoint
from search.pattern.condition import (
    ALL,
    All,
    Condition,
    conjunction,
    disjunction,
    trigrams_of,
)
from search.pattern.ranges import Ranges, count
from search.pattern.tree import Alternate, Chars, Concat, Node, Repeat, fold_up

MAX_CLASS = 10  # larger classes are "any character"
MAX_EXACT = 16  # texts in a set that is still multiplied out
MAX_BRANCHES = 64  # texts in a set that comes from alternation
MAX_EDGE = 16  # texts in a set of starts or ends
MAX_LITERAL_BYTES = 64  # of a start or end; longer ones add no selectivity
MAX_LITERALS = 24  # scanned for one after the other
MAX_CHOICES = 4  # sets of literals, of which a search takes the rarest
MIN_LITERAL_BYTES = 2
MAX_COPIES = 8  # of a counted repeat that are looked at
MAX_CONDITION_DEPTH = 16
MAX_CONDITION_CODES = 8_192

Texts = frozenset[bytes]
_EMPTY: Texts = frozenset((b"",))


@dataclass(frozen=True, slots=True)
class Literals:
    """Texts of which the line of every match contains at least one.

    `folded`: they are in folded form, to be looked for in the folded form of the text.
    """

    texts: tuple[bytes, ...]
    folded: bool


@dataclass(frozen=True, slots=True)
class _Info:
    """What is known of a node's matches. `exact` has all of them, or is None."""

    exact: Texts | None
    starts: Texts  # each match starts with one of these; b"" says nothing
    ends: Texts
    condition: Condition = ALL  # of the inside, without what `exact`, `starts`, `ends` imply
    literals: Texts | None = None  # each match contains one of these
    others: tuple[Texts, ...] = ()  # and one of each of these, some of which are `literals`
    depth: int = 0  # of the condition
    codes: int = 0  # in the condition


_ANYTHING = _Info(None, _EMPTY, _EMPTY)
_NOTHING_MORE = _Info(_EMPTY, _EMPTY, _EMPTY)


def required(tree: Node) -> tuple[Condition, tuple[Literals, ...]]:
    """The trigram condition of the blocks, and the literals of the lines, that can match.

    Each of the literals is enough by itself. The first look the most selective; which are, only
    an index knows.
    """
    exact = _analyse(tree, folded=False)
    condition, literals = _condition_of(exact), _literals_of(exact, folded=False)
    if not _ignores_case(tree):
        return condition, literals
    folded = _analyse(tree, folded=True)
    condition = conjunction((condition, _condition_of(folded)))
    if literals and _shortest(literals[0]) >= 3:
        # No folding of the text needed.
        return condition, tuple(each for each in literals if _shortest(each) >= 3)
    return condition, _literals_of(folded, folded=True) or literals


def _shortest(literals: Literals) -> int:
    return min(map(len, literals.texts))


def _ignores_case(tree: Node) -> bool:
    def visit(node: Node, below: list[bool]) -> bool:
        return any(below) or (isinstance(node, Chars) and _is_orbit(node.ranges))

    return fold_up(tree, visit)


def _is_orbit(ranges: Ranges) -> bool:
    """Whether these are several characters that fold to one: a letter without its case."""
    return len(ranges) <= MAX_CLASS and _is_small_orbit(ranges)


@lru_cache(maxsize=2_048)
def _is_small_orbit(ranges: Ranges) -> bool:
    return 1 < count(ranges) <= MAX_CLASS and len(_folded(ranges)) == 1


def _folded(ranges: Ranges) -> set[int]:
    return {fold_codepoint(code) for low, high in ranges for code in range(low, high + 1)}


def _usable(texts: Texts | None, *, folded: bool) -> Literals | None:
    if not texts or min(map(len, texts)) < MIN_LITERAL_BYTES:
        return None
    # A text that holds another one adds nothing.
    kept = [text for text in texts if not any(o in text for o in texts if o != text)]
    return Literals(tuple(sorted(kept)), folded)


def _analyse(tree: Node, *, folded: bool) -> _Info:
    def visit(node: Node, below: list[_Info]) -> _Info:
        match node:
            case Chars(ranges=ranges):
                return _chars(ranges, folded)
            case Concat():
                return _concat(below)
            case Alternate():
                return _alternate(below)
            case Repeat(least=least, most=most):
                return _repeat(below[0], least, most)
        return _NOTHING_MORE

    return fold_up(tree, visit)


def _chars(ranges: Ranges, folded: bool) -> _Info:
    return _few_chars(ranges, folded) if len(ranges) <= 2 * MAX_CLASS else _ANYTHING


@lru_cache(maxsize=2_048)
def _few_chars(ranges: Ranges, folded: bool) -> _Info:
    # Twice the bound before folding: a class of ten letters has twenty without regard to case.
    if count(ranges) > 2 * MAX_CLASS or (not folded and _is_orbit(ranges)):
        return _ANYTHING
    codes = _folded(ranges) if folded else {code for lo, hi in ranges for code in range(lo, hi + 1)}
    if len(codes) > MAX_CLASS:
        return _ANYTHING
    return _exactly(frozenset(chr(code).encode() for code in codes))


def _exactly(texts: Texts) -> _Info:
    return _Info(texts, texts, texts)


def _concat(parts: Sequence[_Info]) -> _Info:
    joined = _NOTHING_MORE
    run: list[bytes] = []
    for part in parts:
        # A run of plain characters is joined at once: one by one would be quadratic.
        if part.exact is not None and len(part.exact) == 1:
            run.extend(part.exact)
            continue
        joined = _after(_after(joined, _run(run)), part)
        run = []
    return _after(joined, _run(run))


def _run(texts: list[bytes]) -> _Info:
    return _exactly(frozenset((b"".join(texts),)))


def _after(left: _Info, right: _Info) -> _Info:
    """`left` followed by `right`."""
    if left.exact == _EMPTY:
        return right
    if right.exact == _EMPTY:
        return left
    if left.exact is not None and right.exact is not None:
        whole = _product(left.exact, right.exact, MAX_EXACT)
        if whole is not None:
            return _exactly(whole)
    # Of a part that is known whole, the start goes on into its neighbour.
    starts = None if left.exact is None else _product(left.exact, right.starts, MAX_EDGE)
    ends = None if right.exact is None else _product(left.ends, right.exact, MAX_EDGE)
    joint = _product(left.ends, right.starts, MAX_BRANCHES)
    left, right = _open(left), _open(right)
    joined = _Info(
        None,
        starts or left.starts,
        ends or right.ends,
        left.condition,
        _better(_better(left.literals, right.literals), joint),
        _several(left.others, right.others, joint),
        max(left.depth, right.depth),
        left.codes,
    )
    joined = _narrowed(joined, right.condition, right.codes)
    return _narrowed(joined, _any_of(joint), _code_count(joint)) if joint else joined


def _alternate(branches: Sequence[_Info]) -> _Info:
    known = [branch.exact for branch in branches if branch.exact is not None]
    if len(known) == len(branches):
        union = frozenset[bytes]().union(*known)
        if len(union) <= MAX_BRANCHES:
            return _exactly(union)
    opened = [_open(branch) for branch in branches]
    codes = sum(branch.codes for branch in opened)
    depth = 1 + max(branch.depth for branch in opened)
    fits = codes <= MAX_CONDITION_CODES and depth <= MAX_CONDITION_DEPTH
    literals = _union_of_literals(opened)
    return _Info(
        None,
        _trimmed(frozenset[bytes]().union(*(branch.starts for branch in opened)), at_start=True),
        _trimmed(frozenset[bytes]().union(*(branch.ends for branch in opened)), at_start=False),
        disjunction(branch.condition for branch in opened) if fits else ALL,
        literals,
        _several((), (), literals),
        depth if fits else 0,
        codes if fits else 0,
    )


def _repeat(inner: _Info, least: int, most: int | None) -> _Info:
    if most == 0:
        return _NOTHING_MORE
    if least == 0:
        if most == 1 and inner.exact is not None and len(inner.exact) < MAX_EXACT:
            return _exactly(inner.exact | _EMPTY)
        return _ANYTHING
    copies = min(least, MAX_COPIES)
    info = _concat([inner] * copies)
    # More copies than these may follow: the match still starts and ends with them.
    return info if copies == least == most else _open(info)


def _open(info: _Info) -> _Info:
    """The same without `exact`: all that it says is put into the other fields."""
    if info.exact is None:
        return info
    return _Info(
        None,
        _trimmed(info.exact, at_start=True),
        _trimmed(info.exact, at_start=False),
        _any_of(info.exact),
        _better(None, info.exact),
        _several((), (), info.exact),
        1,
        _code_count(info.exact),
    )


def _narrowed(info: _Info, condition: Condition, codes: int) -> _Info:
    """`info` with one more condition, unless the whole grows too large."""
    if isinstance(condition, All) or info.codes + codes > MAX_CONDITION_CODES:
        return info
    return replace(
        info, condition=conjunction((info.condition, condition)), codes=info.codes + codes
    )


def _product(left: Texts, right: Texts, most: int) -> Texts | None:
    """Every text of `left` with every one of `right` behind it; None if they are too many."""
    if len(left) * len(right) > most:
        return None
    return frozenset(a + b for a in left for b in right)


def _trimmed(texts: Texts, *, at_start: bool) -> Texts:
    """Starts (or ends) of the texts, as long as their number allows."""
    for size in (MAX_LITERAL_BYTES, 8, 4, 3, 2, 1):
        cut = frozenset(text[:size] if at_start else text[-size:] for text in texts)
        if len(cut) <= MAX_EDGE:
            return cut
    return _EMPTY


def _any_of(texts: Iterable[bytes]) -> Condition:
    return disjunction(trigrams_of(text) for text in texts)


def _code_count(texts: Iterable[bytes]) -> int:
    return sum(max(len(text) - 2, 0) for text in texts)


def _condition_of(info: _Info) -> Condition:
    return info.condition if info.exact is None else _any_of(info.exact)


def _literals_of(info: _Info, *, folded: bool) -> tuple[Literals, ...]:
    info = _open(info)
    best = () if info.literals is None else (info.literals,)
    usable = (_usable(texts, folded=folded) for texts in dict.fromkeys((*best, *info.others)))
    return tuple(literals for literals in usable if literals is not None)[:MAX_CHOICES]


def _union_of_literals(branches: Iterable[_Info]) -> Texts | None:
    union: set[bytes] = set()
    for branch in branches:
        if branch.literals is None:
            return None
        union |= branch.literals
    return frozenset(union) if len(union) <= MAX_LITERALS else None


def _better(left: Texts | None, right: Texts | None) -> Texts | None:
    """The set that leaves fewer lines for its cost: long texts, few of them."""
    if not right or b"" in right or len(right) > MAX_LITERALS:
        return left
    return right if left is None or _worth(right) > _worth(left) else left


def _several(
    left: tuple[Texts, ...], right: tuple[Texts, ...], joint: Texts | None
) -> tuple[Texts, ...]:
    """The sets that are worth most."""
    good = joint is not None and _better(None, joint) is not None and len(min(joint, key=len)) > 1
    sets = dict.fromkeys((*left, *right, *((joint,) if joint and good else ())))
    return tuple(sorted(sets, key=_worth, reverse=True)[:MAX_CHOICES])


def _worth(texts: Texts) -> float:
    # Blanks stand everywhere; beyond eight bytes, length hardly narrows further.
    shortest = min(min(len(text), 8) - 0.75 * text.count(b" ") for text in texts)
    return 4 * shortest - len(texts)
