"""Tell which commit a revision means."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from readers.history import details
from readers.resolve import HEADS, Named, resolve_name
from readers.snapshot import snapshot_of
from repos.access import can_prepare, get_visible
from repos.models import Repository
from repos.naming import is_object_id
from repos.retained import remember_resolved
from repos.revisions import Resolved, check_serving, is_monitored, resolve_commit
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
    """The one commit that a revision means at this moment; downloads no code, indexes nothing.

    An omitted revision and a monitored branch mean the head of the last sync, which may lag
    behind the remote; a full SHA, itself. Any other branch or tag is looked up in the catalog
    of refs while that is fresh, else at the remote. Never a substitute: what cannot be
    resolved is an error.

    Raises:
        RefNotFound, RefAmbiguous, RefNotCommit: a branch or tag that is not monitored.
        RemoteUnavailable, RemoteAccessDenied, InsufficientStorage: the remote was needed.
        … and what `repos.revisions.readable` raises, except BranchNotMonitored.
    """
    deadline = Deadline.after(settings.REQUEST_SECONDS)
    repo = get_visible(actor, params.repo)
    check_serving(repo)
    if _is_observed(repo, params.revision):
        return _observed(actor, repo, resolve_commit(repo, params.revision), deadline)
    assert params.revision
    found = resolve_name(repo, params.revision, deadline)
    remember_resolved(repo, found.commit, found.ref)
    return _named(actor, repo, found)


def _is_observed(repo: Repository, revision: str | None) -> bool:
    """Can the database alone say what it means?"""
    if not revision or is_object_id(revision):
        return True
    return is_monitored(repo, revision.removeprefix(HEADS))


def _observed(actor: Actor, repo: Repository, resolved: Resolved, deadline: Deadline) -> Resolution:
    snapshot = snapshot_of(repo, resolved, deadline)
    commit = details(snapshot.objects, [resolved.commit])[0]
    return Resolution(
        commit=resolved.commit,
        indexed=snapshot.indexed,
        kind="branch" if resolved.branch is not None else "commit",
        source="observed",
        monitored=resolved.branch is not None,
        ref=f"{HEADS}{resolved.branch}" if resolved.branch is not None else None,
        committer_time=snapshot.committer_time,
        created_at=snapshot.committer_time,
        author=commit.author,
        title=commit.title,
        hint=None if snapshot.indexed else _hint(actor, repo),
    )


def _named(actor: Actor, repo: Repository, found: Named) -> Resolution:
    indexed = repo.versions.filter(commit=found.commit, indexed=True).exists()
    return Resolution(
        commit=found.commit,
        indexed=indexed,
        kind=found.kind,
        source=found.source,
        monitored=False,
        ref=found.ref,
        committer_time=found.described.committer_time,
        created_at=found.described.created_at,
        author=found.described.author,
        title=found.described.title,
        hint=None if indexed else _hint(actor, repo),
    )


def _hint(actor: Actor, repo: Repository) -> str:
    if can_prepare(actor, repo):
        return "This commit has no index yet; call prepare with this SHA to build it."
    return "This commit has no index yet; a manager of the repository can prepare this SHA."
