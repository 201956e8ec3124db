"""How a pattern is looked for, decided once for each search.

literal   the pattern is one text: no expression at all, but for lines in doubt
lines     lines that hold one of some texts are found first, the expression sees only those
blocks    the expression sees all of the candidate text
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from search.index.segment import Segment
from search.pattern import CompiledPattern, Shape
from search.pattern.condition import Condition

# So much rarer must other literals be than those that look best, to be taken instead: blocks say
# little about how often a text occurs in them.
_CLEARLY_RARER = 1.5


class Strategy(StrEnum):
    """See the module docstring."""

    LITERAL = "literal"
    LINES = "lines"
    BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class Plan:
    """`shapes` are what is scanned for: the pattern, or one of them is in every matching line."""

    strategy: Strategy
    pattern: CompiledPattern
    shapes: tuple[Shape, ...] = ()

    @property
    def condition(self) -> Condition:
        return self.pattern.condition

    def describe(self) -> dict[str, object]:
        """The plan for people, JSON-ready."""
        plan = {"Strategy": self.strategy.value, **self.pattern.describe()}
        if self.strategy is Strategy.LINES:
            texts = [shape.text.decode("utf-8", "backslashreplace") for shape in self.shapes]
            plan["Literals"] = texts
        return plan


def make_plan(pattern: CompiledPattern, segments: Sequence[Segment] = ()) -> Plan:
    """Choose the strategy, and which literals to scan for: those that are rare in the segments.

    Raises:
        CorruptIndex: a dictionary that was needed is damaged.
    """
    if pattern.shape is not None:
        return Plan(Strategy.LITERAL, pattern, (pattern.shape,))
    # Folding the text itself costs more than the expression does.
    choices = [
        each
        for each in pattern.choices
        if not each.folded or all(text.isascii() for text in each.texts)
    ]
    if not choices:
        return Plan(Strategy.BLOCKS, pattern)
    literals = choices[0]
    if len(choices) > 1:
        blocks = blocks_at_most([each.texts for each in choices], segments)
        rarest = min(range(len(choices)), key=blocks.__getitem__)
        if blocks[rarest] * _CLEARLY_RARER < blocks[0]:
            literals = choices[rarest]
    shapes = tuple(Shape(text, literals.folded) for text in literals.texts)
    return Plan(Strategy.LINES, pattern, shapes)


def blocks_at_most(sets: Sequence[Sequence[bytes]], segments: Sequence[Segment]) -> list[int]:
    """For each set of texts, in how many blocks one of them can be at most, by their trigrams."""
    texts = [text for each in sets for text in each]
    firsts = np.cumsum([0, *(len(text) - 2 for text in texts)])
    codes = np.array(
        [
            text[i] | text[i + 1] << 8 | text[i + 2] << 16
            for text in texts
            for i in range(len(text) - 2)
        ],
        np.uint32,
    )
    blocks = np.zeros(len(texts), np.int64)
    long = np.array([len(text) > 2 for text in texts])
    for segment in segments:
        if long.any():
            counts = np.minimum.reduceat(segment.cardinalities(codes), firsts[:-1][long])
            blocks[long] += counts
        blocks[~long] += len(segment.block_start) - 1
    ends = np.cumsum([len(each) for each in sets])
    return [int(part.sum()) for part in np.split(blocks, ends[:-1])]
