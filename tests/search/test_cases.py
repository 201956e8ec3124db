"""Every case file, twice: the pattern or globs alone, and a search of a real index."""

import pytest

from search.globs import compile_globs
from search.index.generation import Generation
from search.index.text import normalise
from search.pattern import CompiledPattern, compile_pattern
from sourcegraph_site.kernel.errors import AppError
from tests.search.cases import Case, Spans, glob_cases, pattern_cases
from tests.search.engine.world import World, all_rows, ask


def named(case: Case) -> str:
    return f"{case.file}: {case.name}"


@pytest.fixture(scope="module")
def all_texts(tmp_path_factory: pytest.TempPathFactory) -> Generation:
    """One commit with the text of every pattern case, each at `path_of(case)`."""
    world = World.at(tmp_path_factory.mktemp("texts"))
    return world.generation(world.commit({path_of(case): case.blob for case in pattern_cases()}))


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A repository for trees of awkward names, all with the same blob."""
    return World.at(tmp_path_factory.mktemp("names"))


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


@pytest.mark.parametrize("case", [c for c in pattern_cases() if c.error is None], ids=named)
def test_a_search_finds_exactly_what_the_case_says(all_texts: Generation, case: Case) -> None:
    request = ask(
        case.pattern,
        fixed=case.fixed_strings,
        ignore_case=case.ignore_case,
        paths=[path_of(case)],
    )
    found = all_rows(all_texts, request)
    assert {path for path, *_ in found} <= {path_of(case).encode()}
    assert [(number, ends(spans)) for _, number, _, spans in found] == case.hits
    shown = {number: line for _, number, line, _ in found}
    assert {number: shown[number] for number in case.lines} == case.lines


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


@pytest.mark.parametrize("case", [c for c in glob_cases() if c.error is None], ids=named)
def test_a_search_looks_at_exactly_the_files_of_the_case(names: World, case: Case) -> None:
    commit = names.commit(dict.fromkeys(case.files, b"needle\n"))
    request = ask("needle", globs=case.globs, paths=case.prefixes)
    found = [path.decode() for path, *_ in all_rows(names.generation(commit), request)]
    assert found == sorted(case.selects, key=str.encode)


def path_of(case: Case) -> str:
    return f"{case.file}/{case.name.replace('/', ' ')}"


def ends(spans: Spans) -> Spans:
    """Offset and length → start and end."""
    return tuple((offset, offset + length) for offset, length in spans)


def compile_case(case: Case) -> CompiledPattern:
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
