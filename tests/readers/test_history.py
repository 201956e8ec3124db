"""Histories and blame: who changed what, at which commit, under which name."""

import pytest

from readers.blame import unquote
from readers.commits import parse_commit, parse_tag
from readers.errors import (
    BinaryFile,
    FileNotFound,
    LineRangeNotSatisfiable,
    NotAFile,
    UnsupportedTextEncoding,
)
from readers.usecases.blame_file import BlameFile, blame_file
from readers.usecases.log_commits import LogCommits, log_commits
from sourcegraph_site.kernel.errors import InvalidCursor, InvalidLimit
from tests.support.git_remote import Link

TEXT = "".join(f"line {n}\n" for n in range(1, 21))


@pytest.fixture
def log(shelf, actor):
    def call(path=None, **fields):
        return log_commits(actor, LogCommits(repo=shelf.name, path=path, **fields))

    return call


@pytest.fixture
def blame(shelf, actor):
    def call(path, start=1, end=500, revision=None):
        return blame_file(
            actor,
            BlameFile(
                repo=shelf.name, path=path, start_line=start, end_line=end, revision=revision
            ),
        )

    return call


def ids(page):
    return [row.commit for row in page.commits]


def test_the_history_is_newest_first_with_the_commits_own_fields(shelf, log):
    first = shelf.commit({"a": "1"}, message="First\nsame paragraph\n\nBody")
    second = shelf.commit({"a": "2"}, message="\n\n  Second \ttitle\n")
    page = log()
    assert page.commit == second
    assert ids(page) == [second, first]
    new, old = page.commits
    assert (new.subject, old.subject) == ("Second title", "First same paragraph")
    assert (new.parents, old.parents) == ((first,), ())
    assert new.author_name == "Ada Example"
    assert new.author_time.isoformat() == "2026-01-01T00:02:00+00:00"
    assert (page.next_cursor, page.has_more_results) == (None, False)


def test_pages_of_a_history_join_without_gap_or_repeat(shelf, log):
    made = [shelf.commit({"a": str(n), "b": "x"}) for n in range(7)]
    for path in (None, "a"):
        first = log(path, first=3)
        rest = log(path, first=100, after=first.next_cursor)
        assert ids(first) + ids(rest) == made[::-1]
        assert first.has_more_results
        assert not rest.has_more_results
    with pytest.raises(InvalidCursor):
        log("b", after=log("a", first=1).next_cursor)


def test_the_history_of_a_file_goes_through_renames_and_says_the_names(shelf, log):
    born = shelf.commit({"old.py": TEXT, "x": "1"})
    shelf.commit({"x": "2"})
    moved = shelf.commit({"old.py": None, "new dir/\u00e9.py": TEXT}, message="Move")
    edited = shelf.commit({"new dir/\u00e9.py": TEXT + "end\n"})
    page = log("new dir/\u00e9.py")
    assert [(r.commit, r.path, r.old_path) for r in page.commits] == [
        (edited, "new dir/\u00e9.py", None),
        (moved, "new dir/\u00e9.py", "old.py"),
        (born, "old.py", None),
    ]
    second = log("new dir/\u00e9.py", first=1, after=log("new dir/\u00e9.py", first=2).next_cursor)
    assert ids(second) == [born]


def test_directories_and_removed_files_have_histories_too(shelf, log):
    one = shelf.commit({"d/a": "1", "gone": "1"})
    two = shelf.commit({"d/b": "1"})
    three = shelf.commit({"gone": None})
    assert ids(log("d")) == [two, one]
    assert ids(log("gone")) == [three, one]
    assert ids(log("never")) == []


def test_first_parent_leaves_out_what_came_by_a_merge(shelf, log):
    base = shelf.commit({"a": "1"})
    side = shelf.git.commit({"b": "1"}, branch="side", start=base)
    merge = shelf.commit({"b": "1"}, merge=[side])
    assert set(ids(log())) == {base, side, merge}
    assert ids(log(first_parent=True)) == [merge, base]
    assert log().commits[0].parents == (base, side)


@pytest.mark.parametrize("first", [0, 101])
def test_a_page_of_history_has_1_to_100_commits(shelf, log, first):
    shelf.commit({"a": "1"})
    with pytest.raises(InvalidLimit):
        log(first=first)


def test_each_line_is_blamed_on_the_commit_that_wrote_it(shelf, blame):
    born = shelf.commit({"old.py": TEXT})
    changed = shelf.commit({"old.py": TEXT.replace("line 3\n", "three\n")})
    shelf.commit({"old.py": None, "new.py": "top\n" + TEXT.replace("line 3\n", "three\n")})
    head = shelf.git.tip("main")
    found = blame("new.py", 1, 5)
    assert (found.commit, found.path) == (head, "new.py")
    assert [
        (row.line, row.commit, row.original_path, row.original_line) for row in found.lines
    ] == [
        (1, head, "new.py", 1),
        (2, born, "old.py", 1),
        (3, born, "old.py", 2),
        (4, changed, "old.py", 3),
        (5, born, "old.py", 4),
    ]
    assert found.lines[0].author_name == "Ada Example"
    assert [row.line for row in blame("new.py", 20, 900).lines] == [20, 21]


def test_blame_follows_links_and_refuses_what_has_no_lines(shelf, blame):
    shelf.commit(
        {
            "d/a": "x\n",
            "link": Link("d/a"),
            "bin": b"\0",
            "wide": b"\xff\xfea\x00\n\x00",
            "empty": "",
            "-odd \u00e9": b"caf\xe9 \r\n\n",
        }
    )
    assert blame("link").path == "d/a"
    assert blame("empty").lines == ()
    assert [row.original_path for row in blame("-odd \u00e9").lines] == ["-odd \u00e9"] * 2
    for path, error in (
        ("bin", BinaryFile),
        ("wide", UnsupportedTextEncoding),
        ("d", NotAFile),
        ("nope", FileNotFound),
    ):
        with pytest.raises(error):
            blame(path)
    with pytest.raises(LineRangeNotSatisfiable):
        blame("d/a", 2, 2)


def test_commits_with_odd_headers_are_still_described():
    found = parse_commit(
        b"tree " + b"1" * 40 + b"\nparent " + b"2" * 40 + b"\n"
        b"author Caf\xe9\x07 <a@b> 99999999999999 +0000\ncommitter <> -5 +0000\n"
        b"encoding iso-8859-1\ngpgsig -----BEGIN\n author Eve <e> 1 +0000\n -----END\n"
        b"\nSubject \xe9\x1b[31m\n"
    )
    assert (found.author, found.title) == ("Caf\u00e9", "Subject \u00e9 [31m")
    assert found.author_time.year == 9999
    assert found.committer_time.isoformat() == "1970-01-01T00:00:00+00:00"
    assert found.parents == ("2" * 40,)


def test_a_commit_without_any_person_is_described_and_other_objects_are_not():
    bare = parse_commit(b"tree " + b"1" * 40 + b"\n\n")
    assert (bare.author, bare.title, bare.author_time.year) == ("", "", 1970)
    with pytest.raises(ValueError, match="not a commit"):
        parse_commit(b"object x\n\n")
    with pytest.raises(ValueError, match="not a tag"):
        parse_tag(b"tree x\n\n")


def test_a_tag_is_described_by_its_first_line():
    found = parse_tag(
        b"object " + b"1" * 40 + b"\ntype commit\ntag v1\ntagger Ada <a@b> 60 +0000\n\nOne\nTwo\n"
    )
    assert (found.target_type, found.tagger, found.title) == ("commit", "Ada", "One")
    assert found.time is not None
    assert parse_tag(b"object x\ntype blob\ntag v\n\n").time is None


def test_quoted_names_of_git_are_read():
    assert unquote(b'"a\\tb\\303\\251\\"\\\\"') == 'a\tb\u00e9"\\'.encode()
    assert unquote(b"plain") == b"plain"
    assert unquote(b'"') == b'"'
