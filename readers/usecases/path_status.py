"""Tell which paths exist on either side of a comparison."""

from dataclasses import dataclass

from django.conf import settings

from readers.paths import check_paths
from readers.snapshot import Snapshot, open_snapshot
from readers.trees import find
from repos.errors import InvalidRevision
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.inputs import Field, Input


class PathStatus(Input):
    repo: str
    base: str = Field("", description="Monitored branch or full SHA of the old side; required.")
    head: str = Field("", description="Monitored branch or full SHA of the new side; required.")
    paths: list[str] = Field(description="Files or directories.")


@dataclass(frozen=True, slots=True)
class PathPresence:
    path: str
    base_exists: bool
    head_exists: bool


def path_status(actor: Actor, params: PathStatus) -> tuple[PathPresence, ...]:
    """For each path as it was asked for, whether something stands there; links not followed.

    It tells a path without changes from one that was mistyped.

    Raises:
        InvalidRevision, InvalidPaths: the request.
        PathNotRegistered, ContentNotReady: in a monorepo.
        … and for repository and revisions what `repos.revisions.readable` raises.
    """
    if not params.base or not params.head:
        raise InvalidRevision("Base and Head are both required.")
    paths = check_paths(params.paths)
    deadline = Deadline.after(settings.REQUEST_SECONDS)
    old = open_snapshot(actor, params.repo, params.base, deadline)
    new = open_snapshot(actor, params.repo, params.head, deadline)
    return tuple(
        PathPresence(asked, _exists(old, path), _exists(new, path))
        for asked, path in zip(params.paths, paths, strict=True)
    )


def _exists(snapshot: Snapshot, path: bytes) -> bool:
    snapshot.coverage.require_below(path)
    return find(snapshot.objects, snapshot.root, path) is not None
