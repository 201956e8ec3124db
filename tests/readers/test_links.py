"""Symbolic links are followed inside the commit and nowhere else."""

import pytest

from readers.errors import (
    FileNotFound,
    LinkDangling,
    LinkLoop,
    LinkOutsideRepository,
    LinkToSubmodule,
    NotADirectory,
    NotAFile,
)
from readers.usecases.list_tree import ListTree, list_tree
from readers.usecases.read_file import ReadFile, read_file
from tests.support.git_remote import Link, Submodule

SUBMODULE = "1234567890" * 4


@pytest.fixture
def read(shelf, actor):
    def call(path):
        return read_file(actor, ReadFile(repo=shelf.name, path=path, start_line=1, end_line=9))

    return call


@pytest.fixture
def listing(shelf, actor):
    def call(path="", first=100):
        return list_tree(actor, ListTree(repo=shelf.name, path=path, first=first))

    return call


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("link", "src/a.py"),
        ("chain", "src/a.py"),
        ("docs/up", "src/a.py"),
        ("dirlink/a.py", "src/a.py"),
        ("dirlink/deep/b.py", "src/deep/b.py"),
        ("deeplink/../a.py", None),
        ("through", "src/a.py"),
        ("slashes", "src/a.py"),
        ("unicode", "caf\u00e9.txt"),
    ],
)
def test_links_lead_to_a_canonical_path(shelf, read, path, canonical):
    shelf.commit(
        {
            "src/a.py": "a\n",
            "src/deep/b.py": "b\n",
            "caf\u00e9.txt": "c\n",
            "link": Link("src/a.py"),
            "chain": Link("link"),
            "docs/up": Link("../src/./a.py"),
            "dirlink": Link("src"),
            "deeplink": Link("src/deep"),
            # `..` behind a link to a directory means the parent of what it points to.
            "through": Link("deeplink/../a.py"),
            "slashes": Link("src//a.py"),
            "unicode": Link("caf\u00e9.txt"),
        }
    )
    if canonical is None:
        return
    found = read(path)
    assert (found.path, found.via, found.follow_error) == (canonical, path, None)
    assert found.kind == "file"


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("missing", "LINK_DANGLING"),
        ("real/below", "LINK_DANGLING"),
        ("real/", "LINK_DANGLING"),
        ("nowhere/../real", "LINK_DANGLING"),
        ("/etc/passwd", "LINK_OUTSIDE_REPOSITORY"),
        ("../outside", "LINK_OUTSIDE_REPOSITORY"),
        ("dir/../../x", "LINK_OUTSIDE_REPOSITORY"),
        ("sub", "LINK_TO_SUBMODULE"),
        ("sub/file", "LINK_TO_SUBMODULE"),
        ("bad", "LINK_LOOP"),
        ("loop1", "LINK_LOOP"),
        ("bad/x", "LINK_LOOP"),
        ("hop1", "LINK_DEPTH_EXCEEDED"),
        ("a\\b", "LINK_INVALID_TARGET"),
        ("a\nb", "LINK_INVALID_TARGET"),
    ],
)
def test_a_bad_link_is_returned_as_its_text_with_the_reason(shelf, read, listing, target, code):
    hops = {f"hop{n}": Link(f"hop{n + 1}") for n in range(1, 9)}
    shelf.commit(
        {
            "real": "x\n",
            "dir/real": "x\n",
            "sub": Submodule(SUBMODULE),
            "loop1": Link("loop2"),
            "loop2": Link("loop1"),
            **hops,
            "hop9": "end\n",
            "bad": Link(target),
        }
    )
    found = read("bad")
    assert (found.follow_error, found.kind, found.content) == (code, "symlink", target)
    assert (found.path, found.via) == ("bad", None)
    assert found.returned_start_line == 1
    [row] = [row for row in listing().entries if row.name == "bad"]
    assert (row.kind, row.follow_error, row.target) == ("symlink", code, None)


def test_eight_links_are_followed_and_nine_are_not(shelf, read):
    shelf.commit({**{f"h{n}": Link(f"h{n + 1}") for n in range(1, 10)}, "h10": "end\n"})
    assert read("h2").path == "h10"
    assert read("h1").follow_error == "LINK_DEPTH_EXCEEDED"


def test_a_link_that_passes_another_twice_is_no_loop(shelf, read):
    shelf.commit({"d/f": "x\n", "l": Link("d"), "twice": Link("l/../l/f")})
    assert read("twice").path == "d/f"


@pytest.mark.parametrize("size", [4096, 4097])
def test_a_target_over_4096_bytes_is_too_large(shelf, read, size):
    shelf.commit({"bad": Link("x" * size)})
    found = read("bad")
    if size == 4096:
        assert (found.follow_error, found.content) == ("LINK_DANGLING", "x" * size)
    else:
        assert (found.follow_error, found.content) == ("LINK_TARGET_TOO_LARGE", "")
        assert found.returned_start_line is None


def test_a_bad_link_in_the_middle_of_a_path_is_an_error(shelf, read, listing):
    shelf.commit(
        {
            "a": Link("b"),
            "b": Link("a"),
            "out": Link("/usr"),
            "gone": Link("nope"),
            "sub": Submodule(SUBMODULE),
            "tosub": Link("sub"),
        }
    )
    for path, error in (
        ("a/x", LinkLoop),
        ("out/bin", LinkOutsideRepository),
        ("gone/x", LinkDangling),
    ):
        with pytest.raises(error):
            read(path)
        with pytest.raises(error):
            listing(path)
    with pytest.raises(LinkToSubmodule):
        listing("tosub")


def test_a_missing_file_behind_a_good_link_is_just_not_found(shelf, read):
    shelf.commit({"d/f": "x\n", "l": Link("d")})
    with pytest.raises(FileNotFound):
        read("l/nope")


def test_a_link_to_a_directory_is_listed_and_not_read(shelf, read, listing):
    shelf.commit({"d/f": "x\n", "l": Link("d"), "file": Link("d/f")})
    with pytest.raises(NotAFile):
        read("l")
    page = listing("l")
    assert page.via == "l"
    assert [row.path for row in page.entries] == ["d/f"]
    with pytest.raises(NotADirectory):
        listing("file")


def test_a_link_in_the_list_names_its_target(shelf, listing):
    shelf.commit({"d/f": "x\n", "f": Link("d/f"), "g": Link("d"), "h": Link(".")})
    rows = {row.name: (row.target, row.target_kind, row.size) for row in listing().entries}
    assert rows["f"] == ("d/f", "file", 3)
    assert rows["g"] == ("d", "directory", 1)
    assert rows["h"] == ("", "directory", 1)
