"""Tell which commit a revision means."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from readers.history import details
from readers.snapshot import snapshot_of
from repos.access import can_prepare
from repos.models import Repository
from repos.revisions import readable
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.wire import optional


class ResolveRevision(Input):
    repo: str
    revision: str | None = Field(
        None, description="Branch, tag or full SHA; empty for the default branch."
    )


@dataclass(frozen=True, slots=True)
class Resolution:
    """A commit and what is known about it.

    `kind`: branch, tag or commit. `source`: observed (the last sync), catalog or remote.
    `ref`: the full name, unless a SHA was given. `created_at`, `author` and `title` describe
    the commit, or the tag if it is an annotated one. `hint`: what to do without an index.
    """

    commit: str
    indexed: bool
    kind: str
    source: str
    monitored: bool
    ref: str | None = optional()
    committer_time: datetime | None = optional()
    created_at: datetime | None = optional()
    author: str | None = optional()
    title: str | None = optional()
    hint: str | None = optional()


def resolve_revision(actor: Actor, params: ResolveRevision) -> Resolution:
    """The one commit that a revision means at this moment; downloads and indexes nothing.

    An omitted revision and a monitored branch mean the head of the last sync, which may lag
    behind the remote. Never a substitute: what cannot be resolved is an error.

    Raises: what `repos.revisions.readable` raises.
    """
    deadline = Deadline.after(settings.REQUEST_SECONDS)
    repo, resolved = readable(actor, params.repo, params.revision)
    snapshot = snapshot_of(repo, resolved, deadline)
    commit = details(snapshot.objects, [resolved.commit])[0]
    return Resolution(
        commit=resolved.commit,
        indexed=snapshot.indexed,
        kind="branch" if resolved.branch is not None else "commit",
        source="observed",
        monitored=resolved.branch is not None,
        ref=f"refs/heads/{resolved.branch}" if resolved.branch is not None else None,
        committer_time=snapshot.committer_time,
        created_at=snapshot.committer_time,
        author=commit.author,
        title=commit.title,
        hint=None if snapshot.indexed else _hint(actor, repo),
    )


def _hint(actor: Actor, repo: Repository) -> str:
    if can_prepare(actor, repo):
        return "This commit has no index yet; call prepare with this SHA to build it."
    return "This commit has no index yet; a manager of the repository can prepare this SHA."
