"""Pages of any size, one after the other, are the whole result."""

import random
from dataclasses import replace

import pytest

from search.engine.request import Counts
from tests.search.engine.world import (
    Files,
    World,
    all_pages,
    all_rows,
    ask,
    generation_of,
    lines_of,
    rows,
    run,
    scan,
)


def files() -> Files:
    rnd = random.Random(3)
    made = {}
    for number in range(40):
        lines = [
            b" ".join(rnd.choice([b"foo", b"bar", b"baz", b"x", b""]) for _ in range(6))
            for _ in range(rnd.randint(1, 60))
        ]
        made[f"d{number % 7}/f{number}.py"] = b"\n".join(lines) + rnd.choice([b"", b"\n"])
    made["zz/copy.py"] = made["d0/f0.py"]
    return made


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Two commits, so that the second one's documents lie in two segments."""
    world = World.at(tmp_path_factory.mktemp("world"))
    first = files()
    second = {**first, "a/new.py": b"foo foo\n\nbar foo\n", "d1/f1.py": b"foo\nnothing\nfoo"}
    world.commit(first)
    return world.generation(world.commit(second)), second


PATTERNS = ["foo", r"ba[rz]", r"\bx\b", "(?i)FOO bar", "o b"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    "size", [{"max_lines": 1}, {"max_lines": 7}, {"max_files": 1}, {"max_files": 3, "max_lines": 2}]
)
def test_small_pages_are_the_whole_result(world, pattern, size):
    generation, made = world
    expected = scan(made, ask(pattern))
    assert expected
    request = ask(pattern, **size)
    pages = all_pages(generation, request)
    assert [row for page in pages for row in rows(page.files)] == expected
    assert {page.counts for page in pages} == {run(generation, ask(pattern)).counts}
    for page in pages:
        assert len(page.files) <= request.max_files
        assert len(rows(page.files)) <= request.max_lines
        assert page.truncated == page.has_more
        assert not page.partial


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("size", [1, 4, 100])
def test_pages_of_files_are_all_files(world, pattern, size):
    generation, made = world
    pages = all_pages(generation, ask(pattern, output="files", max_files=size))
    paths = [file.path for page in pages for file in page.files]
    assert paths == sorted({path for path, *_ in scan(made, ask(pattern))})
    assert {page.counts for page in pages} == {run(generation, ask(pattern)).counts}


def test_a_page_ends_inside_a_file_and_the_next_repeats_it(world):
    generation, _ = world
    request = ask("foo", max_lines=1)
    first = run(generation, request)
    second = run(generation, replace(request, after=first.next))
    assert first.files[0].path == second.files[0].path == b"a/new.py"
    assert [first.files[0].lines[0].number, second.files[0].lines[0].number] == [1, 3]


def test_a_page_that_is_just_full_is_the_last(world):
    generation, made = world
    total = len(scan(made, ask("foo")))
    assert run(generation, ask("foo", max_lines=total)).next is None
    assert run(generation, ask("foo", max_lines=total - 1)).next is not None


def test_no_page_counts_again_what_is_counted(world):
    generation, _ = world
    request = ask("foo", max_lines=2)
    first = run(generation, request)
    counted = replace(first.next.counted, counts=Counts(7, 8, 9))
    second = run(generation, replace(request, after=replace(first.next, counted=counted)))
    assert second.counts == Counts(7, 8, 9)


def test_a_position_that_no_longer_exists_goes_on_behind_it(world):
    generation, made = world
    first = run(generation, ask("foo", max_lines=1))
    after = replace(first.next, path=b"d1/f", line=5)
    left = all_rows(generation, ask("foo", after=after))
    assert left == [row for row in scan(made, ask("foo")) if row[0] > b"d1/f"]


@pytest.mark.parametrize("context", [1, 2, 10])
@pytest.mark.parametrize("max_lines", [1, 3, 1000])
def test_context_shows_each_line_near_a_match_once(world, context, max_lines):
    generation, made = world
    request = ask("foo", context=context, max_lines=max_lines)
    shown: dict[bytes, list[tuple[int, bytes]]] = {}
    for page in all_pages(generation, request):
        for file in page.files:
            for line in file.lines:
                first = line.number - len(line.before)
                texts = [*line.before, line.text, *line.after]
                shown.setdefault(file.path, []).extend(enumerate(texts, first))
    expected: dict[bytes, list[tuple[int, bytes]]] = {}
    for path, number, *_ in scan(made, ask("foo")):
        lines = lines_of(made[path.decode()])
        near = range(max(number - context, 1), min(number + context, len(lines)) + 1)
        expected.setdefault(path, []).extend((n, lines[n - 1]) for n in near)
    assert shown == {path: sorted(set(near)) for path, near in expected.items()}


def test_context_of_files_in_one_line(tmp_path):
    generation = generation_of(tmp_path, {"a": b"foo", "b": b"\nfoo", "c": b"foo\n\n"})
    found = run(generation, ask("foo", context=2))
    around = [(line.before, line.after) for file in found.files for line in file.lines]
    assert around == [((), ()), ((b"",), ()), ((), (b"",))]
