"""The reserve of free disk space, and how much a directory takes."""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from sourcegraph_site.kernel.errors import InsufficientStorage


def free_bytes() -> int:
    """Free bytes of the file system that holds the data root."""
    return shutil.disk_usage(settings.DATA_ROOT).free


def check_free_space() -> None:
    """Raises InsufficientStorage while the free space is below the reserve."""
    if free_bytes() < settings.MIN_FREE_BYTES:
        raise InsufficientStorage("The free disk space of this server is below its reserve.")


@contextlib.contextmanager
def full_disk_is_named() -> Iterator[None]:
    """Turn our own writes' "no space left" into InsufficientStorage."""
    try:
        yield
    except OSError as exc:
        if exc.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InsufficientStorage("The disk of this server is full.") from exc
        raise


def size_of(path: Path) -> int:
    """Bytes that the files below `path` occupy; files that vanish meanwhile count nothing."""
    total = 0
    pending = [path]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(Path(entry.path))
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
        except FileNotFoundError:
            continue
    return total
