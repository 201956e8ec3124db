"""A revision as a caller writes it → exactly one commit. Reads the database alone.

The order of the rules, first match wins (contract 4.0, decisions 26 and 27):

1. nothing: the default branch;
2. a monitored branch, bare or as `refs/heads/…`, even if it looks like a SHA: its head;
3. 40 lower-case hex digits: that version, if it is kept;
4. 4 to 39 hex digits: SHORT_SHA_UNSUPPORTED; 40 or more, in another form: INVALID_REVISION;
5. `HEAD`, other `refs/…`, expressions, characters that are not accepted: INVALID_REVISION;
6. any other name: BRANCH_NOT_MONITORED.

There is never a substitute: what is not kept is REVISION_NOT_ELIGIBLE.
"""

import re
from dataclasses import dataclass

from repos.access import get_visible
from repos.errors import (
    BranchNotMonitored,
    BranchNotObserved,
    DefaultBranchNotObserved,
    DefaultBranchUndetermined,
    InvalidRevision,
    RepositoryDisabled,
    RepositoryStorageMissing,
    RevisionNotEligible,
    ShortShaUnsupported,
)
from repos.gitstore.layout import mirror_path
from repos.models import BranchHead, Repository, Version
from repos.naming import is_object_id, is_ref_name
from sourcegraph_site.accounts.prepared import PreparedSelect
from sourcegraph_site.kernel.actor import Actor

_HEADS = "refs/heads/"
_HEX = re.compile(r"[0-9a-fA-F]{4,}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Resolved:
    """One commit that the repository keeps; `branch` is the monitored branch it came from."""

    commit: str
    branch: str | None
    version: Version


def readable(actor: Actor, name: str, revision: str | None) -> tuple[Repository, Resolved]:
    """Repository and commit for a read, with the checks in the contract's order.

    Raises:
        InvalidRepo, RepositoryNotFound: name.
        RepositoryStorageMissing: the mirror is gone from the disk.
        RepositoryDisabled: switched off or deleted.
        …and what `resolve_commit` raises.
    """
    repo = get_visible(actor, name)
    check_serving(repo)
    return repo, resolve_commit(repo, revision)


def storage_missing(repo: Repository) -> bool:
    """Was the repository mirrored, and is its mirror gone?"""
    return repo.observed_at is not None and not mirror_path(repo.storage_key).is_dir()


def check_serving(repo: Repository) -> None:
    """Raises RepositoryStorageMissing or RepositoryDisabled, in this order."""
    if storage_missing(repo):
        raise RepositoryStorageMissing("The mirror of this repository is not on the disk.")
    if not repo.enabled or repo.deleted:
        raise RepositoryDisabled("This repository is switched off.")


def resolve_commit(repo: Repository, revision: str | None) -> Resolved:
    """The commit that `revision` means now; see the module's table for every refusal."""
    if not revision:
        branch = default_branch(repo)
        return _at_head(repo, branch, DefaultBranchNotObserved("The default branch is not known."))
    branch = revision.removeprefix(_HEADS)
    if is_monitored(repo, branch):
        return _at_head(
            repo, branch, BranchNotObserved("The remote did not have this branch at the last sync.")
        )
    if is_object_id(revision):
        return _at_commit(repo, revision)
    check_revision_word(revision)
    raise BranchNotMonitored(
        "This branch is not monitored; resolve it to a full SHA, and use that.",
    )


def check_revision_word(revision: str) -> None:
    """Refuse what can be neither a branch nor a tag name.

    Raises:
        ShortShaUnsupported, InvalidRevision: see the module's table.
    """
    if _HEX.fullmatch(revision):
        if len(revision) < 40:
            raise ShortShaUnsupported(
                "Give all 40 characters of the SHA; a branch or tag of this name is"
                " refs/heads/… or refs/tags/…."
            )
        raise InvalidRevision("A commit is 40 lower-case hexadecimal characters.")
    name = revision.removeprefix(_HEADS)
    if not is_ref_name(name) or name == "HEAD" or name.startswith("refs/"):
        raise InvalidRevision("Give a monitored branch, a full commit SHA, or nothing.")


def is_monitored(repo: Repository, branch: str) -> bool:
    """Is it a branch of the policy? Between a change of the policy and the sync that puts it
    in force, branches of the old policy still count: their heads keep answering."""
    if branch in repo.monitored_branches:
        return True
    return (
        not repo.policy_in_force
        and BranchHead.objects.filter(repository=repo, branch=branch).exists()
    )


def default_branch(repo: Repository) -> str:
    """The branch that an omitted revision means.

    Raises:
        DefaultBranchNotObserved: it is followed, and no sync has discovered it yet.
        DefaultBranchUndetermined: not followed, and not exactly one of main and master.
    """
    if repo.follows_default:
        if not repo.default_branch:
            raise DefaultBranchNotObserved("The default branch of the remote is not known yet.")
        return repo.default_branch
    usual = [name for name in ("main", "master") if name in repo.branches]
    if len(usual) != 1:
        raise DefaultBranchUndetermined("Name a branch or a commit: no default branch is set.")
    return usual[0]


_AT_HEAD = PreparedSelect(
    Version,
    '"repos_version"."repository_id" = %s AND "repos_version"."commit" = ('
    'SELECT "commit" FROM "repos_branchhead" WHERE "repository_id" = %s AND "branch" = %s)',
)
_AT_COMMIT = PreparedSelect(
    Version, '"repos_version"."repository_id" = %s AND "repos_version"."commit" = %s'
)


def _at_head(repo: Repository, branch: str, absent: Exception) -> Resolved:
    version = _AT_HEAD.first(repo.pk, repo.pk, branch)
    if version is not None:
        return Resolved(version.commit, branch, version)
    if not BranchHead.objects.filter(repository=repo, branch=branch).exists():
        raise absent
    raise RevisionNotEligible("The head of this branch is not among the versions that are kept.")


def _at_commit(repo: Repository, commit: str) -> Resolved:
    version = _AT_COMMIT.first(repo.pk, commit)
    if version is None:
        raise RevisionNotEligible("This commit is not among the versions that are kept.")
    return Resolved(commit, None, version)
