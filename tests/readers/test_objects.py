"""The pool of Git children: shared by threads, replaced when they fail, never left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from readers import objects as module
from readers.blobs import blob_of
from readers.errors import GitObjectNotHydrated
from readers.objects import ObjectPool, Objects
from repos.errors import RepositoryStorageMissing
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import QueryDeadlineExceeded
from tests.support.git_remote import GitRemote, git


@pytest.fixture
def remote(tmp_path):
    return GitRemote(tmp_path / "mirror.git")


@pytest.fixture
def pool(monkeypatch):
    fresh = ObjectPool()
    monkeypatch.setattr(module, "POOL", fresh)
    yield fresh
    fresh.close()
    assert fresh.pids() == []


def reader(remote, seconds=20.0):
    return Objects(remote.path, Deadline.after(seconds))


def blob_id(remote, path, commit="main"):
    return git(remote.path, "rev-parse", f"{commit}:{path}").decode().strip()


def open_files():
    return len(os.listdir("/proc/self/fd"))


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_contents_come_with_their_size_and_only_up_to_the_limit(remote, pool):
    remote.commit({"a": "hello\n", "empty": ""})
    found = reader(remote).contents(blob_id(remote, "a"), 3)
    assert (found.kind, found.size, found.data) == ("blob", 6, b"hel")
    assert reader(remote).contents(blob_id(remote, "a"), 100).data == b"hello\n"
    assert reader(remote).contents(blob_id(remote, "empty"), 100).data == b""
    assert len(pool.pids()) == 1


def test_what_is_missing_is_none_and_order_is_kept(remote, pool):
    remote.commit({f"f{n}": "x" * n for n in range(700)})
    oids = [blob_id(remote, f"f{n}") for n in (0, 5, 699)]
    infos = reader(remote).info([oids[2], "0" * 40, oids[0], *[oids[1]] * 600])
    assert infos[0].size == 699
    assert infos[1] is None
    assert infos[2].size == 0
    assert {info.size for info in infos[3:]} == {5}
    assert reader(remote).contents("1" * 40, 10) is None


@pytest.mark.parametrize("oid", ["main", "HEAD:a", "a" * 39, "A" * 40, "a" * 40 + "\ninfo x", ""])
def test_nothing_but_full_ids_reaches_a_child(remote, pool, oid):
    with pytest.raises(ValueError, match="full object ids"):
        reader(remote).contents(oid, 10)
    with pytest.raises(ValueError, match="full object ids"):
        reader(remote).info([oid])
    assert pool.pids() == []


def test_a_large_object_is_read_to_the_limit_and_its_child_replaced(remote, pool):
    remote.commit({"big": os.urandom(20 << 20), "a": "x"})
    big = blob_id(remote, "big")
    first = reader(remote).contents(big, 1 << 20)
    assert (first.size, len(first.data)) == (20 << 20, 1 << 20)
    assert pool.pids() == []
    assert reader(remote).contents(blob_id(remote, "a"), 10).data == b"x"


def test_a_killed_child_is_replaced_without_the_caller_noticing(remote, pool):
    remote.commit({"a": "x"})
    oid = blob_id(remote, "a")
    for _ in range(3):
        assert reader(remote).contents(oid, 10).data == b"x"
        [pid] = pool.pids()
        os.kill(pid, signal.SIGKILL)
    assert reader(remote).contents(oid, 10).data == b"x"


def test_a_child_that_is_killed_in_the_middle_of_an_answer_is_replaced(remote, pool):
    data = os.urandom(3 << 20)
    remote.commit({"big": data})
    oid = blob_id(remote, "big")
    killed = []

    def work(child, deadline):
        child.send(f"contents {oid}\n".encode())
        info = child.header(oid, deadline)
        if not killed:
            killed.append(child.pid)
            os.kill(child.pid, signal.SIGKILL)
        return child.body(info.size, 4 << 20, deadline)

    assert pool.run(remote.path, work, Deadline.after(20)) == data
    assert killed[0] not in pool.pids()


@pytest.mark.parametrize("packed", [False, True])
def test_a_damaged_object_is_an_error_that_may_be_tried_again(remote, pool, packed):
    remote.commit({"a": "some text\n"})
    oid = blob_id(remote, "a")
    if packed:
        git(remote.path, "repack", "-ad", "--quiet")
    for path in (remote.path / "objects").rglob("*"):
        if path.is_file() and path.suffix != ".idx":
            path.chmod(0o600)
            path.write_bytes(path.read_bytes()[:12] + b"\0" * 40)
    with pytest.raises(GitObjectNotHydrated) as caught:
        blob_of(reader(remote), oid)
    assert caught.value.status == 503


def test_a_mirror_that_is_gone_is_said_to_be_missing(tmp_path, pool):
    with pytest.raises(RepositoryStorageMissing):
        Objects(tmp_path / "none.git", Deadline.after(5)).info(["0" * 40])


def test_a_child_that_does_not_answer_is_ended_at_the_deadline(remote, pool):
    remote.commit({"a": "x"})
    oid = blob_id(remote, "a")
    reader(remote).contents(oid, 10)
    [pid] = pool.pids()
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(QueryDeadlineExceeded):
        reader(remote, 0.2).contents(oid, 10)
    assert not alive(pid)
    assert reader(remote).contents(oid, 10).data == b"x"


def test_children_are_replaced_after_a_fetch_or_repack(remote, pool):
    remote.commit({"a": "x"})
    reader(remote).contents(blob_id(remote, "a"), 10)
    [before] = pool.pids()
    remote.commit({"a": "y"})
    git(remote.path, "repack", "-ad", "--quiet")
    assert reader(remote).contents(blob_id(remote, "a"), 10).data == b"y"
    assert before not in pool.pids()
    assert not alive(before)


def test_idle_children_are_bounded_over_all_mirrors(tmp_path, monkeypatch):
    pool = ObjectPool(max_idle=3)
    monkeypatch.setattr(module, "POOL", pool)
    for number in range(8):
        remote = GitRemote(tmp_path / f"{number}.git")
        remote.commit({"a": str(number)})
        assert reader(remote).contents(blob_id(remote, "a"), 10).data == str(number).encode()
    assert len(pool.pids()) == 3
    pool.close()
    assert pool.pids() == []


def test_2000_reads_leave_no_descriptor_and_no_process(remote, pool):
    remote.commit({f"f{n}": f"{n}\n" for n in range(20)})
    oids = [blob_id(remote, f"f{n}") for n in range(20)]
    reader(remote).contents(oids[0], 10)
    before = open_files()
    for number in range(2000):
        assert reader(remote).contents(oids[number % 20], 10).data == b"%d\n" % (number % 20)
    assert open_files() == before
    assert len(pool.pids()) == 1


def test_threads_read_whole_objects_while_the_mirror_is_repacked(remote, pool):
    texts = {f"f{n}": f"{n}\n" * (n * 40 + 1) for n in range(40)}
    remote.commit(texts)
    oids = {name: blob_id(remote, name) for name in texts}
    stop, problems, count = threading.Event(), [], []

    def work(seed):
        done = 0
        names = sorted(texts)
        while not stop.is_set():
            name = names[(seed + done * 7) % len(names)]
            try:
                found = reader(remote).contents(oids[name], 1 << 20)
                assert found is not None
                assert found.data.decode() == texts[name]
            except BaseException as exc:
                problems.append(repr(exc))
                return
            done += 1
        count.append(done)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for number in range(4):
        remote.commit({"new": str(number)}, branch="other")
        git(remote.path, "repack", "-ad", "--quiet")
        git(remote.path, "prune", "--expire=now")
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert min(count) > 0
    assert len(pool.pids()) <= 4


def test_a_forked_process_reads_with_children_of_its_own(remote, pool):
    remote.commit({"a": "x"})
    oid = blob_id(remote, "a")
    reader(remote).contents(oid, 10)
    [mine] = pool.pids()
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            assert pool.pids() == []
            same = reader(remote).contents(oid, 10).data == b"x" and mine not in pool.pids()
            pool.close()
            os.write(into, b"1" if same else b"0")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(out, 1) == b"1"
    os.close(out)
    os.close(into)
    assert reader(remote).contents(oid, 10).data == b"x"
    assert pool.pids() == [mine]


def test_no_child_survives_a_killed_parent(remote):
    remote.commit({"a": "x" * 200_000})
    oid = blob_id(remote, "a")
    script = textwrap.dedent(f"""
        import os, sys, django
        django.setup()
        from pathlib import Path
        from readers.objects import POOL, Objects
        from sourcegraph_site.kernel.deadline import Deadline
        def work(child, deadline):
            # An answer that nobody reads: the child blocks in writing.
            child.send(b"contents {oid}\\n")
            print(child.pid, flush=True)
            sys.stdin.read()
        POOL.run(Path({str(remote.path)!r}), work, Deadline.after(60))
    """)
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
    )
    child = int(parent.stdout.readline())
    assert alive(child)
    parent.kill()
    parent.wait()
    for stream in (parent.stdin, parent.stdout):
        stream.close()
    deadline = Deadline.after(20)
    while alive(child) and not deadline.expired:
        threading.Event().wait(0.02)
    assert not alive(child)
