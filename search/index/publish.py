"""Makes finished files visible, whole or not at all."""

import os
from pathlib import Path


def publish(staged: Path, final: Path) -> None:
    """Make a finished file durable and give it its name.

    `staged` must lie on the file system of `final`: rename is atomic only inside one. Those
    that have an older file of that name open keep reading it.
    """
    handle = os.open(staged, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(staged, final)
    sync_directory(final.parent)


def sync_directory(directory: Path) -> None:
    """Make names in a directory durable; without it a power cut can undo a rename."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
