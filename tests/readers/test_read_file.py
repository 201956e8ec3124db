"""Reading lines: what stands in a file at a commit, and what is refused."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from readers.errors import (
    BinaryFile,
    FileLineTooLarge,
    FileNotFound,
    InvalidLineRange,
    InvalidPath,
    LineRangeNotSatisfiable,
    NotAFile,
    ReadBudgetExceeded,
    ReadScanLimit,
    UnsupportedTextEncoding,
)
from readers.objects import ObjectData
from readers.text import MAX_BYTES, Lines, cut, decode
from readers.usecases.read_file import ReadFile, read_file
from repos.errors import (
    BranchNotMonitored,
    InvalidRevision,
    RepositoryDisabled,
    RepositoryNotFound,
    RepositoryStorageMissing,
    RevisionNotEligible,
    ShortShaUnsupported,
)
from sourcegraph_site.kernel.actor import ANONYMOUS
from tests.support.git_remote import Executable, Submodule, lfs_pointer

SUBMODULE = "1234567890" * 4


@pytest.fixture
def read(shelf, actor):
    def call(path, start=1, end=500, revision=None):
        return read_file(
            actor,
            ReadFile(repo=shelf.name, path=path, start_line=start, end_line=end, revision=revision),
        )

    return call


def test_a_read_gives_the_lines_of_the_range_and_says_where_it_goes_on(shelf, read):
    commit = shelf.commit({"src/a.py": "one\ntwo\nthree\nfour\n"})
    found = read("src/a.py", 2, 3)
    assert found.content == "two\nthree\n"
    assert (found.returned_start_line, found.returned_end_line) == (2, 3)
    assert (found.next_start_line, found.has_more, found.truncated) == (4, True, False)
    assert (found.commit, found.path, found.kind) == (commit, "src/a.py", "file")
    assert (found.encoding, found.via, found.follow_error) == ("utf-8", None, None)


def test_a_range_past_the_end_is_cut_and_the_last_line_may_lack_its_newline(shelf, read):
    shelf.commit({"a": "one\ntwo"})
    found = read("a", 2, 10**30)
    assert (found.content, found.returned_end_line) == ("two", 2)
    assert (found.has_more, found.next_start_line, found.truncated) == (False, None, False)


def test_an_empty_file_has_no_lines(shelf, read):
    shelf.commit({"a": "", "b": "x"})
    found = read("a")
    assert (found.content, found.returned_start_line, found.returned_end_line) == ("", None, None)
    assert found.has_more is False
    with pytest.raises(LineRangeNotSatisfiable):
        read("a", 2, 3)


def test_only_a_line_feed_ends_a_line(shelf, read):
    text = "a\rb\x0bc\x0cd\x1ce\x85f\u2028g\nnext\r\n"
    shelf.commit({"a": text})
    assert read("a", 1, 1).content == text.split("\n")[0] + "\n"
    assert read("a", 2, 2).content == "next\r\n"


def test_a_byte_order_mark_and_carriage_returns_are_returned_unchanged(shelf, read):
    shelf.commit({"a": b"\xef\xbb\xbfone\r\ntwo\r\n"})
    assert read("a").content == "\ufeffone\r\ntwo\r\n"


@pytest.mark.parametrize(
    ("bom", "codec", "name"),
    [(b"\xff\xfe", "utf-16-le", "utf-16le"), (b"\xfe\xff", "utf-16-be", "utf-16be")],
)
def test_utf16_with_a_mark_is_decoded_and_its_lines_count(shelf, read, bom, codec, name):
    text = "eins\n\u010a\u0a0a \N{PILE OF POO}\nzwei"
    shelf.commit({"a": bom + text.encode(codec)})
    assert read("a").content == "\ufeff" + text
    found = read("a", 2, 2)
    assert (found.content, found.encoding) == ("\u010a\u0a0a \N{PILE OF POO}\n", name)
    assert found.has_more


@pytest.mark.parametrize("data", [b"\xff\xfea\x00b", b"\xff\xfe\x00\xd8a\x00", b"\xfe\xff\xdc\x00"])
def test_broken_utf16_is_refused(shelf, read, data):
    shelf.commit({"a": data})
    with pytest.raises(UnsupportedTextEncoding):
        read("a")


@pytest.mark.parametrize(
    "data", [b"a\0b\n", b"\x00", "\ufeffab".encode("utf-32-le"), b"x" * 9000 + b"\0"]
)
def test_a_nul_makes_a_file_binary_whatever_lines_are_asked_for(shelf, read, data):
    shelf.commit({"a": data})
    with pytest.raises(BinaryFile):
        read("a", 1, 1)


def test_a_latin_1_byte_is_refused_only_where_it_is_returned(shelf, read):
    shelf.commit({"a": b"fine\ncaf\xe9\nfine\n"})
    assert read("a", 1, 1).content == "fine\n"
    assert read("a", 3, 3).content == "fine\n"
    with pytest.raises(UnsupportedTextEncoding):
        read("a", 1, 3)


def test_more_than_500_lines_are_cut_and_the_next_page_continues(shelf, read):
    shelf.commit({"a": "".join(f"{n}\n" for n in range(1, 1202))})
    pages, start = [], 1
    while start:
        page = read("a", start, 5000)
        pages.append(page)
        start = page.next_start_line
    assert [p.returned_end_line for p in pages] == [500, 1000, 1201]
    assert [p.truncated for p in pages] == [True, True, False]
    assert "".join(p.content for p in pages).split("\n")[1200] == "1201"


def test_500_lines_of_a_longer_file_are_not_truncated_when_no_more_were_asked_for(shelf, read):
    shelf.commit({"a": "x\n" * 600})
    found = read("a", 1, 500)
    assert (found.truncated, found.has_more, found.next_start_line) == (False, True, 501)


def test_256_kib_cut_at_a_whole_line(shelf, read):
    line = "x" * (100 << 10) + "\n"
    shelf.commit({"a": line * 4})
    found = read("a", 1, 4)
    assert (found.content, found.returned_end_line) == (line * 2, 2)
    assert (found.truncated, found.next_start_line) == (True, 3)


def test_a_line_of_300_kib_is_refused_where_it_begins_the_range(shelf, read):
    shelf.commit({"a": "short\n" + "x" * (300 << 10) + "\nend\n"})
    found = read("a", 1, 3)
    assert (found.content, found.truncated, found.next_start_line) == ("short\n", True, 2)
    with pytest.raises(FileLineTooLarge):
        read("a", 2, 2)
    assert read("a", 3, 3).content == "end\n"


def test_only_the_first_8_mib_are_read(shelf, read):
    line = "x" * 99 + "\n"
    shelf.commit({"a": line * 100_000})
    last = (8 << 20) // 100
    found = read("a", last - 9, last + 100)
    assert (found.returned_end_line, found.has_more) == (last, None)
    assert (found.next_start_line, found.truncated) == (None, False)
    with pytest.raises(ReadScanLimit):
        read("a", last + 1, last + 1)


def test_a_line_that_runs_past_8_mib_is_too_large(shelf, read):
    shelf.commit({"a": "a\n" + "x" * (9 << 20)})
    assert read("a", 1, 9).content == "a\n"
    with pytest.raises(FileLineTooLarge):
        read("a", 2, 2)


def test_a_start_behind_the_last_line_is_416(shelf, read):
    shelf.commit({"a": "one\n"})
    with pytest.raises(LineRangeNotSatisfiable) as caught:
        read("a", 2, 2)
    assert caught.value.status == 416


@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 5), (-1, 5), (3, 2)])
def test_bad_line_ranges_are_refused_before_the_repository_is_looked_up(actor, db, start, end):
    with pytest.raises(InvalidLineRange):
        read_file(actor, ReadFile(repo="no/such", path="a", start_line=start, end_line=end))


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../a", "a/../b", "a/./b", ".", "a//b", "a/", "a\\b", "a\nb", "a\0b"]
    + ["a\x7fb", "a\x85b", "x" * 4097, "\ud800"],
)
def test_paths_that_cannot_exist_are_refused(actor, db, path):
    with pytest.raises(InvalidPath):
        read_file(
            actor, ReadFile.model_construct(repo="no/such", path=path, start_line=1, end_line=1)
        )


@pytest.mark.parametrize(
    "path",
    [
        "-rf",
        "caf\u00e9.txt",
        "\N{PILE OF POO}/a b",
        "@{1}",
        ":(top)x",
        "a:b",
        "*.py",
        '"q"',
        "~",
        ".git2",
    ]
    + ["x" * 255 + "/" + "y" * 255, "HEAD", "a'b$(c)`d`"],
)
def test_odd_names_are_read_as_they_are(shelf, read, path):
    shelf.commit({path: "here\n", "other": "no\n"})
    assert read(path).content == "here\n"


def test_what_is_not_there_is_not_found(shelf, read):
    shelf.commit({"dir/file": "x\n", "sub": Submodule(SUBMODULE)})
    for path in ("nope", "dir/nope", "dir/file/x", "sub/x", "DIR/file", ".git/config"):
        with pytest.raises(FileNotFound):
            read(path)


def test_a_directory_is_not_a_file(shelf, read):
    shelf.commit({"dir/file": "x\n"})
    with pytest.raises(NotAFile):
        read("dir")


def test_a_submodule_has_no_content(shelf, read):
    shelf.commit({"lib": Submodule(SUBMODULE)})
    found = read("lib", 5, 9)
    assert (found.kind, found.encoding, found.blob_oid) == ("submodule", "gitlink", SUBMODULE)
    assert (found.content, found.returned_start_line, found.has_more) == ("", None, False)


def test_an_lfs_pointer_is_flagged_and_a_text_about_one_is_not(shelf, read):
    shelf.commit(
        {
            "big.bin": lfs_pointer(),
            "doc": "version https://git-lfs.github.com/spec/v1\nis the first line.\n",
            "tool": Executable("#!/bin/sh\n"),
        }
    )
    assert read("big.bin").is_lfs_pointer
    assert not read("doc").is_lfs_pointer
    assert read("tool").kind == "file"


def test_each_commit_gives_its_own_text(shelf, read):
    old = shelf.commit({"a": "old\n"})
    new = shelf.commit({"a": "new\n"})
    assert read("a").content == "new\n"
    assert read("a", revision=old).content == "old\n"
    assert read("a", revision=new).commit == new
    assert read("a", revision="main").commit == read("a", revision="refs/heads/main").commit == new


@pytest.mark.parametrize(
    ("revision", "error"),
    [
        ("0" * 40, RevisionNotEligible),
        ("abc1234", ShortShaUnsupported),
        ("ABCDEF" * 6 + "ABCD", InvalidRevision),
        ("HEAD", InvalidRevision),
        ("main~1", InvalidRevision),
        ("refs/tags/v1", InvalidRevision),
        ("--upload-pack=x", InvalidRevision),
        ("other", BranchNotMonitored),
    ],
)
def test_revisions_are_never_substituted(shelf, read, revision, error):
    shelf.commit({"a": "x\n"})
    with pytest.raises(error):
        read("a", revision=revision)


def test_a_commit_that_is_in_the_mirror_but_not_kept_is_not_read(shelf, read):
    loose = shelf.git.commit({"a": "loose\n"}, branch="topic")
    shelf.commit({"a": "x\n"})
    with pytest.raises(RevisionNotEligible):
        read("a", revision=loose)


def test_a_hidden_repository_looks_like_an_absent_one(make_shelf, actor):
    make_shelf("acme/secret", public_read=False).commit({"a": "x\n"})
    for name in ("acme/secret", "acme/absent"):
        with pytest.raises(RepositoryNotFound) as caught:
            read_file(ANONYMOUS, ReadFile(repo=name, path="a", start_line=1, end_line=1))
        assert caught.value.message == "No such repository."


def test_a_disabled_repository_and_a_lost_mirror_are_told_apart(make_shelf, actor):
    off = make_shelf("acme/off", enabled=False)
    off.commit({"a": "x\n"})
    gone = make_shelf("acme/gone")
    gone.commit({"a": "x\n"})
    gone.git_dir.rename(gone.git_dir.with_name("elsewhere"))
    for name, error in (("acme/off", RepositoryDisabled), ("acme/gone", RepositoryStorageMissing)):
        with pytest.raises(error):
            read_file(actor, ReadFile(repo=name, path="a", start_line=1, end_line=1))


# --- The cut, against a naive one ---------------------------------------------------------


def naive(data: bytes, start: int, end: int, max_lines: int, max_bytes: int):
    """The same from lists of lines; None stands for a refusal."""
    lines = data.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    if start > len(lines):
        return ("", None, None, False, False) if start == 1 else None
    asked = lines[start - 1 : end]
    taken: list[bytes] = []
    for line in asked[:max_lines]:
        if sum(map(len, taken)) + len(line) > max_bytes:
            break
        taken.append(line)
    if not taken:
        return None
    last = start + len(taken) - 1
    return b"".join(taken).decode(), start, last, len(taken) < len(asked), last < len(lines)


@given(
    data=st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", "\u2028".encode(), b"bcd"])).map(
        b"".join
    ),
    start=st.integers(1, 12),
    length=st.integers(0, 12),
    max_lines=st.integers(0, 8),
    max_bytes=st.integers(0, 20),
)
@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_cut_is_what_naive_slicing_gives(data, start, length, max_lines, max_bytes):
    lines = Lines(decode(ObjectData("blob", len(data), data)))
    expected = naive(data, start, start + length, max_lines, max_bytes)
    try:
        found = cut(lines, start, start + length, max_lines=max_lines, max_bytes=max_bytes)
    except (LineRangeNotSatisfiable, ReadBudgetExceeded):
        assert expected is None
        return
    assert expected == (found.content, found.first, found.last, found.truncated, found.has_more)


def test_a_line_of_exactly_the_limit_is_returned():
    data = b"x" * (MAX_BYTES - 1) + b"\n"
    assert cut(Lines(decode(ObjectData("blob", len(data), data))), 1, 1).last == 1
