"""Changes of a repository's settings: a preview, then compare-and-set."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from repos import work
from repos.access import get_managed
from repos.compare import check_revision
from repos.errors import (
    PolicyChanged,
    RepositoryDeleted,
    RepositoryDisabled,
    SyncIntervalChanged,
)
from repos.gitstore import layout
from repos.gitstore.history import first_parent_history
from repos.models import Repository
from repos.policy import (
    PathGroupInput,
    Policy,
    PolicyInput,
    check_git_timeout,
    check_index_history,
    check_interval,
    check_path_groups,
    check_policy,
)
from repos.records import RepositoryRecord, record_of
from repos.retention import Window, eligible
from repos.revisions import storage_missing
from repos.scheduling import next_sync
from sourcegraph_site.accounts import policy as site
from sourcegraph_site.audit.record import record
from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import AppError, RevisionConflict
from sourcegraph_site.kernel.inputs import Field, Input


class PreviewUpdate(Input):
    """New settings. What is omitted keeps its value, except `enabled` and `deleted`, whose
    omission means false (contract 1.5)."""

    repo: str
    policy: PolicyInput
    enabled: bool = False
    deleted: bool = False
    public_read: bool | None = None
    path_groups: list[PathGroupInput] | None = None
    sync_interval_minutes: int | None = None
    git_timeout_minutes: int | None = None
    index_history: str | None = None


class UpdateRepository(PreviewUpdate):
    preview: str = Field(description="`preview` of the reply to the same settings.")


@dataclass(frozen=True, slots=True)
class UpdatePreview:
    sync_interval_minutes: int
    revision: int
    preview: str
    retained_versions: int
    note: str


def preview_update(actor: Actor, params: PreviewUpdate) -> UpdatePreview:
    """What the settings would keep of what is mirrored now; changes nothing.

    Raises:
        AuthenticationRequired, InvalidRepo, RepositoryNotFound, RepositoryManagementDenied.
        InvalidPolicy and its kin: the settings.
        RepositoryDeleted: it is deleted, and the settings would revive it.
    """
    repo = get_managed(actor, params.repo)
    change = _checked(repo, params)
    policy: Policy = change["policy"]
    return UpdatePreview(
        sync_interval_minutes=change["sync_interval_minutes"],
        revision=repo.revision,
        preview=_digest(repo, params),
        retained_versions=_would_keep(repo, policy),
        note=_note(repo, change),
    )


def update_repository(
    actor: Actor, params: UpdateRepository, *, revision: int | None
) -> RepositoryRecord:
    """Apply settings that were previewed, if nothing changed since.

    A change of branches, window or path groups cancels the repository's jobs and queues a
    sync; until that succeeds, the old versions keep answering.

    Args:
        revision: of If-Match.

    Raises:
        as `preview_update`, and
        PreconditionRequired: no `revision`.
        RevisionConflict: the record changed, or `preview` belongs to other settings.
    """
    repo = get_managed(actor, params.repo)
    with transaction.atomic():
        repo = Repository.objects.select_for_update().get(pk=repo.pk)
        check_revision(repo, revision)
        change = _checked(repo, params)
        if params.preview != _digest(repo, params):
            raise RevisionConflict("The repository changed since the preview; preview again.")
        before = record_of(actor, repo, with_versions=False)
        _apply(actor, repo, change, deleted=params.deleted, enabled=params.enabled)
        after = record_of(actor, repo, with_versions=False)
        changed = [
            name
            for name in ("policy", "enabled", "deleted", "public_read", "path_groups")
            + ("sync_interval_minutes", "git_timeout_minutes", "index_history")
            if getattr(before, name) != getattr(after, name)
        ]
        record(actor, "repository.updated", target=f"repository:{repo.name}", changed=changed)
    return record_of(actor, repo)


def _checked(repo: Repository, params: PreviewUpdate) -> dict[str, Any]:
    """The settings after all rules, omitted ones filled in."""
    if repo.deleted and not params.deleted:
        raise RepositoryDeleted("A deleted repository cannot be revived.")
    defaults = site.repository_defaults()
    by_days = defaults.retention_mode == "days"
    policy = check_policy(
        params.policy,
        fallback_days=defaults.retention_days if by_days else None,
        fallback_count=None if by_days else defaults.retention_count,
    )
    groups = repo.wanted_path_groups
    if params.path_groups is not None:
        groups = check_path_groups(repo.index_mode, params.path_groups)

    def kept(given: Any, current: Any) -> Any:
        return current if given is None else given

    return {
        "policy": policy,
        "path_groups": groups,
        "public_read": kept(params.public_read, repo.public_read),
        "sync_interval_minutes": check_interval(
            kept(params.sync_interval_minutes, repo.sync_interval_minutes)
        ),
        "git_timeout_minutes": check_git_timeout(
            kept(params.git_timeout_minutes, repo.git_timeout_minutes)
        ),
        "index_history": check_index_history(kept(params.index_history, repo.index_history)),
    }


def _digest(repo: Repository, params: PreviewUpdate) -> str:
    """SHA-256 over revision, policy revision and the settings as they were sent."""
    sent = params.model_dump(exclude={"preview", "repo"}, exclude_unset=True)
    text = json.dumps([repo.revision, repo.policy_revision, sent], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _policy_of(repo: Repository) -> Policy:
    return Policy(tuple(repo.branches), repo.follows_default, repo.window_days, repo.window_count)


def _affects_versions(repo: Repository, change: dict[str, Any]) -> bool:
    groups_change = change["path_groups"] != repo.wanted_path_groups
    return bool(groups_change or change["policy"] != _policy_of(repo))


def _would_keep(repo: Repository, policy: Policy) -> int:
    """How many versions the policy keeps of what is mirrored now."""
    if storage_missing(repo) or repo.observed_at is None:
        return 0
    names = set(policy.branches)
    if policy.follows_default and repo.default_branch:
        names.add(repo.default_branch)
    window = Window(days=policy.days, count=policy.count)
    path = layout.mirror_path(repo.storage_key)
    histories = {
        head.branch: first_parent_history(path, head.commit, window.longest)
        for head in repo.heads.filter(branch__in=names)
    }
    return len(eligible(histories, window, clock.now()).commits)


def _note(repo: Repository, change: dict[str, Any]) -> str:
    if _affects_versions(repo, change):
        return (
            "Running jobs are cancelled and a sync is queued; the versions of now answer until"
            " it succeeds. Branches that are not mirrored yet are not counted."
        )
    return "Versions and indexes stay as they are."


def _apply(
    actor: Actor, repo: Repository, change: dict[str, Any], *, deleted: bool, enabled: bool
) -> None:
    now = clock.now()
    versions_change = _affects_versions(repo, change)
    interval_changes = change["sync_interval_minutes"] != repo.sync_interval_minutes
    was_enabled = repo.enabled
    policy: Policy = change.pop("policy")
    groups = change.pop("path_groups")
    repo.pending_path_groups = None if groups == repo.path_groups else groups
    repo.branches, repo.follows_default = list(policy.branches), policy.follows_default
    repo.window_days, repo.window_count = policy.days, policy.count
    for name, value in change.items():
        setattr(repo, name, value)
    repo.enabled = enabled and not deleted
    if deleted and repo.deleted_at is None:
        repo.deleted_at = now
    repo.revision += 1
    repo.policy_revision += int(versions_change)
    if interval_changes:
        repo.next_sync_at = next_sync(now, repo.sync_interval_minutes)
    repo.save()
    if versions_change or repo.enabled != was_enabled:
        queue.cancel(work.active_jobs(repo.pk), error=_why(repo))
    elif interval_changes:
        waiting = work.active_jobs(repo.pk).filter(
            kind=work.SYNC, state=Job.State.QUEUED, source=Job.Source.AUTOMATIC
        )
        queue.cancel(waiting, error=SyncIntervalChanged("The sync interval changed."))
    if repo.enabled and (versions_change or not was_enabled):
        work.queue_sync(repo, source=Job.Source.MANUAL, actor=actor.label)


def _why(repo: Repository) -> AppError:
    if repo.deleted:
        return RepositoryDeleted("The repository was deleted.")
    if not repo.enabled:
        return RepositoryDisabled("The repository was switched off.")
    return PolicyChanged("The policy changed, or the repository was switched on again.")
