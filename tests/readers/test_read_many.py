"""Several reads in one request: one commit, one budget, an error for each bad item."""

import pytest

from readers.errors import InvalidReadItems
from readers.usecases.read_many import ReadItem, ReadMany, read_many
from repos.errors import RevisionNotEligible
from tests.support.git_remote import Submodule


@pytest.fixture
def many(shelf, actor):
    def call(*items, revision=None):
        files = [ReadItem(path=path, start_line=start, end_line=end) for path, start, end in items]
        return read_many(actor, ReadMany(repo=shelf.name, files=files, revision=revision))

    return call


def codes(page):
    return [item.error.code if item.error else None for item in page.items]


def lines(page):
    return [
        item.file and (item.file.returned_start_line, item.file.returned_end_line)
        for item in page.items
    ]


def test_items_are_answered_in_order_at_one_commit(shelf, many):
    commit = shelf.commit({"a": "1\n2\n3\n", "b": "x\n"})
    page = many(("b", None, None), ("a", 2, 3), ("a", 2, None))
    assert page.commit == commit
    assert [item.index for item in page.items] == [0, 1, 2]
    assert [item.file.content for item in page.items] == ["x\n", "2\n3\n", "2\n3\n"]
    assert codes(page) == [None] * 3


def test_a_bad_item_has_its_own_error_and_the_others_go_on(shelf, many):
    shelf.commit({"a": "1\n", "bin": b"\0", "d/x": "1\n", "sub": Submodule("ab" * 20)})
    page = many(
        ("a", 0, 1),
        ("a", 3, 2),
        ("a", 5, 9),
        ("../a", 1, 1),
        ("nope", 1, 1),
        ("d", 1, 1),
        ("bin", 1, 1),
        ("sub", 1, 1),
        ("a", 1, 1),
    )
    assert codes(page) == [
        "INVALID_LINE_RANGE",
        "INVALID_LINE_RANGE",
        "LINE_RANGE_NOT_SATISFIABLE",
        "INVALID_PATH",
        "FILE_NOT_FOUND",
        "NOT_A_FILE",
        "BINARY_FILE",
        None,
        None,
    ]
    assert page.items[7].file.encoding == "gitlink"
    assert page.items[8].file.content == "1\n"


def test_the_items_share_1000_lines(shelf, many):
    shelf.commit({"a": "x\n" * 2000, "empty": ""})
    page = many(("a", 1, 400), ("a", 1, 400), ("a", 1, 400), ("a", 7, 7), ("empty", 1, 1))
    assert lines(page) == [(1, 400), (1, 400), (1, 200), None, (None, None)]
    assert codes(page) == [None, None, "READ_BUDGET_EXCEEDED", "READ_BUDGET_EXCEEDED", None]
    assert page.items[2].file.truncated
    assert page.items[2].file.next_start_line == 201


def test_the_cap_of_one_item_is_not_the_shared_budget(shelf, many):
    shelf.commit({"a": "x\n" * 2000})
    page = many(("a", 1, 900), ("a", 1, 500))
    assert lines(page) == [(1, 500), (1, 500)]
    assert codes(page) == [None, None]
    assert page.items[0].file.truncated


def test_the_items_share_256_kib_and_smaller_later_ones_still_fit(shelf, many):
    shelf.commit({"big": ("x" * 1023 + "\n") * 250, "large": ("y" * 10239 + "\n") * 2, "s": "z\n"})
    page = many(("big", 1, 250), ("large", 1, 2), ("s", 1, 1))
    assert lines(page) == [(1, 250), None, (1, 1)]
    assert codes(page) == [None, "READ_BUDGET_EXCEEDED", None]


@pytest.mark.parametrize("count", [0, 11])
def test_one_to_ten_items_are_taken(actor, db, count):
    with pytest.raises(InvalidReadItems):
        read_many(actor, ReadMany(repo="no/such", files=[ReadItem(path="a")] * count))


def test_a_bad_revision_fails_the_whole_request(shelf, many):
    shelf.commit({"a": "1\n"})
    with pytest.raises(RevisionNotEligible):
        many(("a", 1, 1), revision="0" * 40)


def test_items_behind_the_deadline_time_out_one_by_one(shelf, many, settings):
    shelf.commit({"a": "1\n"})
    settings.REQUEST_SECONDS = 1.0  # all of it is kept back for writing the answer
    assert codes(many(("a", 1, 1), ("a", 1, 1))) == ["READ_TIMEOUT", "READ_TIMEOUT"]
