"""Choose a commit of a branch by hand and have it indexed: options, preview, request."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from repos import idempotency
from repos.access import get_managed
from repos.compare import check_revision
from repos.errors import (
    BranchNotMonitored,
    BranchNotObserved,
    RepositoryDisabled,
    RevisionNotEligible,
    RevisionNotOnBranch,
)
from repos.gitstore import layout
from repos.gitstore.history import is_reachable, newest_commits
from repos.models import Repository
from repos.naming import is_object_id
from repos.preparing import index_groups
from repos.readiness import group_ready
from repos.records import JobRecord, job_record
from repos.revisions import Resolved, default_branch, resolve_commit, storage_missing
from sourcegraph_site.audit.record import record
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import RevisionConflict
from sourcegraph_site.kernel.inputs import Field, Input

OPERATION = "index"
OPTIONS = 20


class CommitOptions(Input):
    repo: str
    branch: str = Field("", description="Monitored branch; the default branch if empty.")


class PreviewIndex(Input):
    repo: str
    branch: str
    commit: str


class RequestIndex(PreviewIndex):
    preview: str


@dataclass(frozen=True, slots=True)
class CommitOption:
    commit: str
    subject: str
    committer_time: datetime
    eligible: bool
    indexed: bool


@dataclass(frozen=True, slots=True)
class CommitOptionsReply:
    branches: list[str]
    branch: str
    head: str
    commits: list[CommitOption]
    observed_at: datetime | None


@dataclass(frozen=True, slots=True)
class IndexPreview:
    preview: str
    revision: int
    branch: str
    commit: str
    groups: list[str]
    already_indexed: bool


@dataclass(frozen=True, slots=True)
class IndexRequested:
    jobs: list[JobRecord]
    status: str = "accepted"


def commit_options(actor: Actor, params: CommitOptions) -> CommitOptionsReply:
    """The 20 newest first-parent commits of a branch, and what can be done with each.

    Raises:
        as `access.get_managed`;
        BranchNotMonitored, BranchNotObserved, DefaultBranchUndetermined: the branch.
    """
    repo = get_managed(actor, params.repo)
    branch = params.branch or default_branch(repo)
    head = _head(repo, branch)
    found = newest_commits(layout.mirror_path(repo.storage_key), head, OPTIONS)
    known = dict(
        repo.versions.filter(commit__in=[c.sha for c in found]).values_list("commit", "indexed")
    )
    return CommitOptionsReply(
        branches=repo.monitored_branches,
        branch=branch,
        head=head,
        commits=[
            CommitOption(c.sha, c.subject, c.time, c.sha in known, known.get(c.sha, False))
            for c in found
        ],
        observed_at=repo.observed_at,
    )


def preview_index(actor: Actor, params: PreviewIndex) -> IndexPreview:
    """What a request for this commit would queue; changes nothing.

    Raises:
        as `access.get_managed`; RepositoryDisabled (409), BranchNotMonitored,
        BranchNotObserved; RevisionNotEligible: outside the window;
        RevisionNotOnBranch: not reachable from the branch.
    """
    repo = get_managed(actor, params.repo)
    target = _target(repo, params)
    groups = _missing(repo, target)
    return IndexPreview(
        preview=_digest(repo, params, groups),
        revision=repo.revision,
        branch=params.branch,
        commit=target.commit,
        groups=groups,
        already_indexed=not groups,
    )


def request_index(
    actor: Actor, params: RequestIndex, *, revision: int | None, idempotency_key: str
) -> IndexRequested:
    """Queue what was previewed; shares the 30 seconds' pace with `prepare`.

    Raises:
        as `preview_index`;
        IdempotencyConflict, PreconditionRequired, RevisionConflict, RateLimited, QueueFull.
    """
    repo = get_managed(actor, params.repo)
    digest = idempotency.digest_of(params.model_dump())
    operation = f"{OPERATION}:{repo.pk}"
    with transaction.atomic():
        repo = Repository.objects.select_for_update().get(pk=repo.pk)
        receipt = idempotency.replayed(actor, operation, idempotency_key, digest)
        if receipt is not None:
            jobs = Job.objects.in_bulk(receipt.answer["jobs"])
            return IndexRequested([job_record(job) for job in jobs.values()])
        check_revision(repo, revision)
        target = _target(repo, params)
        groups = _missing(repo, target)
        if params.preview != _digest(repo, params, groups):
            raise RevisionConflict("The repository changed since the preview; preview again.")
        queued = index_groups(actor, repo, target, groups, requested_revision=params.branch)
        answer = {"jobs": [job.pk for job in queued]}
        idempotency.keep(actor, operation, idempotency_key, digest, repo, answer)
        record(
            actor,
            "repository.prepare_requested",
            target=f"repository:{repo.name}",
            revision=target.commit,
        )
    return IndexRequested([job_record(job) for job in queued])


def _head(repo: Repository, branch: str) -> str:
    if branch not in repo.monitored_branches:
        raise BranchNotMonitored("This branch is not monitored.")
    head = repo.heads.filter(branch=branch).first()
    if head is None or storage_missing(repo):
        raise BranchNotObserved("The remote did not have this branch at the last sync.")
    return head.commit


def _target(repo: Repository, params: PreviewIndex) -> Resolved:
    if not repo.enabled or repo.deleted:
        raise RepositoryDisabled("This repository is switched off.", status=409)
    head = _head(repo, params.branch)
    if not is_object_id(params.commit):
        raise RevisionNotEligible("Give the full SHA of one of the branch's commits.")
    target = resolve_commit(repo, params.commit)
    if not is_reachable(layout.mirror_path(repo.storage_key), target.commit, head):
        raise RevisionNotOnBranch("The commit cannot be reached from this branch.")
    return target


def _missing(repo: Repository, target: Resolved) -> list[str]:
    return [group for group in repo.group_names if not group_ready(target.version, group)]


def _digest(repo: Repository, params: PreviewIndex, groups: list[str]) -> str:
    state = [repo.revision, repo.policy_revision, params.branch, params.commit, groups]
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()
