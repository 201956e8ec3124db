"""The matcher finds what a backtracking matcher over code points finds."""

import pytest
from hypothesis import assume, example, given, settings

from search.errors import PatternInvalid
from search.pattern import CompiledPattern, compile_pattern
from search.pattern.parse import parse_pattern
from tests.search.pattern import strategies
from tests.search.pattern.oracle import TooHard, find_all

examples = settings(max_examples=150, deadline=None)
few_examples = settings(max_examples=50, deadline=None)


def compiled(pattern: str, ignore_case: bool = False) -> CompiledPattern:
    try:
        return compile_pattern(pattern, fixed_strings=False, ignore_case=ignore_case)
    except PatternInvalid:
        assume(False)
        raise


def expected(pattern: str, ignore_case: bool, line: bytes) -> list[tuple[int, int]]:
    try:
        return find_all(parse_pattern(pattern, ignore_case=ignore_case), line)
    except TooHard:
        assume(False)
        raise


@examples
@given(strategies.patterns, strategies.lines)
@example(r"\b_", "é_".encode())
@example(r"_\B", "_ÿÿ_".encode())
@example(r"(?:\b|a)é\b", b"a\xc3\xa9\xff\xc3\xa9")
def test_one_line_gives_the_oracles_spans(pattern: str, line: bytes) -> None:
    assert compiled(pattern).finditer(line) == expected(pattern, False, line)


@examples
@given(strategies.patterns, strategies.texts)
@example(r"\bk\b", "k\nK ſ\n_k\n\u212a".encode())
def test_many_lines_at_once_give_the_spans_of_each(pattern: str, text: bytes) -> None:
    spans = compiled(pattern, ignore_case=True).spans(text)
    found = list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True))
    assert found == wanted(pattern, text)
    assert spans.complete


@few_examples
@given(strategies.patterns, strategies.texts)
def test_a_part_of_a_buffer_gives_the_spans_of_its_lines(pattern: str, text: bytes) -> None:
    before, after = "é_k\n".encode(), b"\nab"
    buffer = memoryview(before + text + after)
    spans = compiled(pattern, ignore_case=True).spans(buffer, len(before), len(before) + len(text))
    found = [(start - len(before), end - len(before)) for start, end in pairs(spans)]
    assert found == wanted(pattern, text)


@few_examples
@given(strategies.patterns, strategies.texts)
def test_a_limit_cuts_the_list_and_says_so(pattern: str, text: bytes) -> None:
    everything = pairs(compiled(pattern).spans(text))
    for limit in range(len(everything) + 1):
        spans = compiled(pattern).spans(text, limit=limit)
        assert pairs(spans) == everything[:limit]
        assert spans.complete == (limit >= len(everything))


def wanted(pattern: str, text: bytes) -> list[tuple[int, int]]:
    found, at = [], 0
    for line in text.split(b"\n"):
        found += [(at + start, at + end) for start, end in expected(pattern, True, line)]
        at += len(line) + 1
    return found


def pairs(spans) -> list[tuple[int, int]]:
    return list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True))


@pytest.mark.parametrize("pattern", [r"\bkey\b", "key", r"k\w+"])
def test_words_beyond_ascii_between_plain_lines_keep_the_order(pattern: str) -> None:
    text = "\n".join(["key", "ékey key", "key", "ключ key", "", "key"] * 40).encode()
    found = pairs(compiled(pattern).spans(text))
    assert found == sorted(found)
    assert found == [
        (start + at, end + at)
        for at, line in offsets(text)
        for start, end in compiled(pattern).finditer(line)
    ]


def offsets(text: bytes) -> list[tuple[int, bytes]]:
    found, at = [], 0
    for line in text.split(b"\n"):
        found.append((at, line))
        at += len(line) + 1
    return found
