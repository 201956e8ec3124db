"""Listing one directory, in pages that belong together."""

import pytest

from readers.errors import FileNotFound, InvalidPath, NotADirectory
from readers.usecases.list_tree import ListTree, list_tree
from sourcegraph_site.kernel.errors import InvalidCursor, InvalidLimit
from tests.support.git_remote import Executable, Link, Submodule

SUBMODULE = "1234567890" * 4


@pytest.fixture
def listing(shelf, actor):
    def call(path="", first=100, after=None, revision=None):
        return list_tree(
            actor,
            ListTree(repo=shelf.name, path=path, first=first, after=after, revision=revision),
        )

    return call


def test_direct_children_come_by_name_bytes_with_kind_and_size(shelf, listing):
    commit = shelf.commit(
        {
            "b/x": "deep",
            "b.txt": "12345",
            "b-": "",
            "a": Executable("#!"),
            "link": Link("b.txt"),
            "vendor": Submodule(SUBMODULE),
        }
    )
    page = listing()
    assert page.commit == commit
    assert [(row.name, row.kind, row.size) for row in page.entries] == [
        ("a", "file", 2),
        ("b", "directory", None),
        ("b-", "file", 0),
        ("b.txt", "file", 5),
        ("link", "symlink", 5),
        ("vendor", "submodule", None),
    ]
    assert page.entries[-1].blob_oid == SUBMODULE
    assert (page.next_cursor, page.has_more_results) == (None, False)
    assert page.unsupported_paths_skipped is None
    below = listing("b")
    assert [row.path for row in below.entries] == ["b/x"]
    assert below.tree_oid == page.entries[1].blob_oid


def test_names_that_cannot_be_asked_for_are_left_out_and_it_is_said(shelf, listing):
    shelf.commit(
        {
            b"caf\xe9.txt": "latin",
            b"new\nline": "x",
            b"tab\there": "x",
            b"back\\slash": "x",
            b"nel\xc2\x85": "x",
            "\N{PILE OF POO}": "x",
            "-rf": "x",
            b"bad\xff/inner": "x",
        }
    )
    page = listing()
    assert [row.name for row in page.entries] == ["-rf", "\N{PILE OF POO}"]
    assert page.unsupported_paths_skipped is True


def test_a_huge_directory_comes_whole_over_its_pages(shelf, listing):
    names = sorted(f"f{n:05}" for n in range(2345))
    shelf.commit({f"big/{name}": name[-2:] for name in names} | {"other": "x"})
    seen, cursor, sizes = [], None, []
    while True:
        page = listing("big", 1000, cursor)
        seen += [row.name for row in page.entries]
        sizes.append(len(page.entries))
        cursor = page.next_cursor
        assert page.has_more_results == (cursor is not None)
        if cursor is None:
            break
    assert sizes == [1000, 1000, 345]
    assert seen == names


def test_a_cursor_belongs_to_its_commit_and_path(shelf, listing):
    shelf.commit({"d/a": "", "d/b": "", "e/a": "", "e/b": ""})
    cursor = listing("d", 1).next_cursor
    assert [row.name for row in listing("d", 5, cursor).entries] == ["b"]
    with pytest.raises(InvalidCursor):
        listing("e", 1, cursor)
    old = shelf.git.tip("main")
    shelf.commit({"x": ""})
    with pytest.raises(InvalidCursor):
        listing("d", 1, cursor)
    assert [row.name for row in listing("d", 5, cursor, old).entries] == ["b"]
    for damaged in ("x", cursor[:-2], "=" * 8, "A" * 20_000):
        with pytest.raises(InvalidCursor):
            listing("d", 1, damaged)


@pytest.mark.parametrize("first", [0, -1, 1001, 10**20])
def test_a_page_has_1_to_1000_rows(shelf, listing, first):
    shelf.commit({"a": ""})
    with pytest.raises(InvalidLimit):
        listing("", first)


def test_files_and_missing_paths_are_not_listed(shelf, listing):
    shelf.commit({"d/f": "", "sub": Submodule(SUBMODULE)})
    with pytest.raises(NotADirectory):
        listing("d/f")
    with pytest.raises(NotADirectory):
        listing("sub")
    for path in ("nope", "d/f/x", "sub/x"):
        with pytest.raises(FileNotFound):
            listing(path)
    for path in ("/", "..", "d/", "d//x"):
        with pytest.raises(InvalidPath):
            listing(path)
