"""Merging and collecting: what is wanted stays readable, the rest goes away."""

import gc
import os
import random
from pathlib import Path

import pytest

from search.index.collect import collect
from search.index.merge import MAX_SEGMENTS, Tally, choose, merge
from search.index.store import GenerationMissing, IndexStore
from search.index.verify import verify
from tests.search.index.support import random_text, texts


@pytest.fixture
def history(repository, store):
    """Ten commits, each indexed by itself, with what each holds."""
    rng = random.Random(2)
    expected, files = {}, {}
    for i in range(10):
        change = {f"f{j}": random_text(rng, 3_000) for j in rng.sample(range(12), 3)}
        change |= {"crlf": b"x\r\r\n" * i, f"nul{i}": b"\0"}
        files |= change
        commit = repository.commit(change)
        store.index_commit(commit)
        expected[commit] = texts(store.open_generation(commit))
    return expected


def test_a_merge_keeps_every_generation_as_it_was(store, history):
    assert len(store.segment_files()) == 10
    assert len(merge(store, lambda: list(history))) == 1
    assert len(store.segment_files()) == 1
    fresh = IndexStore(store.root, store.git_dir)
    for each in (store, fresh):
        assert {commit: texts(each.open_generation(commit)) for commit in history} == history
    assert verify(fresh, deep=True) == []


def test_a_generation_that_is_open_stays_readable_after_a_merge_and_a_collection(store, history):
    first, *_, last = history
    generation = store.open_generation(first)
    merge(store, lambda: [last])
    collect(store, lambda: [(last, "")], grace_s=0)
    assert texts(generation) == history[first]


def test_files_that_a_merge_removed_are_not_kept_open(store, history):
    """They would keep their disk space, of every commit that was ever searched."""

    first, *_, last = history
    merge(store, lambda: list(history))
    store.open_generation(first)
    gc.collect()
    mapped = Path("/proc/self/maps").read_text().splitlines()
    ours = [line for line in mapped if str(store.root) in line]
    assert ours
    assert [line for line in ours if line.endswith("(deleted)")] == []
    assert texts(store.open_generation(last)) == history[last]


def test_a_merge_drops_what_no_commit_and_no_manifest_wants(store, history):
    *_, last = history
    for commit in list(history)[:-1]:
        collect(store, lambda: [(last, "")], grace_s=0)
        assert not store.has_manifest(commit)
    merge(store, lambda: [last])
    (segment,) = store.open_segments()
    wanted = set(history[last].values())
    assert {bytes(segment.text(d)) for d in range(len(segment.document_oids))} == wanted
    assert texts(store.open_generation(last)) == history[last]


def test_a_merge_keeps_what_a_commit_without_a_manifest_wants(repository, store):
    commits = [repository.commit({"a": f"version {i}\n"}) for i in range(6)]
    for commit in commits:
        store.index_commits([commit])
    merge(store, lambda: commits)
    for i, commit in enumerate(commits):
        assert texts(store.open_generation(commit)) == {b"a": b"version %d\n" % i}


def test_a_merge_keeps_why_blobs_were_skipped(store, history):
    merge(store, lambda: list(history))
    *_, last = history
    assert store.index_commit(last).new_documents == 0
    assert store.open_generation(last).skipped == {"binary": 10}


def test_a_segment_that_is_mostly_dead_is_rewritten(repository, store):
    text = random_text(random.Random(1), 50_000)
    first = repository.commit({"big": text, "small": "keep\n"})
    second = repository.commit({"big": None})
    store.index_commits([first])
    before = store.segment_files()[0].stat().st_size
    merge(store, lambda: [second])
    (path,) = store.segment_files()
    assert path.stat().st_size < before / 2
    assert texts(store.open_generation(second)) == {b"small": b"keep\n"}
    with pytest.raises(GenerationMissing):
        store.open_generation(first)


@pytest.mark.parametrize("seed", range(5))
def test_however_many_syncs_there_were_few_segments_are_left(seed):
    rng = random.Random(seed)
    sizes = [rng.randrange(10**9)]
    rewritten = total = sizes[0]
    for _ in range(500):
        sizes.append(rng.randrange(1, 10**6))
        total += sizes[-1]
        for group in choose([Tally(size, size) for size in sizes]):
            joined = sum(sizes[i] for i in group)
            rewritten += joined
            sizes = [size for i, size in enumerate(sizes) if i not in group] + [joined]
        assert len(sizes) <= MAX_SEGMENTS
    assert rewritten < 12 * total


def test_one_pass_removes_one_generation(store, history):
    *_, last = history
    removed = collect(store, lambda: [(last, "")], grace_s=0)
    assert removed.generation == (next(iter(history)), "")
    assert len(store.manifest_files()) == 9


def test_a_segment_goes_when_nothing_wants_it_and_its_grace_is_over(repository, store):
    old = repository.commit({"a": "old\n"})
    new = repository.commit({"a": "new\n"})
    store.index_commit(old)
    store.index_commit(new)
    assert collect(store, lambda: [(new, "")]).segments == ()
    for path in store.segment_files():
        os.utime(path, (0, 0))
    removed = collect(store, lambda: [(new, "")])
    assert len(removed.segments) == 1 and removed.freed_bytes > 0
    assert texts(store.open_generation(new)) == {b"a": b"new\n"}
    with pytest.raises(GenerationMissing):
        store.open_generation(old)


def test_a_kept_commit_without_a_manifest_keeps_its_segments(repository, store):
    old = repository.commit({"a": "old\n"})
    new = repository.commit({"a": "new\n"})
    store.index_commits([old, new])
    assert collect(store, lambda: [(old, ""), (new, "")], grace_s=0).segments == ()
    assert texts(store.open_generation(old)) == {b"a": b"old\n"}


def test_segments_of_old_options_go_when_the_new_ones_have_everything(repository, make_store):
    from search.index.options import IndexOptions

    commit = repository.commit({"a": "x\n"})
    older = make_store(IndexOptions(max_blob_bytes=1000))
    older.index_commit(commit)
    newer = make_store()
    assert collect(newer, lambda: [(commit, "")], grace_s=0).segments == ()
    newer.index_commit(commit)
    assert len(collect(newer, lambda: [(commit, "")], grace_s=0).segments) == 1
    assert texts(newer.open_generation(commit)) == {b"a": b"x\n"}


def test_debris_of_a_killed_builder_is_swept(store, history):
    debris = store.root / "staging" / "left-over"
    debris.mkdir(parents=True)
    (debris / "content.0").write_bytes(b"x")
    collect(store, lambda: [(commit, "") for commit in history])
    assert not (store.root / "staging").exists()
