"""Every case file, with the pattern alone; `engine/` runs the same ones through an index."""

import pytest

from search.globs import compile_globs
from search.index.text import normalise
from search.pattern import compile_pattern
from sourcegraph_site.kernel.errors import AppError
from tests.search.cases import Case, Spans, glob_cases, pattern_cases


def named(case: Case) -> str:
    return f"{case.file}: {case.name}"


@pytest.mark.parametrize("case", pattern_cases(), ids=named)
def test_pattern_finds_exactly_what_the_case_says(case: Case) -> None:
    if case.error is not None:
        with pytest.raises(AppError) as caught:
            compile_case(case)
        code, position, text = case.error
        assert caught.value.code == code
        assert text in caught.value.message
        assert caught.value.details["position"] == position
        return
    assert hits_by_line(case) == case.hits
    assert hits_at_once(case) == case.hits
    lines = text_of(case).split(b"\n")
    assert {number: lines[number - 1] for number in case.lines} == case.lines


@pytest.mark.parametrize("case", glob_cases(), ids=named)
def test_globs_select_exactly_what_the_case_says(case: Case) -> None:
    if case.error is not None:
        with pytest.raises(AppError) as caught:
            compile_globs(case.globs, case.prefixes)
        assert caught.value.code == case.error[0]
        assert case.error[2] in caught.value.message
        return
    paths = [name.encode() for name in case.files]
    chosen = compile_globs(case.globs, case.prefixes).select(paths)
    assert [name for name, taken in zip(case.files, chosen, strict=True) if taken] == case.selects


def compile_case(case: Case):
    return compile_pattern(
        case.pattern, fixed_strings=case.fixed_strings, ignore_case=case.ignore_case
    )


def text_of(case: Case) -> bytes:
    text = normalise(case.blob)
    return text[0] if isinstance(text, tuple) else b""


def hits_by_line(case: Case) -> list[tuple[int, Spans]]:
    compiled = compile_case(case)
    lines = enumerate(text_of(case).split(b"\n"), start=1)
    return [(number, tuple(spans)) for number, line in lines if (spans := compiled.finditer(line))]


def hits_at_once(case: Case) -> list[tuple[int, Spans]]:
    """The same from one run over the whole text."""
    text = text_of(case)
    spans = compile_case(case).spans(text)
    found: dict[int, list[tuple[int, int]]] = {}
    for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True):
        line_start = text.rfind(b"\n", 0, start) + 1
        number = text.count(b"\n", 0, start) + 1
        found.setdefault(number, []).append((start - line_start, end - line_start))
    return [(number, tuple(pairs)) for number, pairs in found.items()]
