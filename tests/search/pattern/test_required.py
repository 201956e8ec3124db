"""The plan never keeps a match out, and narrows where it can."""

import pytest
from hypothesis import assume, example, given, settings

from search.errors import PatternInvalid
from search.kernel.fold import fold_bytes
from search.pattern import CompiledPattern, compile_pattern
from search.pattern.condition import All, And, Condition, Or, Trigrams, describe
from search.pattern.required import MAX_CONDITION_CODES
from tests.search.pattern import strategies


def compiled(pattern: str, ignore_case: bool = False) -> CompiledPattern:
    return compile_pattern(pattern, fixed_strings=False, ignore_case=ignore_case)


def posted(text: bytes) -> set[int]:
    """The trigrams that a block of this text posts: of its bytes and of their folded form."""
    forms = (text, fold_bytes(text))
    grams = {form[i : i + 3] for form in forms for i in range(len(form) - 2)}
    return {int.from_bytes(gram, "little") for gram in grams if b"\n" not in gram}


def holds(condition: Condition, codes: set[int]) -> bool:
    match condition:
        case All():
            return True
        case Trigrams(codes=needed):
            return codes.issuperset(needed)
        case And(conditions=parts):
            return all(holds(part, codes) for part in parts)
        case Or(conditions=parts):
            return any(holds(part, codes) for part in parts)


@settings(max_examples=300, deadline=None)
@given(strategies.patterns, strategies.texts)
@example("e.x|ex", b"e-x")
@example(r"\d\d\d000", b"153.230000")
@example("(ab){2,}", b"abab")
@example("(?i:σς)ab", "Σσab".encode())
@example("kk", "K\u212a".encode())
def test_no_matching_line_is_kept_out(pattern: str, text: bytes) -> None:
    for ignore_case in (False, True):
        try:
            plan = compiled(pattern, ignore_case)
        except PatternInvalid:
            assume(False)
        for line in text.split(b"\n"):
            if not plan.finditer(line):
                continue
            assert holds(plan.condition, posted(text)), describe(plan.condition)
            for literals in plan.choices:
                searched = fold_bytes(line) if literals.folded else line
                assert any(literal in searched for literal in literals.texts)


@pytest.mark.parametrize(
    ("pattern", "ignore_case", "literals", "folded"),
    [
        ("mutex_lock", True, (b"mutex_lock",), True),
        (r"\bName\b", False, (b"Name",), False),
        (r"foo\s+bar_baz", False, (b"bar_baz",), False),
        ("foo|bar", False, (b"bar", b"foo"), False),
        ("(foo){2,}", False, (b"foofoo",), False),
        (r"(?:foo|foobar)\d", False, (b"foo",), False),
        (r"\w+ = \w+;", False, (b" = ",), False),
        ("(?i)x_1234", False, (b"_1234",), False),
        ("[fF]oo", False, (b"foo",), True),
        ("STRASSE|Straße", True, ("straße".encode(), b"strasse"), True),
        ("\u212aelvin", True, (b"kelvin",), True),
    ],
)
def test_literals_are_the_long_mandatory_texts(
    pattern: str, ignore_case: bool, literals: tuple[bytes, ...], folded: bool
) -> None:
    found = compiled(pattern, ignore_case).literals
    assert found is not None
    assert set(found.texts) == set(literals)
    assert found.folded is folded


@pytest.mark.parametrize("pattern", [r"\w+", ".", "(foo)?x", "[a-z]+", "foo|.", r"\d{3}"])
def test_without_a_mandatory_text_every_line_stays(pattern: str) -> None:
    assert compiled(pattern).literals is None
    assert compiled(pattern).condition == All()


def test_branches_become_alternatives_and_neighbours_a_conjunction() -> None:
    plan = compiled(r"foo.*barn|[xy]abc")
    block = posted(b"foo barn")
    assert holds(plan.condition, block)
    assert holds(plan.condition, posted(b"yabc"))
    assert not holds(plan.condition, posted(b"foo"))
    assert not holds(plan.condition, posted(b"zabc"))


def test_a_pattern_that_can_never_match_lets_nothing_through() -> None:
    plan = compiled("a[^\\x00-\\x{10FFFF}]b")
    assert plan.condition == Or(())
    assert plan.finditer(b"ab") == []


@pytest.mark.parametrize(
    ("pattern", "fixed", "literal"),
    [("foo", False, True), ("f.o", False, False), ("f.o", True, True), (r"f\.o", False, True)],
)
def test_one_text_has_a_shape_and_a_choice_has_none(
    pattern: str, fixed: bool, literal: bool
) -> None:
    plan = compile_pattern(pattern, fixed_strings=fixed, ignore_case=False)
    assert (plan.shape is not None) is literal


def test_a_thousand_branches_stay_selective_and_bounded() -> None:
    plan = compiled("|".join(f"word{n}" for n in range(1_000)))
    assert holds(plan.condition, posted(b"a word777 b"))
    assert not holds(plan.condition, posted(b"a wor d"))
    assert codes_in(plan.condition) <= MAX_CONDITION_CODES


def codes_in(condition: Condition) -> int:
    match condition:
        case Trigrams(codes=codes):
            return len(codes)
        case And(conditions=parts) | Or(conditions=parts):
            return sum(map(codes_in, parts))
    return 0
