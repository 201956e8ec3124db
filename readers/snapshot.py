"""One repository at one commit, opened for one request."""

from dataclasses import dataclass
from datetime import datetime

from readers.coverage import Coverage, coverage_of
from readers.objects import Objects
from readers.trees import root_of
from repos.gitstore.layout import mirror_path
from repos.models import Repository
from repos.revisions import Resolved, readable
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`branch` is the monitored branch that the revision meant, if it meant one."""

    commit: str
    branch: str | None
    indexed: bool
    committer_time: datetime
    objects: Objects
    coverage: Coverage

    @property
    def root(self) -> str:
        """The id of the root tree."""
        return root_of(self.objects, self.commit)


def open_snapshot(actor: Actor, name: str, revision: str | None, deadline: Deadline) -> Snapshot:
    """Check that `actor` may read `name`, and fix the commit that `revision` means now.

    Raises: what `repos.revisions.readable` raises.
    """
    repo, resolved = readable(actor, name, revision)
    return snapshot_of(repo, resolved, deadline)


def snapshot_of(repo: Repository, resolved: Resolved, deadline: Deadline) -> Snapshot:
    return Snapshot(
        commit=resolved.commit,
        branch=resolved.branch,
        indexed=resolved.version.indexed,
        committer_time=resolved.version.committer_time,
        objects=Objects(mirror_path(repo.storage_key), deadline),
        coverage=coverage_of(repo, resolved.version),
    )
