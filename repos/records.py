"""What callers see of repositories, versions and jobs: the records of the wire (contract 1.3
and 1.4), as frozen dataclasses and the queries that fill them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Count, Q, QuerySet

from repos import work
from repos.access import can_manage
from repos.models import GroupVersion, Repository, SyncCheck, Version
from repos.revisions import storage_missing
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.wire import optional

MAX_JOBS = 256
MAX_FAILURES = 50


@dataclass(frozen=True, slots=True)
class PersonRecord:
    """A person, as signed-in callers see one."""

    id: str
    name: str
    email: str
    department: str


@dataclass(frozen=True, slots=True)
class PolicyRecord:
    branches: list[str]
    default_branch: bool
    days: int | None = optional()
    count: int | None = optional()


@dataclass(frozen=True, slots=True)
class VersionRecord:
    indexed: bool
    commit: str
    committer_time: datetime
    files: int
    shards: int
    retained: bool | None = optional()


@dataclass(frozen=True, slots=True)
class JobRecord:
    job_id: str
    kind: str
    state: str
    stage: str
    source: str
    attempt: int
    policy_revision: int
    created_at: datetime
    updated_at: datetime
    group: str | None = optional()
    commit: str | None = optional()
    requested_revision: str | None = optional()
    error: str | None = optional()
    recovery_reason: str | None = optional()
    no_changes: bool | None = optional()
    started_at: datetime | None = optional()
    duration_seconds: float | None = optional()
    progress: dict[str, Any] | None = optional()


@dataclass(frozen=True, slots=True)
class FailureRecord:
    """Historical evidence: neither present readiness nor a task that can be run."""

    job_id: str
    kind: str
    source: str
    error: str
    attempt: int
    created_at: datetime
    updated_at: datetime
    group: str | None = optional()
    commit: str | None = optional()
    requested_revision: str | None = optional()


@dataclass(frozen=True, slots=True)
class CheckRecord:
    started_at: datetime
    checked_at: datetime
    no_changes: bool
    unchanged_count: int
    error: str | None = optional()


@dataclass(frozen=True, slots=True)
class ScopeRecord:
    """One path group of a monorepo."""

    heads: dict[str, str]
    versions: list[VersionRecord]
    observed_at: datetime | None
    last_indexed_at: datetime | None = optional()
    last_index_duration_seconds: float | None = optional()


@dataclass(frozen=True, slots=True)
class DiskRecord:
    bytes: int
    sampled_at: datetime


@dataclass(frozen=True, slots=True)
class RepositoryRecord:
    """Everything about one repository; also the reply of availability."""

    repo_id: str
    name: str
    revision: int
    policy_revision: int
    state: str
    enabled: bool
    deleted: bool
    public_read: bool
    code_provider: str
    index_mode: str
    index_history: str
    sync_interval_minutes: int
    git_timeout_minutes: int
    policy: PolicyRecord
    heads: dict[str, str]
    versions: list[VersionRecord]
    jobs: list[JobRecord]
    job_failures: list[FailureRecord]
    can_manage: bool
    history_truncated: bool
    storage_missing: bool
    updated_at: datetime
    observed_at: datetime | None
    sync_checks: dict[str, CheckRecord] | None = optional()
    default_branch: str | None = optional()
    path_groups: list[dict[str, Any]] | None = optional()
    scopes: dict[str, ScopeRecord] | None = optional()
    next_sync_at: datetime | None = optional()
    last_indexed_at: datetime | None = optional()
    last_index_duration_seconds: float | None = optional()
    last_error: str | None = optional()
    disk_usage: DiskRecord | None = optional()
    creator: PersonRecord | None = optional()
    managers: list[PersonRecord] | None = optional()


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """One repository in the catalog."""

    repo_id: str
    name: str
    state: str
    enabled: bool
    deleted: bool
    public_read: bool
    code_provider: str
    index_mode: str
    sync_interval_minutes: int
    storage_missing: bool
    policy: PolicyRecord
    heads: dict[str, str]
    version_count: int
    published_index_count: int
    observed_at: datetime | None
    default_branch: str | None = optional()
    path_groups: list[dict[str, Any]] | None = optional()
    next_sync_at: datetime | None = optional()
    last_indexed_at: datetime | None = optional()
    last_index_duration_seconds: float | None = optional()
    last_error: str | None = optional()
    disk_usage: DiskRecord | None = optional()
    managers: list[PersonRecord] | None = optional()


# --- One repository ----------------------------------------------------------------------
def record_of(actor: Actor, repo: Repository, *, with_versions: bool = True) -> RepositoryRecord:
    """The record as this caller sees it. `with_versions=False` leaves the version lists
    empty, for pages that show their number only."""
    heads = dict(repo.heads.order_by("branch").values_list("branch", "commit"))
    return RepositoryRecord(
        repo_id=repo.repo_id,
        name=repo.name,
        revision=repo.revision,
        policy_revision=repo.policy_revision,
        state=repo.state,
        enabled=repo.enabled,
        deleted=repo.deleted,
        public_read=repo.public_read,
        code_provider=repo.code_provider,
        index_mode=repo.index_mode,
        index_history=repo.index_history,
        sync_interval_minutes=repo.sync_interval_minutes,
        git_timeout_minutes=repo.git_timeout_minutes,
        policy=policy_record(repo),
        heads=heads,
        versions=_versions(repo) if with_versions else [],
        jobs=[job_record(job) for job in recent_jobs(repo.pk)],
        job_failures=failures_of(repo.pk),
        can_manage=can_manage(actor, repo),
        history_truncated=repo.history_truncated,
        storage_missing=storage_missing(repo),
        updated_at=repo.updated_at,
        observed_at=repo.observed_at,
        sync_checks=_checks(repo),
        default_branch=repo.default_branch or None,
        path_groups=repo.wanted_path_groups or None,
        scopes=_scopes(repo, heads) if repo.monorepo and with_versions else None,
        next_sync_at=_next_sync(repo),
        last_indexed_at=repo.last_indexed_at,
        last_index_duration_seconds=repo.last_index_duration_seconds,
        last_error=repo.last_error or None,
        disk_usage=disk_record(repo),
        creator=person_or_none(repo.creator) if actor.signed_in else None,
        managers=_managers(repo) if actor.signed_in else None,
    )


def policy_record(repo: Repository) -> PolicyRecord:
    return PolicyRecord(
        list(repo.branches), repo.follows_default, repo.window_days, repo.window_count
    )


def disk_record(repo: Repository) -> DiskRecord | None:
    if repo.disk_bytes is None or repo.disk_sampled_at is None:
        return None
    return DiskRecord(repo.disk_bytes, repo.disk_sampled_at)


def _next_sync(repo: Repository) -> datetime | None:
    return repo.next_sync_at if repo.enabled else None


def person(user: Any) -> PersonRecord:
    return PersonRecord(user.public_id, user.display_name, user.email, user.department)


def person_or_none(user: Any) -> PersonRecord | None:
    return person(user) if user is not None else None


def _managers(repo: Repository) -> list[PersonRecord]:
    users = get_user_model().objects.filter(repositorymanager__repository=repo)
    return [person(user) for user in users.order_by("repositorymanager__pk")]


def _versions(repo: Repository) -> list[VersionRecord]:
    rows = repo.versions.values_list(
        "indexed", "commit", "committer_time", "files", "shards", "retained_until"
    )
    return [
        VersionRecord(indexed, commit, time, files, shards, True if until else None)
        for indexed, commit, time, files, shards, until in rows
    ]


def _scopes(repo: Repository, heads: dict[str, str]) -> dict[str, ScopeRecord]:
    ready: dict[tuple[str, int], GroupVersion] = {
        (row.group, row.version_id): row
        for row in GroupVersion.objects.filter(version__repository=repo)
    }
    versions = list(repo.versions.all())
    scopes = {}
    for group in repo.group_names:
        rows = [(version, ready.get((group, version.pk))) for version in versions]
        last = max((row for _, row in rows if row), key=lambda row: row.indexed_at, default=None)
        scopes[group] = ScopeRecord(
            heads,
            [_scoped(version, row) for version, row in rows],
            repo.observed_at,
            last.indexed_at if last else None,
            last.duration_seconds if last else None,
        )
    return scopes


def _scoped(version: Version, row: GroupVersion | None) -> VersionRecord:
    return VersionRecord(
        row is not None,
        version.commit,
        version.committer_time,
        row.files if row else 0,
        row.shards if row else 0,
        True if version.retained else None,
    )


def _checks(repo: Repository) -> dict[str, CheckRecord] | None:
    check = SyncCheck.objects.filter(repository=repo).first()
    if check is None:
        return None
    record = CheckRecord(
        check.started_at,
        check.checked_at,
        check.no_changes,
        check.unchanged_count,
        check.error or None,
    )
    return dict.fromkeys(repo.group_names, record)


# --- Jobs --------------------------------------------------------------------------------
def recent_jobs(repository_id: int) -> Iterable[Job]:
    """Newest first; failures that are only history are in `failures_of`."""
    return work.jobs_of(repository_id).order_by("-created_at", "-pk")[:MAX_JOBS]


def job_record(job: Job) -> JobRecord:
    took = None
    if job.started_at and job.finished_at:
        took = round((job.finished_at - job.started_at).total_seconds(), 3)
    result = job.result or {}
    return JobRecord(
        job_id=job.job_id,
        kind=work.KINDS.get(job.kind, job.kind),
        state=job.state,
        stage=job.stage,
        source=job.source,
        attempt=job.attempt,
        policy_revision=job.policy_revision,
        created_at=job.created_at,
        updated_at=job.updated_at,
        group=job.group or None,
        commit=job.commit or None,
        requested_revision=job.requested_revision or None,
        error=job.error or None,
        recovery_reason=job.recovery_reason or None,
        no_changes=result.get("no_changes"),
        started_at=job.started_at,
        duration_seconds=took,
        progress=job.progress or None if job.state == Job.State.RUNNING else None,
    )


def failures_of(repository_id: int) -> list[FailureRecord]:
    """The newest failures, at most 50; the jobs table keeps them 30 days."""
    failed = work.jobs_of(repository_id).filter(state=Job.State.FAILED)
    return [
        FailureRecord(
            job_id=job.job_id,
            kind=work.KINDS.get(job.kind, job.kind),
            source=job.source,
            error=job.error,
            attempt=job.attempt,
            created_at=job.created_at,
            updated_at=job.updated_at,
            group=job.group or None,
            commit=job.commit or None,
            requested_revision=job.requested_revision or None,
        )
        for job in failed.order_by("-finished_at", "-pk")[:MAX_FAILURES]
    ]


# --- The catalog -------------------------------------------------------------------------
def catalog_rows(actor: Actor, repos: QuerySet[Repository]) -> list[CatalogRow]:
    """Rows for an ordered and cut queryset, in a fixed number of queries."""
    found = list(
        repos.prefetch_related("heads", "managers").annotate(
            version_count=Count("versions"),
            indexed_count=Count("versions", filter=Q(versions__indexed=True)),
        )
    )
    return [_catalog_row(repo, signed_in=actor.signed_in) for repo in found]


def _catalog_row(repo: Any, *, signed_in: bool) -> CatalogRow:
    return CatalogRow(
        repo_id=repo.repo_id,
        name=repo.name,
        state=repo.state,
        enabled=repo.enabled,
        deleted=repo.deleted,
        public_read=repo.public_read,
        code_provider=repo.code_provider,
        index_mode=repo.index_mode,
        sync_interval_minutes=repo.sync_interval_minutes,
        storage_missing=storage_missing(repo),
        policy=policy_record(repo),
        heads=_sorted_heads(repo.heads.all()),
        version_count=repo.version_count,
        published_index_count=repo.indexed_count,
        observed_at=repo.observed_at,
        default_branch=repo.default_branch or None,
        path_groups=repo.wanted_path_groups or None,
        next_sync_at=_next_sync(repo),
        last_indexed_at=repo.last_indexed_at,
        last_index_duration_seconds=repo.last_index_duration_seconds,
        last_error=repo.last_error or None,
        disk_usage=disk_record(repo),
        managers=[person(user) for user in repo.managers.all()] if signed_in else None,
    )


def _sorted_heads(heads: Iterable[Any]) -> dict[str, str]:
    return {head.branch: head.commit for head in sorted(heads, key=lambda head: str(head.branch))}
