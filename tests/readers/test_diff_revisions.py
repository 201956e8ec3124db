"""Comparing two commits: which paths, which patches, which limits."""

import pytest

from readers.diff import MAX_PAGE_BYTES, MAX_PATCH_BYTES
from readers.errors import UnsupportedPathEncoding
from readers.usecases.diff_revisions import DiffRevisions, diff_revisions
from repos.errors import GitOutputLimit, InvalidRevision, RevisionNotEligible
from sourcegraph_site.kernel.errors import InvalidCursor, InvalidLimit, InvalidPaths
from tests.support.git_remote import Executable, Link, Submodule

NULL = "0" * 40


@pytest.fixture
def diff(shelf, actor):
    def call(base, head="main", first=100, **fields):
        return diff_revisions(
            actor, DiffRevisions(repo=shelf.name, base=base, head=head, first=first, **fields)
        )

    return call


def kinds(page):
    return [(row.path, row.change_kind) for row in page.changes]


def test_changes_come_by_path_bytes_with_their_patches(shelf, diff):
    base = shelf.commit({"b": "one\ntwo\n", "c": "gone\n", "same": "x\n", "m": "x\n"})
    head = shelf.commit({"b": "one\n2\n", "c": None, "a.txt": "new\n", "m": Executable("x\n")})
    page = diff(base)
    assert (page.base_commit, page.head_commit) == (base, head)
    assert kinds(page) == [("a.txt", "A"), ("b", "M"), ("c", "D"), ("m", "M")]
    added, changed, removed, mode = page.changes
    assert added.old_oid == NULL == removed.new_oid
    assert changed.patch.startswith("diff --git a/b b/b\n")
    assert changed.patch.endswith("@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
    assert mode.patch == "diff --git a/m b/m\nold mode 100644\nnew mode 100755\n"
    assert not any(row.binary or row.patch_truncated for row in page.changes)
    assert page.has_more_results is False


def test_a_commit_equals_itself(shelf, diff):
    base = shelf.commit({"a": "x"})
    assert diff(base, base).changes == ()


def test_a_change_of_type_has_both_halves_in_one_patch(shelf, diff):
    base = shelf.commit({"a": Link("target"), "b": "file\n", "z": "1\n"})
    shelf.commit({"a": "now a file\n", "b": Submodule("ab" * 20), "z": "2\n"})
    page = diff(base)
    assert kinds(page) == [("a", "T"), ("b", "T"), ("z", "M")]
    assert page.changes[0].patch.count("diff --git") == 2
    assert "-target" in page.changes[0].patch
    assert "+now a file" in page.changes[0].patch
    assert "+Subproject commit " + "ab" * 20 in page.changes[1].patch
    assert page.changes[2].patch.count("diff --git") == 1


def test_a_file_that_becomes_a_directory_keeps_each_patch_with_its_path(shelf, diff):
    base = shelf.commit({"a": "file\n", "a.b": "1\n"})
    shelf.commit({"a": None, "a/inner": "x\n", "a/other": "y\n", "a.b": "2\n"})
    pages = [diff(base, first=1)]
    while pages[-1].next_cursor:
        pages.append(diff(base, first=1, after=pages[-1].next_cursor))
    rows = [page.changes[0] for page in pages]
    assert [row.path for row in rows] == ["a", "a.b", "a/inner", "a/other"]
    for row in rows:
        assert row.patch.startswith(f"diff --git a/{row.path} b/{row.path}\n")
        assert row.patch.count("diff --git") == 1


def test_text_that_looks_like_a_patch_does_not_end_one(shelf, diff):
    base = shelf.commit({"a": "x\n", "b": "x\n"})
    shelf.commit({"a": "diff --git a/b b/b\nBinary files a and b differ\n", "b": "y\n"})
    first, second = diff(base).changes
    assert "+diff --git a/b b/b\n" in first.patch
    assert not first.binary
    assert second.patch.startswith("diff --git a/b b/b\n")


def test_odd_names_that_can_be_asked_for_are_compared(shelf, diff):
    names = ["-rf", "*.py", ":(top)", "caf\u00e9", "a b", "@{1}", '"q"', "\N{PILE OF POO}"]
    base = shelf.commit(dict.fromkeys(names, "1\n"))
    shelf.commit(dict.fromkeys(names, "2\n"))
    page = diff(base)
    assert [row.path for row in page.changes] == sorted(names, key=str.encode)
    assert all(row.patch.endswith("-1\n+2\n") for row in page.changes)
    assert "caf\u00e9" in next(r.patch for r in page.changes if r.path == "caf\u00e9")
    assert kinds(diff(base, paths=["*.py"])) == [("*.py", "M")]


def test_a_changed_name_that_cannot_be_shown_is_an_error_unless_paths_exclude_it(shelf, diff):
    base = shelf.commit({b"bad\xff": "1\n", "ok/a": "1\n"})
    shelf.commit({b"bad\xff": "2\n", "ok/a": "2\n"})
    with pytest.raises(UnsupportedPathEncoding):
        diff(base)
    assert kinds(diff(base, paths=["ok"])) == [("ok/a", "M")]


def test_paths_narrow_by_segments(shelf, diff):
    base = shelf.commit({"a/x": "1", "a/y/z": "1", "ab": "1", "c": "1"})
    shelf.commit({"a/x": "2", "a/y/z": "2", "ab": "2", "c": "2"})
    assert [p for p, _ in kinds(diff(base, paths=["a/"]))] == ["a/x", "a/y/z"]
    assert [p for p, _ in kinds(diff(base, paths=["a/y", "c"]))] == ["a/y/z", "c"]
    assert kinds(diff(base, paths=["nope"])) == []


def test_binary_and_undecodable_patches_are_marked(shelf, diff):
    base = shelf.commit({"bin": b"a\0b", "latin": b"caf\xe9\n"})
    shelf.commit({"bin": b"a\0c", "latin": b"caf\xe8\n"})
    for row in diff(base).changes:
        assert (row.binary, row.patch, row.patch_truncated) == (True, "", False)


def test_a_patch_over_64_kib_is_left_out_and_the_others_stay(shelf, diff):
    base = shelf.commit({"big": "", "small": ""})
    shelf.commit({"big": "line of text\n" * 6000, "small": "x\n", "huge": "x" * (9 << 20)})
    big, huge, small = diff(base).changes
    for row in (big, huge):
        assert (row.patch, row.patch_truncated, row.binary) == ("", True, False)
    assert small.patch.endswith("+x\n")


def test_a_page_holds_256_kib_of_patches(shelf, diff):
    text = "some line of text\n" * 3300
    shelf.commit({"start": ""})
    base = shelf.git.tip("main")
    shelf.commit({f"f{n}": text for n in range(6)} | {"tiny": "x\n"})
    page = diff(base)
    sizes = [len(row.patch.encode()) for row in page.changes]
    assert all(size <= MAX_PATCH_BYTES for size in sizes)
    assert sum(sizes) <= MAX_PAGE_BYTES
    assert [row.patch_truncated for row in page.changes] == [False] * 4 + [True, True, False]


def test_a_page_whose_patches_are_too_large_together_is_made_one_by_one(shelf, diff):
    base = shelf.commit({"small": "1\n"})
    shelf.commit({f"big{n}": f"{n} line\n" * 300_000 for n in range(3)} | {"small": "2\n"})
    *big, small = diff(base).changes
    assert [row.patch_truncated for row in big] == [True] * 3
    assert small.patch.endswith("-1\n+2\n")


def test_renames_are_one_row_only_when_asked_for(shelf, diff):
    text = "".join(f"line {n}\n" for n in range(50))
    base = shelf.commit({"old.py": text, "moved": "exact\n" * 9, "keep": "x\n"})
    shelf.commit(
        {
            "old.py": None,
            "new.py": text.replace("line 7\n", "seven\n"),
            "moved": None,
            "a/moved": "exact\n" * 9,
            "keep": "y\n",
        }
    )
    plain = diff(base)
    assert kinds(plain) == [
        ("a/moved", "A"),
        ("keep", "M"),
        ("moved", "D"),
        ("new.py", "A"),
        ("old.py", "D"),
    ]
    exact, keep, renamed = diff(base, renames=True).changes
    assert (exact.path, exact.change_kind, exact.old_path) == ("a/moved", "R", "moved")
    assert exact.similarity == 100
    assert keep.change_kind == "M"
    assert (keep.old_path, keep.similarity) == (None, None)
    assert (renamed.path, renamed.old_path) == ("new.py", "old.py")
    assert 80 < renamed.similarity < 100
    assert "rename from old.py\nrename to new.py\n" in renamed.patch
    assert "-line 7\n+seven\n" in renamed.patch


def test_pages_are_bound_to_commits_paths_and_options(shelf, diff):
    base = shelf.commit({f"f{n}": "1" for n in range(7)})
    shelf.commit({f"f{n}": "2" for n in range(7)})
    first = diff(base, first=3)
    assert first.has_more_results
    rest = diff(base, first=100, after=first.next_cursor)
    assert [p for p, _ in kinds(first) + kinds(rest)] == [f"f{n}" for n in range(7)]
    for changed in ({"paths": ["f0"]}, {"renames": True}):
        with pytest.raises(InvalidCursor):
            diff(base, after=first.next_cursor, **changed)
    with pytest.raises(InvalidCursor):
        diff("main", base, after=first.next_cursor)


def test_a_list_of_changes_over_8_mib_is_refused(shelf, diff, monkeypatch):
    monkeypatch.setattr("readers.diff.MAX_LIST_BYTES", 4096)
    base = shelf.commit({"a": "x"})
    shelf.commit({f"some/long/directory/name/{n}": "x" for n in range(100)})
    with pytest.raises(GitOutputLimit):
        diff(base)
    assert len(diff(base, paths=["some/long/directory/name/7"]).changes) == 1


def test_bad_requests_are_refused_before_the_repository_is_looked_up(actor, db):
    good = {"repo": "no/such", "base": "main", "head": "main", "first": 10}
    for change, error in (
        ({"base": ""}, InvalidRevision),
        ({"head": ""}, InvalidRevision),
        ({"first": 0}, InvalidLimit),
        ({"first": 101}, InvalidLimit),
        ({"paths": ["../x"]}, InvalidPaths),
        ({"paths": [""]}, InvalidPaths),
        ({"paths": [".git/config"]}, InvalidPaths),
        ({"paths": ["a"] * 65}, InvalidPaths),
    ):
        with pytest.raises(error):
            diff_revisions(actor, DiffRevisions(**{**good, **change}))


def test_both_sides_must_be_kept(shelf, diff):
    shelf.commit({"a": "x"})
    loose = shelf.git.commit({"a": "y"}, branch="topic")
    with pytest.raises(RevisionNotEligible):
        diff("main", loose)
    with pytest.raises(RevisionNotEligible):
        diff(loose, "main")
