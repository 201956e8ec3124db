"""A matcher so plain that it can be checked by reading: backtracking over code points.

Exponential, so for short lines and small patterns only; it stops itself. It takes the tree from
the product's parser (which ripgrep checks) and shares nothing with the product's matching.
"""

from collections.abc import Callable

from search.pattern.tree import (
    Alternate,
    Chars,
    Concat,
    LineEnd,
    LineStart,
    Node,
    Repeat,
    WordBoundary,
)
from search.pattern.unicode import is_word

MAX_STEPS = 200_000

Then = Callable[[int], int | None]


class TooHard(Exception):
    """The pattern needs more steps than a test is worth."""


def find_all(tree: Node, line: bytes) -> list[tuple[int, int]]:
    """Byte spans of the non-overlapping leftmost-first matches in one line."""
    text = line.decode("utf-8", "surrogateescape")
    offsets = [0]
    for char in text:
        offsets.append(offsets[-1] + len(char.encode("utf-8", "surrogateescape")))
    spans, at = [], 0
    while at <= len(text):
        end = _Match(text).run(tree, at, lambda end: end)
        if end is None or end == at:
            at += 1
        else:
            spans.append((offsets[at], offsets[end]))
            at = end
    return spans


class _Match:
    def __init__(self, text: str) -> None:
        self._text = text
        self._steps = 0

    def run(self, node: Node, at: int, then: Then) -> int | None:
        """Where the whole match ends if `node` matches at `at` and `then` goes on from there."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooHard
        match node:
            case Chars(ranges=ranges):
                if at == len(self._text):
                    return None
                code = ord(self._text[at])
                inside = any(low <= code <= high for low, high in ranges)
                return then(at + 1) if inside else None
            case Concat(parts=parts):
                return self._sequence(parts, 0, at, then)
            case Alternate(branches=branches):
                for branch in branches:
                    end = self.run(branch, at, then)
                    if end is not None:
                        return end
                return None
            case Repeat():
                return self._repeat(node, 0, at, then)
            case LineStart():
                return then(at) if at == 0 else None
            case LineEnd():
                return then(at) if at == len(self._text) else None
            case WordBoundary(negated=negated):
                boundary = self._word(at - 1) != self._word(at)
                return then(at) if boundary != negated else None

    def _word(self, at: int) -> bool:
        return 0 <= at < len(self._text) and is_word(ord(self._text[at]))

    def _sequence(self, parts: tuple[Node, ...], index: int, at: int, then: Then) -> int | None:
        if index == len(parts):
            return then(at)
        return self.run(parts[index], at, lambda end: self._sequence(parts, index + 1, end, then))

    def _repeat(self, node: Repeat, done: int, at: int, then: Then) -> int | None:
        def once_more() -> int | None:
            if node.most is not None and done >= node.most:
                return None

            def go_on(end: int) -> int | None:
                # A round that takes nothing ends the loop; it would go on for ever.
                if end == at and done >= node.least:
                    return None
                return self._repeat(node, done + 1, end, then)

            return self.run(node.node, at, go_on)

        if done < node.least:
            return once_more()
        tries: tuple[Callable[[], int | None], ...] = (once_more, lambda: then(at))
        for attempt in tries if node.greedy else reversed(tries):
            end = attempt()
            if end is not None:
                return end
        return None
