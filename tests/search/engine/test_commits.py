"""A search at a commit is a search of its files, whatever other commits share the index."""

import pytest

from search.index.merge import merge
from tests.search.engine.world import World, all_rows, ask, rows, run, scan, shown

BASE = {
    "a.txt": b"alpha\nbeta\n",
    "b.txt": b"beta gamma\n",
    "dir/a.txt": b"alpha\nbeta\n",
    "empty": b"",
}
HISTORY = [
    BASE,
    {**BASE, "b.txt": b"delta\n"},  # the old text is dead now
    {"moved.txt": BASE["b.txt"], "a.txt": BASE["a.txt"]},  # a blob that the second lacks
    {},
    {**BASE, "a.txt": b"beta\n" * 3_000},  # several blocks
    BASE,
]


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    world = World.at(tmp_path_factory.mktemp("world"))
    commits = [world.commit(files) for files in HISTORY]
    return [world.generation(commit) for commit in commits]


@pytest.mark.parametrize("pattern", ["beta", "b", "be", "[ab]l?[pe]", "(?i)BETA$", "delta|gamma"])
def test_every_commit_answers_as_its_checkout(history, pattern):
    for generation, files in zip(history, HISTORY, strict=True):
        request = ask(pattern)
        assert all_rows(generation, request) == shown(scan(files, request))


def test_text_that_is_only_in_other_commits_is_not_found(history):
    assert rows(run(history[1], ask("gamma")).files) == []
    assert rows(run(history[2], ask("delta")).files) == []


def test_a_blob_at_two_paths_is_found_at_both(history):
    found = run(history[0], ask("alpha"))
    assert [file.path for file in found.files] == [b"a.txt", b"dir/a.txt"]
    assert found.files[0].oid == found.files[1].oid
    assert found.counts.files == 2


def test_an_empty_commit_finds_nothing(history):
    found = run(history[3], ask("beta"))
    assert (found.files, found.counts.matches, found.next) == ((), 0, None)
    assert found.indexed_documents == 0


def test_a_merge_of_segments_changes_no_answer(tmp_path):
    world = World.at(tmp_path)
    trees = [*HISTORY, *({**BASE, "new.txt": b"beta %d\n" % number} for number in range(8))]
    commits = [world.commit(files) for files in trees]
    before = [all_rows(world.generation(commit), ask("beta")) for commit in commits]
    assert len(merge(world.store, lambda: commits)) == 1
    after = [all_rows(world.generation(commit), ask("beta")) for commit in commits]
    assert before == after == [shown(scan(files, ask("beta"))) for files in trees]
