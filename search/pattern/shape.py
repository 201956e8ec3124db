"""Patterns that are one text and nothing else, which need no expression to be found."""

from __future__ import annotations

from dataclasses import dataclass

from search.kernel.fold import fold_codepoint
from search.pattern.ranges import count
from search.pattern.tree import Chars, Concat, Node, WordBoundary

# Characters that fold to an ASCII letter: both cases, and KELVIN SIGN and LONG S.
_ORBIT_SIZES = {"k": 3, "s": 3}


@dataclass(frozen=True, slots=True)
class Shape:
    """All matches are occurrences of `text`, leftmost first and not overlapping.

    `folded`: in any case; `text` is then ASCII and in lower case. `word_start`, `word_end`:
    only those with a word boundary there; `text` is then ASCII.
    """

    text: bytes
    folded: bool = False
    word_start: bool = False
    word_end: bool = False


def shape_of(tree: Node) -> Shape | None:
    """The shape of a pattern; None if it is more than one text."""
    parts = list(tree.parts) if isinstance(tree, Concat) else [tree]
    word_start = bool(parts) and _is_boundary(parts[0])
    if word_start:
        parts.pop(0)
    word_end = bool(parts) and _is_boundary(parts[-1])
    if word_end:
        parts.pop()
    for folded, character in ((False, _only), (True, _only_folded)):
        text = [character(part) for part in parts]
        if None in text or not text:
            continue
        joined = "".join(filter(None, text))
        if joined.isascii() or not (folded or word_start or word_end):
            return Shape(joined.encode(), folded, word_start, word_end)
    return None


def _is_boundary(node: Node) -> bool:
    return isinstance(node, WordBoundary) and not node.negated


def _only(node: Node) -> str | None:
    """The one character that a node matches."""
    if not isinstance(node, Chars) or count(node.ranges) != 1:
        return None
    return chr(node.ranges[0][0])


def _only_folded(node: Node) -> str | None:
    """The ASCII character of which a node matches every case."""
    if not isinstance(node, Chars) or not 0 < count(node.ranges) <= 3:
        return None
    codes = [code for low, high in node.ranges for code in range(low, high + 1)]
    (first, *others) = {chr(fold_codepoint(code)) for code in codes}
    if others or not first.isascii():
        return None
    cases = _ORBIT_SIZES.get(first, 2) if first.isalpha() else 1
    return first if len(codes) == cases else None
