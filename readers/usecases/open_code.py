"""What the code page shows: one path at one commit, whole, with the tree that leads to it.

`read_file` and `list_tree` answer programs, in small pieces; a page needs the whole text (for
its colours) and every directory on the way, so it opens the commit once and takes them all.
"""

from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings

from readers.blobs import blob_of, is_lfs_pointer
from readers.errors import BinaryFile, FileNotFound, LinkError, UnsupportedTextEncoding
from readers.links import Place, locate
from readers.paths import addressable, check_directory
from readers.snapshot import Snapshot, open_snapshot
from readers.text import Text, decode
from readers.trees import Kind, Tree, tree_of
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.inputs import Field, Input

STEP = 100  # entries of a directory that the tree shows at once


class OpenCode(Input):
    repo: str
    revision: str = Field("", description="Monitored branch or full SHA; empty: default branch.")
    path: str = Field("", description="A file or a directory; empty is the root.")


@dataclass(frozen=True, slots=True)
class Child:
    """One entry of a directory; `open` is set where the way to the shown path leads on."""

    name: str
    path: str
    kind: Kind
    open: "Level | None" = None


@dataclass(frozen=True, slots=True)
class Level:
    """One directory, directories first: `children` are those from `start` on, of `total`."""

    path: str
    children: list[Child]
    start: int
    total: int

    @property
    def next(self) -> int:
        """The first entry that is not shown."""
        return self.start + len(self.children)

    @property
    def rest(self) -> int:
        return self.total - self.next


@dataclass(frozen=True, slots=True)
class CodeAt:
    """`path` is canonical, `via` what was asked for when a link led here.

    `text` is None for what is not text; `problem` is then the code that says why. `lines` of a
    directory, a submodule or a binary file is 0.
    """

    commit: str
    branch: str | None
    committer_time: datetime
    indexed: bool
    path: str
    kind: Kind
    oid: str
    tree: Level
    via: str = ""
    size: int = 0
    text: Text | None = None
    problem: str = ""
    lfs: bool = False
    follow_error: str = ""
    listing: list[Child] = field(default_factory=list)


def open_code(actor: Actor, params: OpenCode) -> CodeAt:
    """The path and its tree, at the commit that the revision means now.

    Raises:
        InvalidPath, FileNotFound, LinkError: the path.
        PathNotRegistered, ContentNotReady: in a monorepo.
        … and for repository and revision what `repos.revisions.readable` raises.
    """
    asked = check_directory(params.path)
    snapshot = open_snapshot(
        actor, params.repo, params.revision or None, Deadline.after(settings.REQUEST_SECONDS)
    )
    place = locate(snapshot, asked)
    if place.path:
        if place.entry.kind is Kind.DIRECTORY:
            snapshot.coverage.require_below(place.path)
        else:
            snapshot.coverage.require(place.path)
    return _described(snapshot, asked, place)


def _described(snapshot: Snapshot, asked: bytes, place: Place) -> CodeAt:
    text, problem, size, lfs = None, "", 0, False
    follow_error = place.follow_error.code if place.follow_error is not None else ""
    if place.entry.kind in (Kind.FILE, Kind.SYMLINK):
        blob = blob_of(snapshot.objects, place.entry.oid)
        size, lfs = blob.size, is_lfs_pointer(blob)
        try:
            text = decode(blob)
        except (BinaryFile, UnsupportedTextEncoding) as exc:
            problem = exc.code
    directory = place.entry.kind is Kind.DIRECTORY
    return CodeAt(
        commit=snapshot.commit,
        branch=snapshot.branch,
        committer_time=snapshot.committer_time,
        indexed=snapshot.indexed,
        path=place.path.decode(),
        kind=place.entry.kind,
        oid=place.entry.oid,
        tree=_level(snapshot, b"", snapshot.root, place.path.split(b"/") if place.path else []),
        via=asked.decode() if asked != place.path else "",
        size=size,
        text=text,
        problem=problem,
        lfs=lfs,
        follow_error=follow_error,
        listing=_children(snapshot, place.path, tree_of(snapshot.objects, place.entry.oid))
        if directory
        else [],
    )


def _children(snapshot: Snapshot, directory: bytes, tree: Tree) -> list[Child]:
    """What of a directory may be shown, directories first, else in the order of their names."""
    prefix = directory + b"/" if directory else b""
    found = []
    for entry in tree:
        path = prefix + entry.name
        if b"/" in entry.name or not snapshot.coverage.shows(path):
            continue
        if addressable(path) is not None:
            found.append(Child(entry.name.decode(), path.decode(), entry.kind))
    return sorted(found, key=lambda child: child.kind is not Kind.DIRECTORY)


def _level(snapshot: Snapshot, directory: bytes, oid: str, way: list[bytes]) -> Level:
    """One directory of the tree; the child on the way is opened, and lies in the shown part."""
    tree = tree_of(snapshot.objects, oid)
    children = _children(snapshot, directory, tree)
    start = 0
    if way:
        name = way[0].decode()
        at = next((i for i, child in enumerate(children) if child.name == name), None)
        entry = tree.get(way[0])
        if at is not None and entry is not None:
            start = at // STEP * STEP
            if entry.kind is Kind.DIRECTORY:
                below = _level(
                    snapshot, directory + b"/" + way[0] if directory else way[0], entry.oid, way[1:]
                )
                child = children[at]
                children[at] = Child(child.name, child.path, child.kind, below)
    return Level(directory.decode(), children[start : start + STEP], start, len(children))


class OpenDirectory(Input):
    repo: str
    revision: str
    path: str = ""
    start: int = Field(0, description="The first entry to show, from 0.")


def open_directory(actor: Actor, params: OpenDirectory) -> Level:
    """One step of a directory, for the tree that opens under the reader's hand.

    Raises:
        FileNotFound: it is no directory, or nothing is there.
        … and what `open_code` raises.
    """
    path = check_directory(params.path)
    snapshot = open_snapshot(
        actor, params.repo, params.revision, Deadline.after(settings.REQUEST_SECONDS)
    )
    place = locate(snapshot, path)
    if place.entry.kind is not Kind.DIRECTORY:
        raise FileNotFound("There is no such directory at this commit.")
    children = _children(snapshot, place.path, tree_of(snapshot.objects, place.entry.oid))
    start = max(0, params.start)
    return Level(params.path, children[start : start + STEP], start, len(children))


class PathExists(Input):
    repo: str
    path: str


def at_default_head(actor: Actor, params: PathExists) -> tuple[str, str] | None:
    """Branch and commit of the default branch's head, if the path exists there.

    The offer of decision 44: made for a pinned commit that is no longer kept, never taken by
    itself. Raises what `repos.revisions.readable` raises.
    """
    path = check_directory(params.path)
    snapshot = open_snapshot(actor, params.repo, None, Deadline.after(settings.REQUEST_SECONDS))
    try:
        locate(snapshot, path)
    except (FileNotFound, LinkError):
        return None
    return snapshot.branch or "", snapshot.commit
