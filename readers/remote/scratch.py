"""Directories for downloads that live for seconds, with budgets that are watched.

A scratch directory is locked by the process that made it. One that is not locked was left by
a process that died, and whoever looks next removes it.
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from readers.objects import POOL
from repos.gitstore.disk import check_free_space, size_of
from repos.gitstore.layout import fresh, scratch_root
from repos.gitstore.process import GitCall, run_git

LOOKUP_BYTES = 16 << 20
CATALOG_BYTES = 256 << 20
TOTAL_BYTES = 4 << 30
_INIT_SECONDS = 30.0
_LOCK = ".lock"
_PLAIN_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"


class ScratchExceeded(Exception):
    """A download is larger than its budget; it was stopped."""


class ScratchFull(Exception):
    """All downloads together are larger than their budget; this one was stopped."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """An empty bare repository to download into, at most `limit` bytes."""

    git_dir: Path
    limit: int

    def check(self) -> None:
        """Called about each second of a download.

        Raises:
            ScratchExceeded, ScratchFull: a budget is used up.
            InsufficientStorage: the disk's reserve is reached.
        """
        check_free_space()
        if size_of(self.git_dir) > self.limit:
            raise ScratchExceeded
        if size_of(scratch_root()) > TOTAL_BYTES:
            raise ScratchFull

    def settle(self) -> None:
        """Make it a plain repository after a download: what is missing is then just missing.

        A fetch with a filter notes the remote as one that would supply it, and Git would ask.
        """
        (self.git_dir / "config").write_text(_PLAIN_CONFIG)


@contextlib.contextmanager
def scratch(limit: int) -> Iterator[Scratch]:
    """Make a scratch repository, and remove it at the end whatever happens."""
    check_free_space()
    remove_leftovers()
    directory, lock = _reserve()
    git_dir = directory / "look.git"
    try:
        directory.mkdir()
        run_git(
            None,
            *("init", "--bare", "--quiet", "--template=", "--object-format=sha1"),
            *("--end-of-options", str(git_dir)),
            call=GitCall(timeout_s=_INIT_SECONDS),
        )
        yield Scratch(git_dir, limit)
    finally:
        POOL.drop(git_dir)
        _remove(directory, lock)


def remove_leftovers() -> int:
    """Remove what dead processes have left; how many directories that were."""
    count = 0
    with contextlib.suppress(FileNotFoundError):
        for entry in list(scratch_root().iterdir()):
            directory = entry.with_suffix("")
            lock = _lock(directory)
            if lock is not None:
                count += directory.is_dir()
                _remove(directory, lock)
    return count


def leftovers() -> list[Path]:
    """The directories that `remove_leftovers` would remove."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for directory in [each for each in scratch_root().iterdir() if each.is_dir()]:
            lock = _lock(directory)
            if lock is not None:
                os.close(lock)
                found.append(directory)
    return sorted(found)


def _reserve() -> tuple[Path, int]:
    """A new directory's path, locked before the directory exists."""
    while True:
        directory = fresh(scratch_root())
        lock = _lock(directory)
        if lock is not None:
            return directory, lock


def _lock(directory: Path) -> int | None:
    """The lock that belongs to a directory, or None while another holds it."""
    path = directory.with_suffix(_LOCK)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever held it may have removed the file since we opened it.
        if os.stat(path).st_ino == os.fstat(handle).st_ino:
            return handle
    except OSError:
        pass  # held, or gone: not ours
    os.close(handle)
    return None


def _remove(directory: Path, lock: int) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.with_suffix(_LOCK).unlink(missing_ok=True)
    os.close(lock)
