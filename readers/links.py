"""A path of the request → what stands there, following symbolic links inside the commit.

Links are followed as the system would follow them in a checkout of this very commit, segment
by segment, so `link/..` means the parent of what the link points to. They never leave the
commit: nothing on this server's disk is looked at.
"""

from dataclasses import dataclass, field

from readers.blobs import blob_of
from readers.errors import (
    FileNotFound,
    LinkDangling,
    LinkDepthExceeded,
    LinkError,
    LinkInvalidTarget,
    LinkLoop,
    LinkOutsideRepository,
    LinkTargetTooLarge,
    LinkToSubmodule,
    PathNotIndexed,
)
from readers.paths import MAX_PATH_BYTES, addressable
from readers.snapshot import Snapshot
from readers.trees import Entry, Kind, Tree, tree_of

MAX_HOPS = 8


@dataclass(frozen=True, slots=True)
class Place:
    """What a path leads to.

    `path` is canonical: no part of it is a link. `follow_error` says why a link at the end
    was not followed; `entry` is then that link itself.
    """

    path: bytes
    entry: Entry
    follow_error: LinkError | None = None


@dataclass(frozen=True, slots=True)
class _End:
    """Marks, among the segments still to come, where a link's target ends."""

    link: bytes


@dataclass(slots=True)
class _Walk:
    snapshot: Snapshot
    stack: list[tuple[bytes, str]]  # name and tree id of the directories that we are in
    leaf: Entry | None = None  # the file or submodule that we stand on
    open_links: set[bytes] = field(default_factory=set)
    hops: int = 0

    def tree(self) -> Tree:
        return tree_of(self.snapshot.objects, self.stack[-1][1])

    def path(self, name: bytes = b"") -> bytes:
        return b"/".join([part for part, _ in self.stack[1:]] + ([name] if name else []))

    def here(self) -> tuple[bytes, Entry]:
        if self.leaf is not None:
            return self.path(self.leaf.name), self.leaf
        name, oid = self.stack[-1]
        return self.path(), Entry(name, Kind.DIRECTORY, oid)

    def missing(self) -> Exception:
        if self.open_links:
            return LinkDangling("The link leads to nothing at this commit.")
        return FileNotFound("There is nothing at this path at this commit.")

    def advance(self, segments: list[bytes]) -> None:
        pending: list[bytes | _End] = list(reversed(segments))
        while pending:
            step = pending.pop()
            if isinstance(step, _End):
                self.open_links.discard(step.link)
                self._refuse_submodule()
            elif self.leaf is not None:
                if self.open_links:
                    self._refuse_submodule()
                raise self.missing()
            elif step == b"..":
                if len(self.stack) == 1:
                    raise LinkOutsideRepository("The link leads out of the repository.")
                self.stack.pop()
            elif step not in (b"", b"."):
                pending += reversed(self._enter(step))

    def _refuse_submodule(self) -> None:
        """A link stands on a submodule, at its end or in its middle."""
        if self.leaf is not None and self.leaf.kind is Kind.SUBMODULE:
            raise LinkToSubmodule("The link leads to a submodule, whose content is not here.")

    def _enter(self, name: bytes) -> list[bytes | _End]:
        """Step to a child; for a link, what has to be walked instead of it."""
        entry = self.tree().get(name)
        if entry is None:
            raise self.missing()
        if entry.kind is Kind.DIRECTORY:
            self.stack.append((name, entry.oid))
        elif entry.kind is not Kind.SYMLINK:
            self.leaf = entry
        else:
            link = self.path(name)
            if link in self.open_links:
                raise LinkLoop("The links lead back to themselves.")
            self.hops += 1
            if self.hops > MAX_HOPS:
                raise LinkDepthExceeded(f"More than {MAX_HOPS} links had to be followed.")
            target = _target(self.snapshot, entry.oid)
            self.open_links.add(link)
            return [*target.split(b"/"), _End(link)]
        return []


def _target(snapshot: Snapshot, oid: str) -> bytes:
    """The text of a link, if it can be followed at all."""
    blob = blob_of(snapshot.objects, oid)
    if blob.size > MAX_PATH_BYTES:
        raise LinkTargetTooLarge(f"The link's target is longer than {MAX_PATH_BYTES} bytes.")
    if blob.data.startswith(b"/"):
        raise LinkOutsideRepository("The link leads out of the repository.")
    # Only the characters matter here: empty segments, `.` and `..` are fine in a target.
    plain = b"/".join(part for part in blob.data.split(b"/") if part not in (b"", b".", b".."))
    if not blob.data or (plain and addressable(plain) is None):
        raise LinkInvalidTarget("The link's target is not a usable path.")
    return blob.data


def locate(snapshot: Snapshot, path: bytes) -> Place:
    """What stands at `path`; empty is the root. A bad link at the end is a result.

    Raises:
        FileNotFound: nothing is there.
        LinkError: a link in the middle of the path cannot be followed.
    """
    walk = _Walk(snapshot, [(b"", snapshot.root)])
    *parents, last = path.split(b"/") if path else [b""]
    walk.advance(parents)
    link = walk.tree().get(last) if walk.leaf is None else None
    if link is None or link.kind is not Kind.SYMLINK:
        walk.advance([last])
        return _settle(snapshot, path, walk)
    link_path = walk.path(last)
    try:
        walk.advance([last])
        return _settle(snapshot, path, walk)
    except LinkError as error:
        return Place(link_path, link, error)


def _settle(snapshot: Snapshot, asked: bytes, walk: _Walk) -> Place:
    """Where the walk has ended, if that may be shown."""
    path, entry = walk.here()
    if path != asked:
        if path and addressable(path) is None:
            raise LinkInvalidTarget("The link's target is too deep to be named.")
        if not snapshot.coverage.shows(path):
            raise PathNotIndexed("The link leads out of the registered directories.")
    return Place(path, entry)
