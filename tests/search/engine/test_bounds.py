"""Hostile input: bounded work, bounded answers, and every omission said."""

from dataclasses import replace

import pytest

from search.engine import occurrences
from search.engine import scan as scanning
from search.engine.budget import MAX_LINE_SPANS, PartialReason
from search.engine.request import MATCH_CAP
from search.engine.search import SMALL_PAGE, search
from sourcegraph_site.kernel.deadline import Deadline
from tests.search.engine.world import (
    all_pages,
    all_rows,
    ask,
    counts_of,
    generation_of,
    rows,
    run,
    scan,
    shown,
)

MIB = 1 << 20


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Long lines, many lines, many matches."""
    return generation_of(
        tmp_path_factory.mktemp("hostile"),
        {
            "long.txt": b"a" * (2 * MIB - 1),
            "many.txt": b"needle if\n" * 30_000,
            "pairs.txt": b"ab " * 5_000 + b"\n" + b"=" * 300_000,
            "small.txt": b"if\nneedle\n",
            "z.txt": b"needle last\n",
        },
    )


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|aa)+$",
        "(a*)*b",
        ".*.*.*=",
        "(.*)(.*)(.*)(.*)(.*)[^a]b",
        "a{1,900}b",
        "a" * 8_000,
        "(?i)" + "ab?" * 1_500,
        "|".join(f"word{number}x" for number in range(700)),
        "[a-z]+[0-9]{7}",
        r"\ba+\b",
        "a",
    ],
)
def test_hard_patterns_end_within_the_deadline(hostile, pattern):
    deadline = Deadline.after(20)
    result = search(hostile, ask(pattern), deadline)
    assert not deadline.expired
    assert result.partial_reason is not PartialReason.DEADLINE


def test_sixty_four_globs_are_taken(hostile):
    globs = [f"*{number}*/**/[a-z]*.{{c,h}}" for number in range(63)]
    assert rows(run(hostile, ask("needle", globs=[*globs, "z.*"])).files) == [
        (b"z.txt", 1, b"needle last", ((0, 6),))
    ]


def test_a_search_without_time_says_so(hostile):
    result = search(hostile, ask("(a|b)[^a]b"), Deadline.after(0))
    assert result.partial_reason is PartialReason.DEADLINE
    assert (result.files, result.next) == ((), None)


@pytest.fixture(scope="module")
def dozen(tmp_path_factory):
    """Twelve files of 1 MB, three batches."""
    filler = (b"x y " * 250 + b"\n") * 1_000
    files = {
        f"f{number:02}.txt": b"needle %d\n" % number + filler + b"needle" for number in range(12)
    }
    return generation_of(tmp_path_factory.mktemp("dozen"), files), files


class Countdown(Deadline):
    """A deadline that is reached when it has been looked at so many times."""

    looks = 0

    @property
    def expired(self) -> bool:
        Countdown.looks -= 1
        return Countdown.looks < 0


@pytest.mark.parametrize("looks", [0, 1, 2, 5, 20, 40])
@pytest.mark.parametrize(
    "pattern", ["needle", "(?i)NEEDLE", "need[l]e .", "[n]eed[k-m]e|[^ xy]{90}"]
)
def test_what_a_deadline_cuts_off_is_on_the_next_pages(dozen, pattern, looks):
    generation, files = dozen
    request = ask(pattern, max_files=100)
    expected = scan(files, request)
    Countdown.looks = looks
    first = search(generation, request, Countdown(1e18))
    found = rows(first.files)
    assert found == expected[: len(found)]
    assert first.counts == counts_of(found)
    if first.partial_reason is None:
        assert found == expected
    elif first.next is None:
        assert not found
    else:
        rest = all_pages(generation, replace(request, after=first.next))
        assert found + [row for page in rest for row in rows(page.files)] == expected
        assert rest[-1].counts == counts_of(expected) and not rest[-1].partial


def test_counting_ends_at_its_cap_and_paging_does_not(hostile):
    request = ask("needle", max_lines=1000)
    pages = all_pages(hostile, request)
    assert len(pages) == 31
    for page in pages:
        assert page.partial_reason is PartialReason.MATCH_CAP
        assert (page.counts.files, page.counts.lines, page.counts.matches) == (1, 10_000, 10_000)
    found = [row for page in pages for row in rows(page.files)]
    assert len(found) == 30_002 and found[-1][:2] == (b"z.txt", 1)


@pytest.mark.parametrize("extra", [0, 1])
def test_exactly_the_cap_is_not_partial(tmp_path, extra):
    generation = generation_of(tmp_path, {"a": b"foo foo\n" * (MATCH_CAP // 2) + b"foo" * extra})
    result = run(generation, ask("foo"))
    assert result.counts.matches == MATCH_CAP
    assert result.partial == bool(extra)


def test_a_line_shows_its_first_thousand_matches_and_says_that_there_are_more(hostile):
    result = run(hostile, ask("ab "))
    (line,) = result.files[0].lines
    assert result.files[0].path == b"pairs.txt"
    assert len(line.fragments) == MAX_LINE_SPANS and line.fragments[-1] == (2997, 3)
    assert result.counts.matches == 5_000
    assert result.truncated and not result.has_more and not result.partial


def test_too_many_matches_in_a_batch_lose_no_line(tmp_path, monkeypatch):
    monkeypatch.setattr(occurrences, "MAX_BATCH_SPANS", 50)
    monkeypatch.setattr(scanning, "MAX_BATCH_SPANS", 50)
    files = {f"f{number}": b"eee e\nx\ne\n" * number for number in range(1, 9)}
    generation = generation_of(tmp_path, files)
    for pattern in ("e", "[e]", "(?i)E", "e+ ?"):
        request = ask(pattern, max_lines=9)
        assert all_rows(generation, request) == shown(scan(files, request))


def test_a_row_with_too_many_matches_is_cut_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(occurrences, "MAX_BATCH_SPANS", 50)
    monkeypatch.setattr(scanning, "MAX_BATCH_SPANS", 50)
    files = {"a": b"e\n" * 500, "b": b"e\n"}
    generation = generation_of(tmp_path, files)
    result = run(generation, ask("[e]"))
    assert result.partial_reason is PartialReason.MEMORY
    assert [file.path for file in result.files] == [b"a", b"b"]


@pytest.fixture(scope="module")
def ninety(tmp_path_factory):
    """Ninety files with a match each."""
    files = {f"f{number:03}": b"x\nneedle " + b"y" * 100 + b"\n" for number in range(90)}
    return generation_of(tmp_path_factory.mktemp("ninety"), files)


class TestShrinking:
    """Decision 15: whole page, then 20 files, 100 lines and no context, then files alone."""

    def search(self, generation, lines: int, **fields):
        return search(
            generation,
            ask("needle", context=2, **fields),
            Deadline.after(60),
            fits=lambda files: sum(len(file.lines) for file in files) <= lines,
        )

    def test_a_page_that_fits_stays(self, ninety):
        result = self.search(ninety, 90)
        assert (len(result.files), result.shrunk, result.next) == (90, False, None)
        assert result.files[0].lines[0].before == (b"x",)

    def test_a_page_that_does_not_becomes_small(self, ninety):
        result = self.search(ninety, 89)
        assert (len(result.files), result.shrunk, result.files_only) == (20, True, False)
        assert result.files[0].lines[0].before == ()
        assert result.truncated and result.next.path == b"f019"

    def test_then_files_alone(self, ninety):
        result = self.search(ninety, 5)
        assert (len(result.files), result.files_only, result.next) == (90, True, None)
        assert not any(file.lines for file in result.files)
        assert result.truncated and result.counts.lines == 90

    def test_the_next_page_follows_the_last_listed_file(self, ninety):
        result = self.search(ninety, 5, max_files=30)
        assert (result.next.path, result.next.line) == (b"f029", None)
        after = run(ninety, ask("needle", after=result.next))
        assert [file.path for file in after.files][0] == b"f030"
        assert after.counts.files == 90

    def test_lines_longer_than_any_answer_are_not_even_read(self, tmp_path):
        generation = generation_of(
            tmp_path, {name: b"needle" + b"x" * (MIB + 1) + name.encode() for name in "ab"}
        )
        asked = []
        result = search(generation, ask("needle"), Deadline.after(60), fits=asked.append)
        assert result.files_only and [file.path for file in result.files] == [b"a", b"b"]
        assert asked == []

    def test_a_small_page_never_exceeds_what_was_asked_for(self, ninety):
        result = self.search(ninety, 5, max_files=5)
        assert len(result.files) == 5 and not result.files_only and SMALL_PAGE.files == 20
