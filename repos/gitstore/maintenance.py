"""Keeping mirrors small and fast. The caller holds the repository's lease.

`pack` drops what nothing needs: roots are the mirrored branches, the heads that the database
names (refs/observed/<sha>, so that a mirror that is ahead of the database loses nothing) and
the retained commits. Everything else goes with the full repack. Readers that have an old
pack open keep reading it; Git looks for new packs by itself when an object is missing.
"""

import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from repos.gitstore import layout
from repos.gitstore.disk import check_free_space
from repos.gitstore.mirror import RETAINED, local_git, repair

OBSERVED = "refs/observed/"
PACK_SECONDS = 45 * 60.0
LEFT_BEHIND_SECONDS = 3600  # older entries of staging belong to processes that are gone


def pack_count(mirror: Path) -> int:
    return sum(1 for _ in (mirror / "objects" / "pack").glob("*.pack"))


def keep_only(mirror: Path, heads: Iterable[str], retained: Iterable[str]) -> None:
    """Make the protecting refs name exactly these commits."""
    wanted = {f"{OBSERVED}{commit}": commit for commit in heads}
    wanted |= {f"{RETAINED}{commit}": commit for commit in retained}
    listed = local_git(mirror, "for-each-ref", "--format=%(refname)", OBSERVED, RETAINED)
    present = set(listed.decode().split())
    commands = [f"delete {ref}" for ref in sorted(present - wanted.keys())]
    commands += [f"update {ref} {wanted[ref]}" for ref in sorted(wanted.keys() - present)]
    if commands:
        local_git(mirror, "update-ref", "--stdin", stdin="\n".join(commands).encode() + b"\n")


def pack(mirror: Path) -> None:
    """One pack with what the refs reach, a commit graph, packed refs; the rest is dropped.

    Needs about the mirror's size of free space meanwhile.

    Raises:
        InsufficientStorage, GitOperationFailed: the mirror is as it was.
    """
    check_free_space()
    repair(mirror)
    commands = (
        ("pack-refs", "--all"),
        ("repack", "-a", "-d", "-l", "-q"),
        ("prune", "--expire=now"),
        ("commit-graph", "write", "--reachable", "--changed-paths", "--no-progress"),
    )
    try:
        for command in commands:
            local_git(mirror, *command, timeout_s=PACK_SECONDS)
    finally:
        repair(mirror)


def sweep_left_behind(now: float | None = None) -> int:
    """Remove what crashes left in staging and trash; how many entries went."""
    entries = left_behind(now)
    for entry in entries:
        erase(entry)
    return len(entries)


def left_behind(now: float | None = None) -> list[Path]:
    """What lies in the trash, and what has lain in staging for an hour."""
    before = (time.time() if now is None else now) - LEFT_BEHIND_SECONDS
    old = [entry for entry in _entries(layout.staging_root()) if _changed(entry) < before]
    return old + _entries(layout.trash_root())


def erase(path: Path) -> None:
    """Remove a directory or a file that nobody uses."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def orphans(known: set[str], now: float | None = None) -> list[Path]:
    """Directories of repositories that no row names, and that nobody has just made."""
    before = (time.time() if now is None else now) - LEFT_BEHIND_SECONDS
    root = layout.repository_path("x").parent
    return [
        entry for entry in _entries(root) if entry.name not in known and _changed(entry) < before
    ]


def _entries(root: Path) -> list[Path]:
    return sorted(root.iterdir()) if root.is_dir() else []


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")
