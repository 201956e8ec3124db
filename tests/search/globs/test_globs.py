"""Limits, paths and whole tables; what single globs mean is in `cases/globs.txt`."""

import random

import pytest

from search.errors import GlobInvalid
from search.globs import MAX_GLOB_BYTES, MAX_GLOBS, MAX_PATHS, compile_globs
from search.index.generation import PathTable
from sourcegraph_site.kernel.errors import InvalidPaths

PATHS = [
    f"{folder}{name}".encode()
    for folder in ("", "src/", "src/lib/", "src/lib.d/", "test/", "a b/", "café/")
    for name in ("x.py", "x.pyc", ".rc", "y", "[z]", "-", "lib")
]


def names(globs: list[str], paths: list[str]) -> set[bytes]:
    chosen = compile_globs(globs, paths).select(PATHS)
    return {path for path, taken in zip(PATHS, chosen, strict=True) if taken}


def test_nothing_asked_selects_everything() -> None:
    everything = compile_globs([], [])
    assert everything.is_all
    assert everything.select(PATHS).all()
    assert compile_globs(["*"], []).is_all is False


def test_no_paths_give_an_empty_mask() -> None:
    assert compile_globs(["*.py"], ["src"]).select([]).tolist() == []


@pytest.mark.parametrize("globs", [["*.py"], ["!lib"], ["src/**", "!*.pyc"], ["!src/lib/", "y"]])
def test_the_answer_does_not_depend_on_the_other_paths(globs: list[str]) -> None:
    chosen = compile_globs(globs, [])
    shuffled = random.Random(3).sample(PATHS, len(PATHS))
    expected = {path: chosen.matches(path) for path in PATHS}
    for order in (PATHS, shuffled, sorted(PATHS)):
        assert dict(zip(order, chosen.select(order).tolist(), strict=True)) == expected


def test_a_table_of_paths_is_selected_from_as_a_list_is() -> None:
    ordered = sorted(PATHS)
    chosen = compile_globs(["*.py", "!test"], ["src", "test"])
    assert chosen.select(PathTable.of(ordered)).tolist() == chosen.select(ordered).tolist()


def test_prefixes_end_at_segments_and_may_name_files() -> None:
    assert names([], ["src/lib"]) == {p for p in PATHS if p.startswith(b"src/lib/")} | {b"src/lib"}
    assert names([], ["src/x.py", "café/"]) == {b"src/x.py"} | {
        path for path in PATHS if path.startswith("café/".encode())
    }
    assert names([], ["[z]", "-"]) == {b"[z]", b"-"}


def test_equal_requests_have_equal_cache_keys() -> None:
    def key(globs: list[str], paths: list[str]) -> tuple[object, ...]:
        return compile_globs(globs, paths).cache_key

    assert key(["*.py"], ["a", "b"]) == key(["*.py"], ["b/", "a", "a"])
    assert key(["*.py", "!a"], []) != key(["!a", "*.py"], [])
    assert key(["a"], []) != key([], ["a"])
    assert len({key([], []), key(["!a"], []), key(["!a/"], [])}) == 3


@pytest.mark.parametrize(
    ("glob", "reason"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("!/", "empty"),
        ("a\0b", "NUL"),
        ("a\nb", "newline"),
        ("a\ud800", "surrogate"),
        ("x" * (MAX_GLOB_BYTES + 1), "1024"),
        ("docs/", "docs/**"),
        ("a{b", "not closed"),
    ],
)
def test_what_is_no_glob_is_quoted_and_refused(glob: str, reason: str) -> None:
    with pytest.raises(GlobInvalid) as caught:
        compile_globs(["*.py", glob], [])
    assert caught.value.code == "INVALID_GLOB"
    assert reason in caught.value.message
    assert repr(glob[:40])[:-1] in caught.value.message


@pytest.mark.parametrize(
    "path", ["", "/", "/a", "a//b", "./a", "a/..", "a/.git", ".GIT/x", "a\\b", "a\tb", "x" * 4_097]
)
def test_what_names_nothing_in_a_repository_is_refused(path: str) -> None:
    with pytest.raises(InvalidPaths) as caught:
        compile_globs([], ["ok", path])
    assert (caught.value.code, caught.value.status) == ("INVALID_PATHS", 400)


def test_the_number_of_globs_and_paths_is_bounded() -> None:
    compile_globs(["a"] * MAX_GLOBS, ["a"] * MAX_PATHS)
    with pytest.raises(GlobInvalid):
        compile_globs(["a"] * (MAX_GLOBS + 1), [])
    with pytest.raises(InvalidPaths):
        compile_globs([], ["a"] * (MAX_PATHS + 1))


def test_the_largest_globs_are_taken() -> None:
    wide = "{" + ",".join(f"f{n}*" for n in range(150)) + "}"
    stars = "*a" * (MAX_GLOB_BYTES // 2)
    chosen = compile_globs([wide, stars, "**/" * 300 + "x"] * 21, [])
    assert chosen.select([b"src/f149.c", b"b", b"a/x"]).tolist() == [True, False, True]
