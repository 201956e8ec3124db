"""How a pattern is looked for, decided once for each search.

literal   the pattern is one text: no expression at all, but for lines in doubt
lines     lines that hold one of some texts are found first, the expression sees only those
blocks    the expression sees all of the candidate text
"""

from dataclasses import dataclass
from enum import StrEnum

from search.pattern import CompiledPattern, Shape
from search.pattern.condition import Condition


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
        return {"Strategy": self.strategy.value, **self.pattern.describe()}


def make_plan(pattern: CompiledPattern) -> Plan:
    """Choose the strategy."""
    if pattern.shape is not None:
        return Plan(Strategy.LITERAL, pattern, (pattern.shape,))
    literals = pattern.literals
    if literals is None or (
        # Folding the text itself costs more than the expression does.
        literals.folded and not all(text.isascii() for text in literals.texts)
    ):
        return Plan(Strategy.BLOCKS, pattern)
    shapes = tuple(Shape(text, literals.folded) for text in literals.texts)
    return Plan(Strategy.LINES, pattern, shapes)
