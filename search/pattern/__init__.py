"""From the text of a pattern to everything that a search does with it.

    tree        parse.py        RE2 syntax, line-oriented
    condition   required.py     which blocks can match, by trigrams; may only over-approximate
    literals    required.py     which lines can match
    shape       shape.py        whether it is one text and nothing else
    spans       matcher.py      what matches, exactly

Pure: no Django, no files but the Unicode table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from search.errors import PatternInvalid
from search.pattern.compile import check_size
from search.pattern.condition import Condition
from search.pattern.condition import describe as describe_condition
from search.pattern.matcher import Buffer, Matcher, Spans
from search.pattern.parse import parse_literal, parse_pattern
from search.pattern.required import Literals, required
from search.pattern.shape import Shape, shape_of
from search.pattern.tree import min_length
from sourcegraph_site.kernel.deadline import Deadline

__all__ = ["CompiledPattern", "Literals", "Shape", "Spans", "compile_pattern"]

MAX_PATTERN_BYTES = 8_192
# Each may hold some megabytes of automaton; a page's next page asks for the same one.
_KEPT_PATTERNS = 32


@dataclass(frozen=True, slots=True, eq=False)
class CompiledPattern:
    """One pattern, ready to search with. Immutable, safe to share between threads.

    `condition` holds for the trigrams of every block with a match. The line of every match
    contains at least one of `literals`; None when there are none worth scanning for. The same
    holds for each of `choices`, of which `literals` are the first.
    `shape`: what it looks for, if that is one text, so that no expression is needed.
    """

    source: str
    fixed_strings: bool
    ignore_case: bool
    condition: Condition
    choices: tuple[Literals, ...]
    shape: Shape | None
    matcher: Matcher

    @property
    def literals(self) -> Literals | None:
        return self.choices[0] if self.choices else None

    def spans(
        self,
        text: Buffer,
        start: int = 0,
        stop: int | None = None,
        *,
        limit: int | None = None,
        deadline: Deadline | None = None,
    ) -> Spans:
        """All matches in `text[start:stop]`, whole lines of it; see `Matcher.spans`."""
        return self.matcher.spans(text, start, stop, limit=limit, deadline=deadline)

    def finditer(self, line: bytes) -> list[tuple[int, int]]:
        """All matches in one line without its newline."""
        return self.matcher.finditer(line)

    def describe(self) -> dict[str, object]:
        """The plan, for people and JSON."""
        literals = self.literals
        return {
            "Literal": self.shape is not None,
            "Condition": describe_condition(self.condition),
            "Literals": [text.decode("utf-8", "backslashreplace") for text in literals.texts]
            if literals
            else [],
            "LiteralsFolded": bool(literals and literals.folded),
        }


@lru_cache(maxsize=_KEPT_PATTERNS)
def compile_pattern(pattern: str, *, fixed_strings: bool, ignore_case: bool) -> CompiledPattern:
    """Parse, plan and compile.

    Raises:
        PatternInvalid: with the position of the fault and a way out; see contract 3.1.
    """
    _check_text(pattern)
    parse = parse_literal if fixed_strings else parse_pattern
    tree = parse(pattern, ignore_case=ignore_case)
    if min_length(tree) == 0:
        raise PatternInvalid(
            "This pattern can match the empty string, so it would match everywhere. Make one part "
            "mandatory: x+ instead of x*, or \\bname\\b instead of \\b."
        )
    check_size(tree)
    condition, choices = required(tree)
    return CompiledPattern(
        source=pattern,
        fixed_strings=fixed_strings,
        ignore_case=ignore_case,
        condition=condition,
        choices=choices,
        shape=shape_of(tree),
        matcher=Matcher(tree),
    )


def _check_text(pattern: str) -> None:
    if not pattern:
        raise PatternInvalid("The pattern is empty.")
    try:
        size = len(pattern.encode())
    except UnicodeEncodeError as exc:
        raise PatternInvalid("The pattern is not valid Unicode text.", exc.start) from exc
    if size > MAX_PATTERN_BYTES:
        raise PatternInvalid(f"The pattern has {size} bytes; the most is {MAX_PATTERN_BYTES}.")
    if "\0" in pattern:
        raise PatternInvalid(
            "The pattern holds a NUL; files with a NUL are binary and not searched.",
            pattern.index("\0"),
        )
