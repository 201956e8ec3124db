from datetime import UTC, datetime, timedelta

import pytest

from repos.retention import Commit, Window, eligible, within

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def commit(name: str, days_ago: float) -> Commit:
    return Commit(name, NOW - timedelta(days=days_ago))


def line(*days_ago: float, prefix: str = "c") -> list[Commit]:
    return [commit(f"{prefix}{i}", days) for i, days in enumerate(days_ago)]


def shas(commits) -> list[str]:
    return [c.sha for c in commits]


def test_count_keeps_the_newest_of_each_branch():
    found = eligible(
        {"a": line(1, 2, 3, prefix="a"), "b": line(4, prefix="b")}, Window(count=2), NOW
    )

    assert shas(found.commits) == ["a0", "a1", "b0"]


def test_days_keeps_what_is_not_older_and_its_edge():
    assert shas(within(line(1, 29, 30, 30.001), Window(days=30), NOW)) == ["c0", "c1", "c2"]


def test_days_always_keeps_the_tip():
    assert shas(within(line(400, 500), Window(days=30), NOW)) == ["c0"]


def test_one_commit_with_a_wrong_clock_neither_cuts_nor_leaves_a_hole():
    assert shas(within(line(1, 9000, 2, 100), Window(days=30), NOW)) == ["c0", "c1", "c2"]


def test_a_commit_from_the_future_belongs_to_the_window():
    assert shas(within(line(-900, 2, 100), Window(days=30), NOW)) == ["c0", "c1"]


def test_a_commit_of_two_branches_counts_once():
    shared = line(5, 6)

    found = eligible({"a": [commit("a", 1), *shared], "b": shared}, Window(count=3), NOW)

    assert shas(found.commits) == ["a", "c0", "c1"]


def test_commits_of_one_second_are_ordered_by_id():
    found = eligible({"a": [commit("f", 1), commit("b", 1)]}, Window(count=9), NOW)

    assert shas(found.commits) == ["b", "f"]


def test_beyond_the_limit_the_tips_and_the_newest_stay():
    histories = {"new": line(1, 2, 3, 4, prefix="n"), "old": line(300, 301, prefix="o")}

    found = eligible(histories, Window(days=365), NOW, limit=3)

    assert shas(found.commits) == ["n0", "n1", "o0"]
    assert found.truncated


@pytest.mark.parametrize("window", [Window(days=30), Window(count=3)])
def test_no_branch_means_no_version(window):
    assert eligible({}, window, NOW).commits == ()
