"""Reads the tree of a commit: the files in it, and what is left out by its name or kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from search.index.workers import git_output

MAX_PATH_BYTES = 4_096

_CONTROL_OR_BACKSLASH = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")
_BAD_ASCII = bytes([*range(0x20), 0x7F, ord("\\")])
_BAD_SEGMENT = re.compile(r"(?:^|/)(?:\.{0,2})(?:/|$)")


@dataclass(frozen=True)
class TreeListing:
    """The blobs of a commit in byte order of path, symbolic links among them."""

    paths: list[bytes]
    oids: list[bytes]
    submodules: int
    unsupported_paths: int


def list_tree(git_dir: Path, commit: str, scope: Sequence[bytes] = ()) -> TreeListing:
    """The blobs of a commit; with a scope, those at or below one of its paths.

    Raises:
        GitFailed: there is no such commit, or Git cannot read it.
    """
    listing = git_output(git_dir, "ls-tree", "-r", "-z", "--full-tree", commit)
    # Each row: mode, type, object id, tab, path; e.g. "100644 blob 1f2e…\tREADME".
    rows = listing.split(b"\0")[:-1]
    if scope:
        rows = [row for row in rows if _in_scope(row[row.index(b"\t") + 1 :], scope)]
    blobs = [row for row in rows if row[7:11] == b"blob"]
    tab = blobs[0].index(b"\t") if blobs else 0
    supported = _supported([row[tab + 1 :] for row in blobs])
    if supported is not None:
        blobs = [row for row, good in zip(blobs, supported, strict=True) if good]
    joined = bytes.fromhex(b"".join([row[12:tab] for row in blobs]).decode())
    width = (tab - 12) // 2
    return TreeListing(
        paths=[row[tab + 1 :] for row in blobs],
        oids=[joined[at : at + width] for at in range(0, len(joined), width or 1)],
        submodules=sum(row[7:13] == b"commit" for row in rows),
        unsupported_paths=0 if supported is None else supported.count(False),
    )


def list_blobs(
    git_dir: Path, commits: Sequence[str], scope: Sequence[bytes] = ()
) -> list[tuple[bytes, bytes]]:
    """Every object below the trees of these commits, once: object id and a path of it.

    With `scope`, only what lies at or below these paths; a commit may lack some of them.

    Trees are among them. Git walks each tree once however many commits share it, so a
    thousand commits cost little more than one.

    Raises:
        GitFailed: one of the commits is missing.
    """
    ends = [b":%s\n" % path for path in scope] or [b"\n"]
    listing = git_output(
        git_dir,
        "rev-list",
        "--objects",
        "--no-walk=unsorted",
        *(["--ignore-missing"] if scope else []),
        "--stdin",
        stdin=b"".join(commit.encode() + end for commit in commits for end in ends),
    )
    rows = (row.partition(b" ") for row in listing.splitlines())
    # Commits and root trees have no path.
    return [(bytes.fromhex(oid.decode()), path) for oid, _, path in rows if path]


def is_supported_path(path: bytes) -> bool:
    """Can a caller name this path? UTF-8, no control character or backslash, canonical."""
    try:
        text = path.decode()
    except UnicodeDecodeError:
        return False
    return (
        len(path) <= MAX_PATH_BYTES
        and not _CONTROL_OR_BACKSLASH.search(text)
        and not _BAD_SEGMENT.search(text)
    )


def _supported(paths: list[bytes]) -> list[bool] | None:
    """`is_supported_path` of each; None if all are, which one look at all of them tells.

    Plain searches for bytes: an expression takes ten times as long, half the time that a
    generation takes to open.
    """
    together = b"/" + b"/".join(paths) + b"/"
    good = (
        not any(odd in together for odd in (b"//", b"/./", b"/../"))
        and len(together.translate(None, _BAD_ASCII)) == len(together)
        and max(map(len, paths), default=0) <= MAX_PATH_BYTES
        and (together.isascii() or _is_clean_utf8(together))
    )
    return None if good or not paths else [is_supported_path(path) for path in paths]


def _is_clean_utf8(text: bytes) -> bool:
    try:
        return not _CONTROL_OR_BACKSLASH.search(text.decode())
    except UnicodeDecodeError:
        return False


def _in_scope(path: bytes, scope: Sequence[bytes]) -> bool:
    return any(path == part or path.startswith(part + b"/") for part in scope)
