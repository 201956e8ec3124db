"""Compare two commits."""

from dataclasses import dataclass

from django.conf import settings

from readers.diff import Patch, RawChange, changes_between, patches
from readers.pages import check_first, decode_offset, next_cursor
from readers.paths import check_paths
from readers.snapshot import open_snapshot
from repos.errors import InvalidRevision
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.paging import binding_of
from sourcegraph_site.kernel.wire import optional

MAX_FIRST = 100


class DiffRevisions(Input):
    repo: str
    base: str = Field("", description="Monitored branch or full SHA of the old side; required.")
    head: str = Field("", description="Monitored branch or full SHA of the new side; required.")
    paths: list[str] | None = Field(None, description="Files or directories to narrow it to.")
    renames: bool = Field(False, description="Detect renamed files.")
    first: int = Field(0, description="Page size, 1 to 100.")
    after: str | None = Field(None, description="NextCursor of the page before.")


@dataclass(frozen=True, slots=True)
class Change:
    """One changed path. `patch` is empty when `binary`, or when `patch_truncated`."""

    path: str
    change_kind: str
    old_oid: str
    new_oid: str
    binary: bool
    patch: str
    patch_truncated: bool
    old_path: str | None = optional()
    similarity: int | None = optional()


@dataclass(frozen=True, slots=True)
class DiffPage:
    base_commit: str
    head_commit: str
    changes: tuple[Change, ...]
    next_cursor: str | None
    has_more_results: bool


def diff_revisions(actor: Actor, params: DiffRevisions) -> DiffPage:
    """The paths that differ between two commits, sorted by their bytes, in pages.

    Patches are Git's unified ones with three lines of context; one over 64 KiB, or over what
    is left of 256 KiB a page, is left out and marked. `renames` turns a removal and an
    addition of similar content into one change of kind R.

    Raises:
        InvalidRevision, InvalidPaths, InvalidLimit, InvalidCursor: the request.
        UnsupportedPathEncoding, GitOutputLimit: the list of changes.
        PathNotRegistered, ContentNotReady: in a monorepo.
        … and for repository and revisions what `repos.revisions.readable` raises.
    """
    if not params.base or not params.head:
        raise InvalidRevision("Base and Head are both required.")
    paths = check_paths(params.paths or [])
    check_first(params.first, MAX_FIRST)
    deadline = Deadline.after(settings.REQUEST_SECONDS)
    old = open_snapshot(actor, params.repo, params.base, deadline)
    new = open_snapshot(actor, params.repo, params.head, deadline)
    binding = binding_of(
        "diff", params.repo, old.commit, new.commit, params.paths or [], params.renames
    )
    offset = decode_offset(params.after, binding)
    for snapshot in (old, new):
        for path in paths or [b""]:
            snapshot.coverage.require_below(path)
    found = changes_between(
        new.objects,
        old.commit,
        new.commit,
        new.coverage.narrow(paths),
        renames=params.renames,
    )
    page = found[offset : offset + params.first]
    texts = patches(new.objects, old.commit, new.commit, page)
    cursor = next_cursor(binding, offset + len(page), len(found))
    return DiffPage(
        base_commit=old.commit,
        head_commit=new.commit,
        changes=tuple(_change(row, patch) for row, patch in zip(page, texts, strict=True)),
        next_cursor=cursor,
        has_more_results=cursor is not None,
    )


def _change(row: RawChange, patch: Patch) -> Change:
    return Change(
        path=row.path.decode(),
        change_kind=row.kind,
        old_oid=row.old_oid,
        new_oid=row.new_oid,
        binary=patch.binary,
        patch=patch.text,
        patch_truncated=patch.truncated,
        old_path=row.old_path.decode() if row.old_path is not None else None,
        similarity=row.similarity if row.kind == "R" else None,
    )
