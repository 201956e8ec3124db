"""How a pattern is looked for, decided once for each search.

literal   every occurrence of one text is a match: no expression at all
lines     lines that hold one of some texts are found first, the expression sees only those
blocks    the expression sees all of the candidate text
"""

from dataclasses import dataclass
from enum import StrEnum

from search.pattern import CompiledPattern
from search.pattern.condition import Condition


class Strategy(StrEnum):
    """See the module docstring."""

    LITERAL = "literal"
    LINES = "lines"
    BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class Plan:
    """`texts` are what is scanned for: the literal, or one of them is in every matching line.

    `folded`: the texts are case-folded ASCII and stand for themselves in any case.
    """

    strategy: Strategy
    condition: Condition
    texts: tuple[bytes, ...] = ()
    folded: bool = False

    def describe(self, pattern: CompiledPattern) -> dict[str, object]:
        """The plan for people, JSON-ready."""
        return {"Strategy": self.strategy.value, **pattern.describe()}


def make_plan(pattern: CompiledPattern) -> Plan:
    """Choose the strategy."""
    literals = pattern.literals
    if literals is None:
        return Plan(Strategy.BLOCKS, pattern.condition)
    if pattern.is_literal and not literals.folded:
        return Plan(Strategy.LITERAL, pattern.condition, literals.texts)
    if literals.folded and not all(text.isascii() for text in literals.texts):
        # Folding the text itself costs more than the expression does.
        return Plan(Strategy.BLOCKS, pattern.condition)
    return Plan(Strategy.LINES, pattern.condition, literals.texts, literals.folded)
