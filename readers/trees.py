"""Trees of one commit: parse them, look a path up, walk down. Trees are cached by id.

A tree object is a sequence of `<mode in octal> <name> NUL <20 bytes of id>`, sorted as if
directories ended in a slash.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from readers.caching import WeightedCache
from readers.errors import DirectoryBudgetExceeded, GitObjectNotHydrated
from readers.objects import Objects

MAX_TREE_BYTES = 32 << 20  # some 700,000 entries
_CACHE_BYTES = 16 << 20  # of raw trees, per process; parsed they take some five times that

_ENTRY = re.compile(rb"([0-7]{1,6}) ([^\x00]+)\x00(.{20})", re.DOTALL)


class Kind(StrEnum):
    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"


_KINDS = {b"4": Kind.DIRECTORY, b"04": Kind.DIRECTORY, b"12": Kind.SYMLINK, b"16": Kind.SUBMODULE}


@dataclass(frozen=True, slots=True)
class Entry:
    name: bytes
    kind: Kind
    oid: str  # of the blob, the tree, or the submodule's commit


class Tree:
    """One directory, by name; the names are bytes, as Git has them."""

    __slots__ = ("_rows", "oid")

    def __init__(self, oid: str, data: bytes) -> None:
        """Raises ValueError when `data` is not a tree object."""
        rows = _ENTRY.findall(data)
        if sum(len(mode) + len(name) + 22 for mode, name, _ in rows) != len(data):
            raise ValueError("not a tree object")
        self.oid = oid
        self._rows: dict[bytes, tuple[bytes, bytes]] = {
            name: (mode, raw) for mode, name, raw in rows
        }

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, name: bytes) -> Entry | None:
        row = self._rows.get(name)
        return None if row is None else _entry(name, row)

    def names(self) -> list[bytes]:
        """Sorted by their bytes, unlike Git's own order."""
        return sorted(self._rows)

    def __iter__(self) -> Iterator[Entry]:
        return (_entry(name, self._rows[name]) for name in self.names())


def _entry(name: bytes, row: tuple[bytes, bytes]) -> Entry:
    mode, raw = row
    return Entry(name, _KINDS.get(mode[:-4], Kind.FILE), raw.hex())


_trees: WeightedCache[tuple[str, str], Tree] = WeightedCache(_CACHE_BYTES)
_roots: WeightedCache[tuple[str, str], str] = WeightedCache(4096)


def root_of(objects: Objects, commit: str) -> str:
    """The id of a commit's root tree.

    Raises:
        GitObjectNotHydrated: the commit is not in the mirror, or damaged.
    """
    key = (str(objects.git_dir), commit)
    found = _roots.get(key)
    if found is None:
        data = objects.contents(commit, 64)
        head = data.data if data is not None and data.kind == "commit" else b""
        if not re.match(rb"tree [0-9a-f]{40}\n", head):
            raise not_there()
        found = head[5:45].decode()
        _roots.put(key, found, 1)
    return found


def tree_of(objects: Objects, oid: str) -> Tree:
    """One directory.

    Raises:
        GitObjectNotHydrated: it is not in the mirror, or damaged.
        DirectoryBudgetExceeded: it is larger than 32 MiB.
    """
    key = (str(objects.git_dir), oid)
    found = _trees.get(key)
    if found is None:
        data = objects.contents(oid, MAX_TREE_BYTES)
        if data is None or data.kind != "tree":
            raise not_there()
        if data.size > MAX_TREE_BYTES:
            raise DirectoryBudgetExceeded("The directory has too many entries to be read.")
        try:
            found = Tree(oid, data.data)
        except ValueError:
            raise not_there() from None
        _trees.put(key, found, data.size + 256)
    return found


def not_there() -> GitObjectNotHydrated:
    return GitObjectNotHydrated("An object of this commit is not in the mirror.", retry_after=5)


def find(objects: Objects, root: str, path: bytes) -> Entry | None:
    """What stands at a path exactly as named, links not followed."""
    entry: Entry | None = Entry(b"", Kind.DIRECTORY, root)
    for name in path.split(b"/"):
        if entry is None or entry.kind is not Kind.DIRECTORY:
            return None
        entry = tree_of(objects, entry.oid).get(name)
    return entry
