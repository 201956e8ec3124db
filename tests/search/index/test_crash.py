"""The builder may die at any write, or the disk be full at any write."""

import errno
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from search.index.collect import collect
from search.index.merge import merge
from search.index.store import GenerationMissing, IndexStore
from search.index.verify import verify
from sourcegraph_site.kernel.errors import InsufficientStorage
from tests.search.index.support import texts

# Everything that changes a file or a name.
CHANGES = (
    "write", "pwrite", "copy_file_range", "ftruncate", "fsync", "rename", "replace",
    "unlink", "mkdir", "rmdir",
)  # fmt: skip


# Of these, what a full disk can refuse.
GROWING = ("write", "pwrite", "copy_file_range", "fsync", "rename", "replace")


class Faults:
    """Counts the changes a process makes, and does something at one of them."""

    def __init__(
        self, at: int, strike: Callable[[], None], names: tuple[str, ...] = CHANGES
    ) -> None:
        self.at, self.strike, self.names, self.seen = at, strike, names, 0

    def install(self, patch: pytest.MonkeyPatch) -> None:
        for name in self.names:
            patch.setattr(os, name, self._wrap(name, getattr(os, name)))
        patch.setattr(Path, "write_bytes", self._wrap("write_bytes", Path.write_bytes))

    def _wrap(self, name: str, change: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*args, **kwargs):
            self.seen += 1
            if self.seen == self.at:
                if name in ("write", "pwrite"):
                    data = bytes(args[1])
                    change(args[0], data[: len(data) // 2], *args[2:])
                self.strike()
            return change(*args, **kwargs)

        return wrapped


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def killed_at(change: int, work: Callable[[], object]) -> bool:
    """Do the work in a child that dies at this change. False when it ended before it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            Faults(change, die).install(pytest.MonkeyPatch())
            work()
            status = 0
        finally:
            os._exit(status)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), "the work itself failed"
    return code != 0


@pytest.fixture
def commits(repository, make_store):
    """An indexed commit and one that is not."""
    old = repository.commit({"a": "old text\n" * 500, "b": b"\0", "c": "kept\n"})
    make_store().index_commit(old)
    new = repository.commit({"a": "new text\n" * 500, "d": "crlf\r\n"})
    return old, new


OLD = {b"a": b"old text\n" * 500, b"c": b"kept\n"}
NEW = {b"a": b"new text\n" * 500, b"c": b"kept\n", b"d": b"crlf\n"}


def test_a_builder_killed_at_any_write_leaves_the_old_index_and_the_next_one_finishes(
    commits, make_store
):
    old, new = commits
    before = make_store().segment_files()
    change = 0
    while killed_at(change := change + 1, lambda: make_store().index_commit(new)):
        store = make_store()
        assert texts(store.open_generation(old)) == OLD
        try:
            assert texts(store.open_generation(new)) == NEW
        except GenerationMissing:
            assert not store.has_manifest(new)
        store.index_commit(new)
        assert texts(store.open_generation(new)) == NEW
        assert verify(store, deep=True) == []
        assert len(store.segment_files()) == 2
        assert not (store.root / "staging").exists()
        undo(store, new, before)
    assert change > 25, "the writes were not counted"
    assert texts(make_store().open_generation(new)) == NEW


def undo(store: IndexStore, commit: str, before: list[Path]) -> None:
    """Take a commit out of the index again."""
    store.manifest_path(commit).unlink(missing_ok=True)
    for path in set(store.segment_files()) - set(before):
        path.unlink()


def test_a_merge_killed_at_any_write_loses_nothing_and_the_next_one_finishes(
    repository, make_store
):
    contents = {}
    store = make_store()
    for i in range(5):
        commit = repository.commit({f"f{i}": f"text {i}\n", "same": f"v{i}\n"})
        store.index_commit(commit)
        contents[commit] = texts(store.open_generation(commit))
    change = 0
    while killed_at(change := change + 1, lambda: merge(make_store(), lambda: list(contents))):
        store = make_store()
        assert {c: texts(store.open_generation(c)) for c in contents} == contents
    assert change > 25
    store = make_store()
    merge(store, lambda: list(contents))
    collect(store, lambda: [(commit, "") for commit in contents], grace_s=0)
    assert len(store.segment_files()) == 1
    assert {c: texts(store.open_generation(c)) for c in contents} == contents
    assert verify(store, deep=True) == []
    assert not (store.root / "staging").exists()


def test_a_collection_killed_at_any_write_takes_nothing_that_is_kept(repository, make_store):
    commits = [repository.commit({"a": f"text {i}\n"}) for i in range(4)]
    for commit in commits:
        make_store().index_commit(commit)
    *_, kept = commits

    def run() -> object:
        return collect(make_store(), lambda: [(kept, "")], grace_s=0)

    change = 0
    while killed_at(change := change + 1, run):
        assert texts(make_store().open_generation(kept)) == {b"a": b"text 3\n"}
    for _ in commits:
        run()
    assert len(make_store().segment_files()) == len(make_store().manifest_files()) == 1


def test_a_full_disk_is_a_typed_error_and_leaves_no_debris(commits, make_store, monkeypatch):
    old, new = commits
    before = make_store().segment_files()
    errors = 0
    for change in range(1, 1000):
        faults = Faults(change, full, names=GROWING)
        with monkeypatch.context() as patch:
            faults.install(patch)
            try:
                make_store().index_commit(new)
            except InsufficientStorage:
                errors += 1
                # The last change is to make a whole manifest's name durable.
                if make_store().has_manifest(new):
                    assert texts(make_store().open_generation(new)) == NEW
        if faults.seen < change:
            break
        store = make_store()
        assert not (store.root / "staging").exists()
        assert texts(store.open_generation(old)) == OLD
        assert verify(store) == []
        undo(store, new, before)
    assert errors > 12


def test_a_full_disk_in_a_worker_process_is_the_same_error(repository, make_store, tmp_path):
    commit = repository.commit({f"f{i}": f"{i} text of a line\n" * 60_000 for i in range(8)})
    child = os.fork()
    if child == 0:
        status = 1
        try:
            # The workers inherit the limit; a write beyond it fails as on a full disk.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
            try:
                make_store(workers=2).index_commit(commit)
            except InsufficientStorage:
                status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert make_store().segment_files() == []
    assert not (make_store().root / "staging").exists()


def test_workers_end_when_their_builder_is_killed(repository, make_store):
    commit = repository.commit({f"f{i}": f"{i} text of a line\n" * 60_000 for i in range(30)})
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.set_inheritable(writing, True)
            from search.index import builder

            started = builder.Workers

            class Reporting(started):  # type: ignore[misc, valid-type]
                def send(self, requests):
                    pids = [process.pid for process in self._processes]
                    os.write(writing, " ".join(map(str, pids)).encode())
                    super().send(requests)

            builder.Workers = Reporting  # type: ignore[misc]
            make_store(workers=3).index_commit(commit)
        finally:
            os._exit(0)
    os.close(writing)
    pids = [int(pid) for pid in os.read(reading, 100).split()]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)
    assert len(pids) == 2
    for _ in range(500):
        alive = [pid for pid in pids if is_running(pid)]
        if not alive:
            break
        time.sleep(0.01)
    assert not alive
    store = make_store()
    store.index_commit(commit)
    assert len(store.open_generation(commit).paths) == 30


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
