"""Tree → google-re2 expression on bytes, line-oriented, with ripgrep's Unicode classes.

Every class is spelled out as ranges without surrogates, because RE2 widens `.` and its own
classes to byte sequences that are not UTF-8 and takes other Unicode tables. Folding is spelled out
too. What RE2 keeps is the search itself: linear, leftmost-first.
"""

from functools import lru_cache
from typing import Any

import re2
from re2 import _re2

from search.errors import PatternInvalid
from search.pattern.ranges import Ranges, difference, intersection
from search.pattern.tree import (
    Alternate,
    Chars,
    Concat,
    LineEnd,
    LineStart,
    Node,
    Repeat,
    WordBoundary,
    fold_up,
)
from search.pattern.unicode import perl_class

# The expanded expression may take this much, at four bytes for each instruction of its automaton.
MAX_EXPANDED_BYTES = 1 << 20
_BYTES_PER_INSTRUCTION = 4
# RE2 gives two thirds to the programs and one third to the cache of automaton states.
_MAX_MEMORY_BYTES = 32 << 20

_ASCII: Ranges = ((0x00, 0x7F),)
_UNDERSCORE = 0x5F


def check_size(tree: Node, position: int = 0) -> None:
    """Raises PatternInvalid if the counts and classes unfold to more than MAX_EXPANDED_BYTES."""

    def visit(node: Node, below: list[int]) -> int:
        match node:
            case Chars(ranges=ranges):
                # Measured against RE2: two byte ranges per range, and a dozen for a wide one.
                wide = bool(ranges) and ranges[-1][1] >= 0x80
                size = 2 * len(ranges) + 12 if wide else 1
            case Repeat(least=least, most=most):
                size = below[0] * max(least if most is None else most, 1) + 1
            case _:
                size = 1 + sum(below)
        if size * _BYTES_PER_INSTRUCTION > MAX_EXPANDED_BYTES:
            at = node.position if isinstance(node, Repeat) else position
            raise PatternInvalid(
                "The pattern is too large once its counts and classes are unfolded (over 1 MiB). "
                "Use smaller counts, * or +, or ASCII classes such as [0-9A-Za-z_].",
                at,
            )
        return size

    fold_up(tree, visit)


def expression(tree: Node, *, marked: bool = False) -> bytes:
    """The expression for RE2; with `marked`, for text in the form of `boundary.mark`."""
    chars = _marked_chars if marked else _plain_chars

    def visit(node: Node, below: list[str]) -> str:
        match node:
            case Chars(ranges=ranges):
                return chars(ranges)
            case Concat():
                return "".join(below)
            case Alternate():
                return "(?:" + "|".join(below) + ")"
            case Repeat(least=least, most=most, greedy=greedy):
                return f"(?:{below[0]}){_counts(least, most)}{'' if greedy else '?'}"
            case LineStart():
                return "(?m:^)"
            case LineEnd():
                return "(?m:$)"
            case WordBoundary(negated=negated):
                return "\\B" if negated else "\\b"

    return fold_up(tree, visit).encode()


def _counts(least: int, most: int | None) -> str:
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
    return f"{{{least}{'' if most == least else ',' if most is None else f',{most}'}}}"


@lru_cache(maxsize=256)
def _plain_chars(ranges: Ranges) -> str:
    if not ranges:
        return "[^\\x00-\\x{10FFFF}]"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _escaped(ranges[0][0])
    return "[" + "".join(_range(low, high) for low, high in ranges) + "]"


@lru_cache(maxsize=256)
def _marked_chars(ranges: Ranges) -> str:
    """One character in marked text; see `boundary.py` for the code."""
    single = difference(intersection(ranges, _ASCII), ((_UNDERSCORE, _UNDERSCORE),))
    wide = difference(ranges, _ASCII)
    word = intersection(wide, perl_class("w"))
    plain = difference(wide, word)
    forms = []
    if single or plain:
        forms.append(_plain_chars(tuple(sorted(single + plain))))
    if intersection(ranges, ((_UNDERSCORE, _UNDERSCORE),)):
        forms.append("_\u00ff\u00ff_")
    if word:
        forms.append(f"_{_plain_chars(word)}_")
    return f"(?:{'|'.join(forms)})" if forms else _plain_chars(())


def _range(low: int, high: int) -> str:
    return _escaped(low) if low == high else f"{_escaped(low)}-{_escaped(high)}"


def _escaped(code: int) -> str:
    char = chr(code)
    return char if char.isascii() and char.isalnum() else f"\\x{{{code:x}}}"


def compile_expression(source: bytes) -> Any:
    """RE2's own object, whose `Match(anchor, text, start, end)` returns [(start, end)].

    Raises:
        PatternInvalid: RE2 finds it too large; everything else was refused before.
    """
    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    options.max_mem = _MAX_MEMORY_BYTES
    compiled = _re2.RE2(source, options)
    if not compiled.ok():
        raise PatternInvalid(
            "The pattern is too large for the engine. Use smaller counts, or split the search."
        )
    return compiled
