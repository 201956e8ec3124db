"""What `manage.py doctor` looks at among look-ups: leftovers of dead processes, and notes on
repositories that are gone."""

import time
from collections.abc import Iterator
from pathlib import Path

from readers.remote.scratch import leftovers, remove_leftovers
from readers.remote.shared import folder
from repos.doctor import Finding
from repos.gitstore.disk import size_of
from repos.models import Repository

PART_SECONDS = 3600  # a file being written lives for moments


def examine() -> Iterator[Finding]:
    for directory in leftovers():
        text = f"was left by a process that died ({size_of(directory):,} bytes)"
        yield Finding("directories", f"scratch/{directory.name}", text, _remove_scratch)
    files = _unneeded()
    if files:
        text = f"{len(files):,} files belong to no repository or were never finished"
        yield Finding("directories", "lookups", text, _remove_unneeded)


def _unneeded() -> list[Path]:
    known = set(Repository.objects.values_list("storage_key", flat=True))
    found = [
        path
        for name in ("backoff", "catalogs")
        for path in folder(name).iterdir()
        if not path.name.startswith(".") and path.name not in known
    ]
    before = time.time() - PART_SECONDS
    for name in ("answers", "backoff", "catalogs"):
        parts = [path for path in folder(name).iterdir() if path.name.startswith(".")]
        found += [path for path in parts if path.stat().st_mtime < before]
    return found


def _remove_scratch() -> str:
    remove_leftovers()
    return "removed"


def _remove_unneeded() -> str:
    for path in _unneeded():
        path.unlink(missing_ok=True)
    return "removed"
