"""Searching many repositories is searching each of them, in the order of their names."""

from dataclasses import replace

import pytest

from search.engine.budget import PartialReason
from search.engine.many import ManyResult, Target, search_many
from search.engine.request import MATCH_CAP, Counts
from search.engine.signature import SIGNATURE_BYTES, may_match, signature_of
from search.index.format import CorruptIndex
from search.pattern import compile_pattern
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import NotFound
from tests.search.engine.world import ask, generation_of, rows, run

TREES = {
    "acme/a": {"one": b"foo\nbar foo\n", "two": b"foo foo\n"},
    "acme/b": {"none": b"nothing here\n"},
    "acme/c": {"x": b"a foo\nb foo\nc foo\n", "y": b"x\nfoo\ny\n"},
    "zed/d": {"last": b"foo\n"},
}


@pytest.fixture(scope="module")
def generations(tmp_path_factory):
    return {
        name: generation_of(tmp_path_factory.mktemp("tree"), files) for name, files in TREES.items()
    }


@pytest.fixture(scope="module")
def targets(generations):
    return [Target(name, lambda made=made: made) for name, made in generations.items()]


def ask_many(targets, request, seconds: float = 60, **fields) -> ManyResult:
    return search_many(targets, request, Deadline.after(seconds), **fields)


def found(result: ManyResult) -> list[tuple[str, bytes, int]]:
    return [
        (page.name, path, number) for page in result.pages for path, number, *_ in rows(page.files)
    ]


def each_by_itself(generations, pattern: str) -> list[tuple[str, bytes, int]]:
    return [
        (name, path, number)
        for name, generation in generations.items()
        for path, number, *_ in rows(run(generation, ask(pattern)).files)
    ]


def test_the_whole_is_each_by_itself(generations, targets):
    result = ask_many(targets, ask("foo"))
    assert found(result) == each_by_itself(generations, "foo")
    assert result.counts == Counts(files=5, lines=8, matches=9)
    assert (result.next, result.partial_reason, result.truncated) == (None, None, False)
    assert [outcome.name for outcome in result.outcomes] == list(TREES)


@pytest.mark.parametrize(
    "size", [{"max_lines": 1}, {"max_lines": 3}, {"max_files": 1}, {"max_files": 2, "max_lines": 2}]
)
def test_pages_of_any_size_are_the_whole(generations, targets, size):
    request = ask("foo", **size)
    pages = [ask_many(targets, request)]
    while (after := pages[-1].next) is not None:
        pages.append(ask_many(targets, request, after=after))
        assert len(pages) < 50
    assert [row for page in pages for row in found(page)] == each_by_itself(generations, "foo")
    assert {page.counts for page in pages} == {Counts(5, 8, 9)}


def test_pages_of_files_are_all_files(targets):
    request = ask("foo", output="files", max_files=2)
    pages = [ask_many(targets, request)]
    while (after := pages[-1].next) is not None:
        pages.append(ask_many(targets, request, after=after))
    paths = [(part.name, file.path) for page in pages for part in page.pages for file in part.files]
    assert paths == [
        ("acme/a", b"one"),
        ("acme/a", b"two"),
        ("acme/c", b"x"),
        ("acme/c", b"y"),
        ("zed/d", b"last"),
    ]


def test_a_repository_that_fails_does_not_hide_the_others(targets):
    def damaged():
        raise CorruptIndex("s1", "damaged")

    def hidden():
        raise NotFound("gone")

    more = [targets[0], Target("acme/b", damaged), Target("acme/bb", hidden), targets[3]]
    result = ask_many(more, ask("foo"))
    assert [name for name, *_ in found(result)] == ["acme/a"] * 3 + ["zed/d"]
    failures = [outcome.failure for outcome in result.outcomes]
    assert [type(failure) for failure in failures] == [
        type(None),
        CorruptIndex,
        NotFound,
        type(None),
    ]


def test_the_cap_is_one_for_all(tmp_path):
    made = [
        generation_of(tmp_path / str(number), {"f": b"foo\n" * 6_000, "g": b"foo\n"})
        for number in range(3)
    ]
    targets = [Target(f"r{number}", lambda each=each: each) for number, each in enumerate(made)]
    request = ask("foo")
    result = ask_many(targets, request)
    assert result.counts == Counts(files=3, lines=MATCH_CAP, matches=MATCH_CAP)
    assert result.partial_reason is PartialReason.MATCH_CAP
    pages = [result]
    while (after := pages[-1].next) is not None:
        pages.append(ask_many(targets, request, after=after))
    assert sum(len(found(page)) for page in pages) == 3 * 6_001
    assert {page.counts for page in pages} == {result.counts}


def test_without_time_every_repository_is_partial(targets):
    result = ask_many(targets, ask("foo"), seconds=0)
    assert result.partial_reason is PartialReason.DEADLINE
    assert all(outcome.partial for outcome in result.outcomes)
    assert result.pages == () and result.next is None


class Countdown(Deadline):
    """A deadline that is reached when it has been looked at so many times."""

    looks = 0

    @property
    def expired(self) -> bool:
        Countdown.looks -= 1
        return Countdown.looks < 0


@pytest.mark.parametrize("looks", range(8))
def test_what_a_deadline_cuts_off_is_on_the_next_pages(generations, targets, looks):
    Countdown.looks = looks
    first = search_many(targets, ask("foo"), Countdown(1e18))
    shown = found(first)
    if first.next is not None:
        rest = ask_many(targets, ask("foo"), after=first.next)
        shown += found(rest)
        assert rest.counts == Counts(5, 8, 9)
    if shown:
        assert shown == each_by_itself(generations, "foo")


def test_a_page_that_does_not_fit_shrinks_as_that_of_one_repository(targets):
    def at_most(lines):
        return lambda pages: sum(len(file.lines) for part in pages for file in part.files) <= lines

    request = ask("foo", context=1)
    small = ask_many(targets, request, fits=at_most(8))
    assert not small.shrunk
    files = ask_many(targets, request, fits=at_most(0))
    assert files.files_only and files.shrunk and files.truncated
    assert [len(part.files) for part in files.pages] == [2, 2, 1]
    assert files.counts == Counts(5, 8, 9)


def test_the_second_step_keeps_a_hundred_lines_and_goes_on_behind_them(tmp_path):
    made = generation_of(tmp_path, {f"f{number:02}": b"x\nfoo\n" * 9 for number in range(30)})
    targets = [Target("a", lambda: made), Target("b", lambda: made)]
    request = ask("foo", context=1)

    def fits(pages):
        return sum(len(line.before) for part in pages for f in part.files for line in f.lines) == 0

    result = ask_many(targets, request, fits=fits)
    assert result.shrunk and not result.files_only
    assert len(found(result)) == 100
    pages = [result]
    while (after := pages[-1].next) is not None:
        pages.append(ask_many(targets, request, after=after))
    assert sum(len(found(page)) for page in pages) == 2 * 270


@pytest.mark.parametrize(
    "pattern",
    ["foo", "nothing here", "(?i)FOO", "foo|absent_word", "f.o", "x"],
)
def test_a_signature_rules_out_no_repository_with_a_match(generations, pattern):
    compiled = compile_pattern(pattern, fixed_strings=False, ignore_case=False)
    for generation in generations.values():
        signature = signature_of(generation)
        assert len(signature) == SIGNATURE_BYTES
        if run(generation, ask(pattern)).files:
            assert may_match(signature, compiled.condition)


def test_a_repository_without_the_trigrams_is_not_opened(generations):
    def never():
        raise AssertionError("opened")

    signature = signature_of(generations["acme/b"])
    result = ask_many([Target("acme/b", never, signature)], ask("foo_bar_absent"))
    assert result.outcomes[0].failure is None and result.pages == ()
    assert replace(result.outcomes[0]).result is None
