"""What is refused for its size, and what large patterns and texts may cost."""

import random

import pytest

from search.errors import PatternInvalid
from search.pattern import MAX_PATTERN_BYTES, compile_pattern
from sourcegraph_site.kernel.deadline import Deadline


def refused(pattern: str, fixed: bool = False) -> PatternInvalid:
    with pytest.raises(PatternInvalid) as caught:
        compile_pattern(pattern, fixed_strings=fixed, ignore_case=False)
    return caught.value


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize(
    ("pattern", "position", "part"),
    [
        ("", 0, "empty"),
        ("é\0", 1, "NUL"),
        ("é" * (MAX_PATTERN_BYTES // 2 + 1), 0, "8192"),
        ("a\ud800", 1, "Unicode"),
        ("é\nb", 1, "newline"),
    ],
)
def test_text_that_is_no_pattern_is_refused(
    pattern: str, position: int, part: str, fixed: bool
) -> None:
    error = refused(pattern, fixed)
    assert (error.code, error.status, error.position) == ("INVALID_PATTERN", 400, position)
    assert part in error.message


def test_the_longest_pattern_is_taken() -> None:
    text = "ab" * (MAX_PATTERN_BYTES // 2)
    for fixed in (False, True):
        pattern = compile_pattern(text, fixed_strings=fixed, ignore_case=fixed)
        assert pattern.finditer(f"x{text}x".encode()) == [(1, 1 + len(text))]


def test_deep_nesting_is_taken_up_to_its_bound() -> None:
    deepest = "(" * 250 + "a" + ")" * 250
    pattern = compile_pattern(deepest, fixed_strings=False, ignore_case=False)
    assert pattern.finditer(b"ba") == [(1, 2)]
    assert refused(f"({deepest})").position == 250
    nested = "(?:b|" * 250 + "a" + ")+" * 250
    assert compile_pattern(nested, fixed_strings=False, ignore_case=False).finditer(b"ba")


@pytest.mark.parametrize(
    "pattern", [r"\w{1000}", r"(?:[a-z]\pL){600}", r"\w" * 4_000, "(?:.{100}){10}" * 60]
)
def test_patterns_that_unfold_too_far_are_refused(pattern: str) -> None:
    assert "too large" in refused(pattern).message


def test_large_but_bearable_patterns_are_taken() -> None:
    for pattern in (r"\w{1,100}=", "x.{1000}", "|".join(f"w{n}" for n in range(1_000))):
        compile_pattern(pattern, fixed_strings=False, ignore_case=True)


# Automata with so many states that RE2 gives up building them.
EXPLODING = "[ab].{0,500}d"


@pytest.mark.parametrize("line_length", [70, 1 << 21])
def test_an_exploding_automaton_is_given_up_at_the_deadline(line_length: int) -> None:
    letters = random.Random(1).choices(b"abc", k=2 << 20)
    letters[line_length::line_length] = b"\n" * len(letters[line_length::line_length])
    pattern = compile_pattern(EXPLODING, fixed_strings=False, ignore_case=False)
    assert not pattern.spans(bytes(letters), deadline=Deadline.after(0.05)).complete


def test_matches_that_each_read_a_long_line_are_given_up_at_the_deadline() -> None:
    pattern = compile_pattern("a.*b|a", fixed_strings=False, ignore_case=False)
    spans = pattern.spans(b"a" * (2 << 20), deadline=Deadline.after(0.05))
    assert not spans.complete
    assert spans.starts.tolist() == list(range(len(spans.starts)))


def test_a_deadline_does_not_change_the_answer() -> None:
    text = ("naïve key\n" + "x" * 30 + "\n\n" + "key" * 5_000 + "\nkey").encode() * 9
    for source in ("key", r"\bkey\b", r"k\w+y$"):
        pattern = compile_pattern(source, fixed_strings=False, ignore_case=False)
        slow, fast = pattern.spans(text), pattern.spans(text, deadline=Deadline.after(600))
        assert fast.complete
        assert fast.starts.tolist() == slow.starts.tolist()
        assert fast.ends.tolist() == slow.ends.tolist()


def test_an_expired_deadline_gives_nothing_and_says_so() -> None:
    pattern = compile_pattern("key", fixed_strings=False, ignore_case=False)
    spans = pattern.spans(b"key", deadline=Deadline.after(-1))
    assert (spans.complete, len(spans.starts)) == (False, 0)
