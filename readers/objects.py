"""Git objects by id, from a pool of long-lived `git cat-file --batch-command` children.

A new Git process costs 4 ms and a warm child answers in a tenth of one, so children are kept:
each is used by one thread at a time and lies in the pool in between, per mirror.

Protocol: we write `info <oid>` or `contents <oid>`, a line each; the child answers
`<oid> <type> <size>`, for `contents` followed by the bytes and a newline, or `<oid> missing`.
Only full hex ids go in, never a name or a path, so nothing that a caller sends can break the
framing. `info` is asked before `contents`, so the size is known before a byte is read.

A child is replaced
- when it dies (somebody killed it, or Git gave up on a damaged object),
- when the packs of its mirror have changed since it started (a fetch or a repack: it would
  keep the deleted ones open),
- after `MAX_REQUESTS` requests, after a time-out, and when stopping in the middle of a large
  object is cheaper than reading the rest.

No child survives us: it ends when its stdin closes, which the kernel does for us even after
`kill -9`. (PR_SET_PDEATHSIG would follow the *thread* that started the child, and threads of a
web server come and go.) A forked process closes its copies and starts its own.
"""

import atexit
import contextlib
import os
import re
import select
import subprocess
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from readers.errors import GitObjectNotHydrated
from repos.errors import RepositoryStorageMissing
from repos.gitstore.process import git_environment
from sourcegraph_site.kernel.deadline import Deadline

MAX_IDLE = 16  # children kept per process, over all mirrors
MAX_REQUESTS = 50_000
IDLE_SECONDS = 300.0  # then a child is ended, so that a purged mirror's packs are let go
DRAIN_BYTES = 4 << 20  # read the rest of an object of up to this size, else end the child
INFO_BATCH = 256  # in flight at once: both directions fit into a pipe
CALL_SECONDS = 10.0

_OID = re.compile(r"[0-9a-f]{40}")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    kind: str  # "blob", "tree", "commit" or "tag"
    size: int  # bytes


@dataclass(frozen=True, slots=True)
class ObjectData:
    """An object's bytes from its start; fewer than `size` when the reader's limit cut them."""

    kind: str
    size: int
    data: bytes


class ChildFailed(Exception):
    """The child died or its answer made no sense; a fresh one may do better."""


class _Child:
    """One `git cat-file`; used by one thread at a time, closed after any exception."""

    def __init__(self, git_dir: Path, stamp: int) -> None:
        self.stamp = stamp
        self.requests = 0
        self.used_at = 0.0
        self._buffer = b""
        self._process = subprocess.Popen(
            [
                "git",
                "-c",
                f"safe.directory={git_dir}",
                f"--git-dir={git_dir}",
                "cat-file",
                "--batch-command",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=git_environment(),
            cwd="/",
            bufsize=0,
            # Ctrl-C at the terminal is for the server, which then ends its children.
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin = self._process.stdin.fileno()
        self._stdout = self._process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, data: bytes) -> None:
        self.requests += 1
        try:
            while data:
                data = data[os.write(self._stdin, data) :]
        except OSError as exc:
            raise ChildFailed("it does not take requests") from exc

    def _receive(self, most: int, deadline: Deadline) -> bytes:
        if not self._poll.poll(deadline.remaining() * 1000):
            deadline.check()
        chunk = os.read(self._stdout, most)
        if not chunk:
            raise ChildFailed("it ended")
        return chunk

    def header(self, oid: str, deadline: Deadline) -> ObjectInfo | None:
        """The next answer's first line; None when the object is missing."""
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > 4096:
                raise ChildFailed("its answer has no end")
            self._buffer += self._receive(65_536, deadline)
        line, self._buffer = self._buffer[:end], self._buffer[end + 1 :]
        words = line.decode("ascii", "replace").split(" ")
        if words[0] != oid:
            raise ChildFailed("it answered something else")
        if words[1:] == ["missing"]:
            return None
        if len(words) != 3 or not words[2].isdigit():
            raise ChildFailed("its answer has another form")
        return ObjectInfo(words[1], int(words[2]))

    def body(
        self, size: int, limit: int, deadline: Deadline, drain: int = DRAIN_BYTES
    ) -> tuple[bytes, bool]:
        """The first `limit` of `size` bytes; and whether the child can be used again."""
        wanted = min(size, limit)
        parts = [self._buffer[:wanted]]
        left = wanted - len(parts[0])
        self._buffer = self._buffer[wanted:]
        while left:
            parts.append(self._receive(min(left, 1 << 20), deadline))
            left -= len(parts[-1])
        rest = size - wanted + 1  # and the newline
        if rest > drain:
            return b"".join(parts), False
        while rest > len(self._buffer):
            rest -= len(self._buffer)
            self._buffer = self._receive(1 << 20, deadline)
        self._buffer = self._buffer[rest:]
        return b"".join(parts), True

    def close(self) -> None:
        """End the child and reap it."""
        self._process.kill()
        self.forget()
        self._process.wait()

    def forget(self) -> None:
        """Close our ends only: in a forked process the child belongs to the parent."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


class ObjectPool:
    """Children per mirror; thread-safe, and harmless after a fork.

    At most `max_idle` children lie idle; beyond, those of the mirror that was used longest
    ago are ended. As many more may be at work as there are threads that read.
    """

    def __init__(self, max_idle: int = MAX_IDLE) -> None:
        self._max_idle = max_idle
        self._lock = threading.Lock()
        self._idle: OrderedDict[Path, list[_Child]] = OrderedDict()
        self._all: set[_Child] = set()
        os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self) -> None:
        for child in self._all:
            child.forget()
        self._lock = threading.Lock()
        self._idle, self._all = OrderedDict(), set()

    def pids(self) -> list[int]:
        """Process ids of the living children, for tests and diagnosis."""
        with self._lock:
            return [child.pid for child in self._all]

    def close(self) -> None:
        """End all idle children; those at work end when they are given back."""
        with self._lock:
            idle = [child for children in self._idle.values() for child in children]
            self._idle.clear()
        for child in idle:
            self._end(child)

    def drop(self, git_dir: Path) -> None:
        """End the idle children of a mirror that is about to be deleted."""
        with self._lock:
            children = self._idle.pop(git_dir, [])
        for child in children:
            self._end(child)

    def run(
        self, git_dir: Path, work: Callable[[_Child, Deadline], tuple[_T, bool]], deadline: Deadline
    ) -> _T:
        """Do `work` with a child; once more with a fresh one if it fails.

        `work` returns its result and whether the child is in order.

        Raises:
            RepositoryStorageMissing: there is no mirror at `git_dir`.
            GitObjectNotHydrated: Git failed twice; the mirror is damaged or being replaced.
            QueryDeadlineExceeded: the child did not answer in time.
        """
        limit = deadline.sooner(CALL_SECONDS)
        for fresh in (False, True):
            child = self._take(git_dir, fresh)
            try:
                result, in_order = work(child, limit)
            except ChildFailed:
                self._end(child)
                continue
            except BaseException:
                self._end(child)  # it may be in the middle of an answer
                raise
            self._give_back(git_dir, child, in_order)
            return result
        raise GitObjectNotHydrated("The mirror could not be read; try again.", retry_after=5)

    def _take(self, git_dir: Path, fresh: bool) -> _Child:
        stamp = _stamp(git_dir)
        old: list[_Child] = []
        found = None
        with self._lock:
            idle = self._idle.get(git_dir, [])
            while idle and found is None:
                child = idle.pop()
                if fresh or child.stamp != stamp:
                    old.append(child)
                else:
                    found = child
        for child in old:
            self._end(child)
        if found is None:
            found = _Child(git_dir, stamp)
            with self._lock:
                self._all.add(found)
        return found

    def _give_back(self, git_dir: Path, child: _Child, in_order: bool) -> None:
        child.used_at = time.monotonic()
        with self._lock:
            if in_order and child.requests < MAX_REQUESTS:
                self._idle.setdefault(git_dir, []).append(child)
                self._idle.move_to_end(git_dir)
                surplus = self._surplus(child.used_at - IDLE_SECONDS)
            else:
                surplus = [child]
        for each in surplus:
            self._end(each)

    def _surplus(self, before: float) -> list[_Child]:
        """Take out idle children above the limit, and those last used before that time."""
        found = []
        count = sum(map(len, self._idle.values()))
        for git_dir in list(self._idle):
            children = self._idle[git_dir]
            while children and (count > self._max_idle or children[0].used_at < before):
                found.append(children.pop(0))
                count -= 1
            if children:
                break  # the mirrors behind were used later
            del self._idle[git_dir]
        return found

    def _end(self, child: _Child) -> None:
        with self._lock:
            self._all.discard(child)
        child.close()


def _stamp(git_dir: Path) -> int:
    """Changes when packs come or go."""
    try:
        return os.stat(git_dir / "objects" / "pack").st_mtime_ns
    except OSError:
        raise RepositoryStorageMissing(
            "The mirror of this repository is not on the disk."
        ) from None


POOL = ObjectPool()
atexit.register(POOL.close)


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of one mirror, as seen by one request with its deadline."""

    git_dir: Path
    deadline: Deadline

    def info(self, oids: Sequence[str]) -> list[ObjectInfo | None]:
        """Kind and size of each object, in order; None for one that is missing."""
        _check(oids)

        def work(child: _Child, deadline: Deadline) -> tuple[list[ObjectInfo | None], bool]:
            found: list[ObjectInfo | None] = []
            for start in range(0, len(oids), INFO_BATCH):
                batch = oids[start : start + INFO_BATCH]
                child.send("".join(f"info {oid}\n" for oid in batch).encode())
                found += [child.header(oid, deadline) for oid in batch]
            return found, True

        return POOL.run(self.git_dir, work, self.deadline) if oids else []

    def contents(self, oid: str, limit: int) -> ObjectData | None:
        """The first `limit` bytes of an object; None when it is missing."""
        _check((oid,))

        def work(child: _Child, deadline: Deadline) -> tuple[ObjectData | None, bool]:
            child.send(f"info {oid}\n".encode())
            info = child.header(oid, deadline)
            if info is None:
                return None, True
            child.send(f"contents {oid}\n".encode())
            if child.header(oid, deadline) != info:
                raise ChildFailed("it contradicts itself")
            data, in_order = child.body(info.size, limit, deadline)
            return ObjectData(info.kind, info.size, data), in_order

        return POOL.run(self.git_dir, work, self.deadline)

    def many(self, oids: Sequence[str], limit: int) -> list[ObjectData | None]:
        """`contents` of many small objects, with few turns; a large one is read to its end."""
        _check(oids)

        def work(child: _Child, deadline: Deadline) -> tuple[list[ObjectData | None], bool]:
            found: list[ObjectData | None] = []
            for start in range(0, len(oids), INFO_BATCH):
                batch = oids[start : start + INFO_BATCH]
                child.send("".join(f"contents {oid}\n" for oid in batch).encode())
                for oid in batch:
                    info = child.header(oid, deadline)
                    if info is None:
                        found.append(None)
                        continue
                    data, _ = child.body(info.size, limit, deadline, drain=info.size + 1)
                    found.append(ObjectData(info.kind, info.size, data))
            return found, True

        return POOL.run(self.git_dir, work, self.deadline) if oids else []


def _check(oids: Sequence[str]) -> None:
    for oid in oids:
        if not _OID.fullmatch(oid):
            raise ValueError("only full object ids go to the child")
