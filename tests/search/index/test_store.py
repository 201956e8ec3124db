"""From commits to generations: what is built, what is not built again, what is missing."""

import pytest

from search.index.format import MAX_DOCUMENT_BYTES
from search.index.options import IndexOptions
from search.index.store import GenerationMissing, IndexStore
from search.index.workers import GitFailed
from tests.search.index.support import texts
from tests.support.git_remote import GitRemote, Link, Submodule, git, lfs_pointer

OTHER = "1" * 40


def test_a_generation_holds_the_files_of_its_commit(indexed):
    generation = indexed({"b/c.txt": "one\n", "a.txt": "two\n", "a/z": "one\n", "a-b": "x"})
    assert texts(generation) == {
        b"a-b": b"x",
        b"a.txt": b"two\n",
        b"a/z": b"one\n",
        b"b/c.txt": b"one\n",
    }
    assert list(generation.paths) == sorted(generation.paths)


def test_a_blob_at_several_paths_is_one_document(indexed):
    generation = indexed({"a": "same\n", "b/a": "same\n", "c": "other\n"})
    (segment,) = generation.segments
    assert len(segment.document_oids) == 2
    document = generation.path_document[0]
    found = generation.paths_of(0, generation.path_document[[0, 2]])
    assert found.starts.tolist() == [0, 2, 3]
    assert [generation.paths[i] for i in found.paths] == [b"a", b"b/a", b"c"]
    assert generation.path_document[1] == document


def test_a_link_is_its_target_text_and_a_submodule_is_counted(indexed):
    generation = indexed({"link": Link("/etc/passwd"), "sub": Submodule(OTHER), "f": lfs_pointer()})
    assert texts(generation) == {b"link": b"/etc/passwd", b"f": lfs_pointer().encode()}
    assert generation.skipped == {"submodule": 1, "lfs_pointer": 1}


@pytest.mark.parametrize(
    "path",
    [b"caf\xe9", b"a\\b", b"a\tb", b"new\nline", b"del\x7f", "c1\x85".encode(), b"x" * 4097],
)
def test_a_path_that_no_caller_can_name_is_counted_and_left_out(indexed, path):
    generation = indexed({path: "text\n", "good": "text\n"})
    assert list(generation.paths) == [b"good"]
    assert generation.skipped == {"unsupported_path": 1}


@pytest.mark.parametrize("path", ["ümlaut/日本", "a b", "..a", "a..", ".hidden/...", "|", "a|.b|c"])
def test_an_unusual_path_is_indexed(indexed, path):
    assert list(indexed({path: "x"}).paths) == [path.encode()]


def test_a_second_commit_adds_only_the_blobs_that_are_new(repository, store):
    first = repository.commit({"a": "one\n", "b": "two\n"})
    second = repository.commit({"a": "three\n"})
    assert store.index_commit(first).new_documents == 2
    assert store.index_commit(second).new_documents == 1
    assert texts(store.open_generation(second)) == {b"a": b"three\n", b"b": b"two\n"}
    assert texts(store.open_generation(first)) == {b"a": b"one\n", b"b": b"two\n"}
    assert len(store.open_generation(second).segments) == 2


def test_a_commit_without_new_blobs_adds_no_segment(repository, store):
    first = repository.commit({"a": "one\n"})
    renamed = repository.commit({"a": None, "b": "one\n"})
    store.index_commit(first)
    assert store.index_commit(renamed).segments == ()
    assert texts(store.open_generation(renamed)) == {b"b": b"one\n"}


def test_a_file_that_was_removed_and_added_again_is_alive(repository, store):
    commits = [
        repository.commit({"a": "text\n", "b": "x"}),
        repository.commit({"a": None}),
        repository.commit({"a": "text\n"}),
    ]
    for commit in commits:
        store.index_commit(commit)
    alive = [store.open_generation(commit).live_blocks(0).tolist() for commit in commits]
    assert [sum(blocks) for blocks in alive] == [2, 1, 2]


def test_every_commit_of_a_history_opens_after_one_build(repository, store):
    commits = [repository.commit({"f": f"version {i}\n", f"g{i}": "g\n"}) for i in range(30)]
    report = store.index_commits(commits)
    assert report.new_documents == 31
    assert len(report.segments) == 1
    for i, commit in enumerate(commits):
        expected = {b"f": b"version %d\n" % i} | {b"g%d" % j: b"g\n" for j in range(i + 1)}
        assert texts(store.open_generation(commit)) == expected
    assert store.index_commits(commits).new_documents == 0


def test_an_old_commit_opens_without_a_build_when_its_blobs_are_known(repository, store):
    first = repository.commit({"a": "one\n", "b": "two\n"})
    second = repository.commit({"c": "three\n"})
    store.index_commit(second)
    assert texts(store.open_generation(first)) == {b"a": b"one\n", b"b": b"two\n"}
    assert not store.has_manifest(first) and store.has_manifest(second)


def test_a_commit_with_an_unknown_blob_is_missing(repository, store):
    first = repository.commit({"a": "one\n"})
    second = repository.commit({"a": "two\n"})
    store.index_commit(first)
    with pytest.raises(GenerationMissing):
        store.open_generation(second)


def test_a_commit_that_git_does_not_have_fails_and_changes_nothing(repository, store):
    repository.commit({"a": "one\n"})
    with pytest.raises(GitFailed):
        store.index_commit(OTHER)
    with pytest.raises(GitFailed):
        store.open_generation(OTHER)
    assert store.segment_files() == store.manifest_files() == []


def test_an_empty_tree_is_a_generation_without_paths(repository, store):
    repository.commit({"a": "x"})
    empty = repository.commit({"a": None})
    store.index_commit(empty)
    generation = store.open_generation(empty)
    assert (len(generation.paths), generation.segments, generation.skipped) == (0, (), {})


def test_a_commit_of_skipped_blobs_alone_opens_and_is_not_read_again(repository, store):
    commit = repository.commit({"a": b"\0", "b": b"\0\0"})
    store.index_commit(commit)
    assert store.open_generation(commit).skipped == {"binary": 2}
    again = repository.commit({"c": b"\0"})
    assert store.index_commit(again).new_documents == 0
    assert store.open_generation(again).skipped == {"binary": 3}


def test_a_missing_blob_fails_the_build_and_leaves_no_debris(repository, store):
    commit = repository.commit({"a": "one\n", "b": "two\n"})
    oid = git(repository.path, "rev-parse", f"{commit}:a").decode().strip()
    packs = list((repository.path / "objects/pack").glob("*.pack"))
    for pack in packs:
        data = pack.read_bytes()
        for each in (repository.path / "objects/pack").glob(f"{pack.stem}.*"):
            each.unlink()
        git(repository.path, "unpack-objects", "-q", stdin=data)
    (repository.path / "objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(Exception, match=oid):
        store.index_commit(commit)
    assert store.segment_files() == store.manifest_files() == []
    assert not (store.root / "staging").exists()


def test_sha256_repositories_have_longer_ids(tmp_path):
    repository = GitRemote(tmp_path / "sha256.git", object_format="sha256")
    commit = repository.commit({"a": "one\n", "b": "two\n"})
    store = IndexStore(tmp_path / "index", repository.path)
    store.index_commit(commit)
    generation = store.open_generation(commit)
    assert len(commit) == 64 and len(generation.path_oid(0)) == 32
    assert texts(generation) == {b"a": b"one\n", b"b": b"two\n"}


def test_a_group_holds_the_files_below_its_paths(repository, store):
    commit = repository.commit({"a/x": "1", "a/y/z": "2", "ab": "3", "b": "4", "c/d": b"\0"})
    store.index_commit(commit, group="first", scope=[b"a", b"b"])
    generation = store.open_generation(commit, "first", [b"a", b"b"])
    assert list(generation.paths) == [b"a/x", b"a/y/z", b"b"]
    assert generation.skipped == {}
    with pytest.raises(GenerationMissing):
        store.open_generation(commit)


def test_a_group_that_was_redefined_is_computed_anew(repository, store):
    commit = repository.commit({"a/x": "1", "b/x": "2"})
    store.index_commit(commit)
    store.index_commit(commit, group="g/é", scope=[b"a"])
    assert list(store.open_generation(commit, "g/é", [b"b"]).paths) == [b"b/x"]
    assert list(store.open_generation(commit, "g/é", [b"a"]).paths) == [b"a/x"]


def test_a_blob_above_the_limit_is_counted(repository, make_store):
    store = make_store(IndexOptions(max_blob_bytes=100))
    commit = repository.commit({"a": "x" * 101, "b": "y" * 100})
    store.index_commit(commit)
    generation = store.open_generation(commit)
    assert list(generation.paths) == [b"b"]
    assert generation.skipped == {"too_large": 1}


def test_an_override_glob_lets_a_large_blob_in_at_its_path_alone(repository, make_store):
    store = make_store(IndexOptions(max_blob_bytes=100, large_file_globs=("*.lock",)))
    commit = repository.commit({"a.lock": "x" * 101, "b": "x" * 101, "c": "y" * 101})
    store.index_commit(commit)
    generation = store.open_generation(commit)
    assert list(generation.paths) == [b"a.lock"]
    assert generation.skipped == {"too_large": 2}
    later = repository.commit({"c.lock": "y" * 101})
    with pytest.raises(GenerationMissing):
        store.open_generation(later)
    store.index_commit(later)
    assert list(store.open_generation(later).paths) == [b"a.lock", b"c.lock"]
    assert list(store.open_generation(commit).paths) == [b"a.lock"]


def test_no_glob_lets_in_what_the_format_cannot_hold(repository, make_store):
    store = make_store(IndexOptions(large_file_globs=("*",)))
    commit = repository.commit({"big": b"x" * (MAX_DOCUMENT_BYTES + 1), "small": "y"})
    store.index_commit(commit)
    assert store.open_generation(commit).skipped == {"too_large": 1}
    assert store.index_commit(commit).segments == ()


def test_a_document_of_the_largest_size_is_indexed_whole(repository, make_store):
    store = make_store(IndexOptions(large_file_globs=("*",)))
    blob = (b"line of text\n" * (MAX_DOCUMENT_BYTES // 13 + 1))[:MAX_DOCUMENT_BYTES]
    commit = repository.commit({"big": blob, "next": "after\n"})
    store.index_commit(commit)
    assert texts(store.open_generation(commit)) == {b"big": blob, b"next": b"after\n"}


def test_changed_options_rebuild_beside_the_old_index_which_serves_until_then(
    repository, make_store
):
    commit = repository.commit({"a": "x" * 101, "b": "y"})
    make_store(IndexOptions(max_blob_bytes=100)).index_commit(commit)
    changed = make_store(IndexOptions(max_blob_bytes=200))
    assert list(changed.open_generation(commit).paths) == [b"b"]
    assert changed.index_commit(commit).new_documents == 2
    assert list(changed.open_generation(commit).paths) == [b"a", b"b"]


def test_an_open_generation_is_shared_until_its_manifest_changes(repository, store):
    commit = repository.commit({"a": "x"})
    store.index_commit(commit)
    first = store.open_generation(commit)
    assert store.open_generation(commit) is first
    store.index_commit(commit)
    assert store.open_generation(commit) is not first


def test_progress_never_exceeds_the_total(repository, make_store):
    store = make_store(workers=2)
    commit = repository.commit({f"f{i}": f"{i} text of a line\n" * 20_000 for i in range(16)})
    seen: list[tuple[int, int]] = []
    store.index_commit(commit, progress=lambda done, total: seen.append((done, total)))
    assert all(0 <= done <= total for done, total in seen)


def test_an_error_of_the_progress_callback_ends_the_build(repository, make_store):
    store = make_store(workers=2)
    commit = repository.commit({f"f{i}": f"{i} text of a line\n" * 60_000 for i in range(16)})

    def cancel(done: int, total: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        store.index_commit(commit, progress=cancel)
    assert store.segment_files() == []
    assert not (store.root / "staging").exists()
