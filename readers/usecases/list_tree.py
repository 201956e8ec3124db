"""List one directory at one commit."""

from dataclasses import dataclass

from django.conf import settings

from readers.errors import DirectoryBudgetExceeded, NotADirectory
from readers.links import Place, locate
from readers.pages import check_first, decode_offset, next_cursor
from readers.paths import addressable, check_directory
from readers.snapshot import Snapshot, open_snapshot
from readers.trees import Entry, Kind, tree_of
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import InvalidRequest
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.paging import binding_of
from sourcegraph_site.kernel.wire import optional

MAX_FIRST = 1000
MAX_MONOREPO_ENTRIES = 20_000


class ListTree(Input):
    repo: str
    revision: str | None = Field(
        None, description="Monitored branch or full SHA; empty for the default branch."
    )
    path: str = Field("", description="Directory from the repository's root; empty is the root.")
    first: int = Field(0, description="Page size, 1 to 1000.")
    after: str | None = Field(None, description="NextCursor of the page before.")


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One direct child. `size` in bytes, for files and links; `blob_oid` is the object's id.

    For a link, `target` is the canonical path that it leads to, or `follow_error` says why it
    leads nowhere.
    """

    name: str
    path: str
    kind: Kind
    blob_oid: str
    size: int | None
    target: str | None = optional()
    target_kind: Kind | None = optional()
    follow_error: str | None = optional()


@dataclass(frozen=True, slots=True)
class TreePage:
    commit: str
    tree_oid: str
    entries: tuple[TreeRow, ...]
    next_cursor: str | None
    has_more_results: bool
    via: str | None = optional()
    unsupported_paths_skipped: bool | None = optional()


def list_tree(actor: Actor, params: ListTree) -> TreePage:
    """The direct children of a directory, sorted by the bytes of their names, in pages.

    Names that no request could address (not UTF-8, control characters, backslashes) are left
    out, and `unsupported_paths_skipped` says so. In a monorepo only what lies in, or leads to,
    a registered directory is shown. A link to a directory is followed: `via` is then the path
    that was asked for.

    Raises:
        InvalidPath, InvalidLimit, InvalidCursor: the request.
        FileNotFound, NotADirectory, LinkError: what stands at the path.
        PathNotRegistered, ContentNotReady, DirectoryBudgetExceeded: in a monorepo.
        … and for repository and revision what `repos.revisions.readable` raises.
    """
    path = check_directory(params.path)
    deadline = Deadline.after(settings.REQUEST_SECONDS)
    within_limit = 1 <= params.first <= MAX_FIRST
    snapshot = open_snapshot(actor, params.repo, params.revision, deadline)
    if not within_limit and snapshot.coverage.groups is not None:
        raise InvalidRequest(f"First is 1 to {MAX_FIRST}.")
    check_first(params.first, MAX_FIRST)
    binding = binding_of("list", params.repo, snapshot.commit, params.path)
    offset = decode_offset(params.after, binding)
    place = _directory(snapshot, path)
    found, skipped = _entries(snapshot, place)
    page = found[offset : offset + params.first]
    cursor = next_cursor(binding, offset + len(page), len(found))
    return TreePage(
        commit=snapshot.commit,
        tree_oid=place.entry.oid,
        entries=_rows(snapshot, page),
        next_cursor=cursor,
        has_more_results=cursor is not None,
        via=params.path if path != place.path else None,
        unsupported_paths_skipped=True if skipped else None,
    )


def _directory(snapshot: Snapshot, path: bytes) -> Place:
    place = locate(snapshot, path)
    if place.follow_error is not None:
        raise place.follow_error
    if place.entry.kind is not Kind.DIRECTORY:
        raise NotADirectory("This is not a directory; read it instead.")
    snapshot.coverage.require_below(place.path)
    return place


def _entries(snapshot: Snapshot, place: Place) -> tuple[list[tuple[bytes, Entry]], bool]:
    """The children that may be shown, with their paths; and whether some cannot be named."""
    prefix = place.path + b"/" if place.path else b""
    found, skipped = [], False
    for entry in tree_of(snapshot.objects, place.entry.oid):
        path = prefix + entry.name
        if not snapshot.coverage.shows(path):
            continue
        if b"/" in entry.name or addressable(path) is None:
            skipped = True
        else:
            found.append((path, entry))
    if snapshot.coverage.groups is not None and len(found) > MAX_MONOREPO_ENTRIES:
        raise DirectoryBudgetExceeded(f"There are more than {MAX_MONOREPO_ENTRIES} entries.")
    return found, skipped


def _rows(snapshot: Snapshot, page: list[tuple[bytes, Entry]]) -> tuple[TreeRow, ...]:
    sized = [entry.oid for _, entry in page if entry.kind in (Kind.FILE, Kind.SYMLINK)]
    infos = dict(zip(sized, snapshot.objects.info(sized), strict=True))
    rows = []
    for path, entry in page:
        info = infos.get(entry.oid)
        target, target_kind, follow_error = None, None, None
        if entry.kind is Kind.SYMLINK:
            place = locate(snapshot, path)
            if place.follow_error is None:
                target, target_kind = place.path.decode(), place.entry.kind
            else:
                follow_error = place.follow_error.code
        rows.append(
            TreeRow(
                name=entry.name.decode(),
                path=path.decode(),
                kind=entry.kind,
                blob_oid=entry.oid,
                size=info.size if info else None,
                target=target,
                target_kind=target_kind,
                follow_error=follow_error,
            )
        )
    return tuple(rows)
