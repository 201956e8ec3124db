"""MCP tools over the catalog of repositories, and the one that prepares a version."""

from typing import Any

from repos.idempotency import check_key
from repos.preparers import can_prepare_something
from repos.records import CatalogRow, JobRecord, RepositoryRecord, ScopeRecord, VersionRecord
from repos.usecases.get_repository import GetRepository, get_repository
from repos.usecases.list_repositories import PAGE, ListRepositories, list_repositories
from repos.usecases.prepare import Prepare
from repos.usecases.prepare import prepare as queue_preparation
from sourcegraph_site.api import limits
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.wire import to_wire
from sourcegraph_site.mcp.registry import Caller, tool
from sourcegraph_site.mcp.text import compact

# A version costs about 90 characters; the whole window may hold thousands.
MAX_VERSIONS = 100
_ACTIVE = ("queued", "running")


class RepositoriesInput(Input):
    after: str | None = Field(None, description="next_cursor of the page before.")


@tool(
    title="List repositories",
    description=(
        "The repositories that this connection can read, with the commit of each monitored"
        " branch at its last sync. Not needed when the repository's name is known."
    ),
    input=RepositoriesInput,
    read_only=True,
)
def repositories(caller: Caller, params: RepositoriesInput) -> str:
    rows = list_repositories(caller.actor, ListRepositories(after=params.after or ""))
    answer: dict[str, Any] = {"repositories": [_row(row) for row in rows]}
    if len(rows) == PAGE:
        answer["next_cursor"] = rows[-1].repo_id
    return compact(answer)


def _row(row: CatalogRow) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "repo": row.name,
        "state": _state(row),
        "index_mode": row.index_mode,
        "heads": row.heads,
    }
    if row.default_branch:
        shown["default_branch"] = row.default_branch
    if row.path_groups:
        shown["path_groups"] = row.path_groups
    return shown


def _state(record: CatalogRow | RepositoryRecord) -> str:
    """What keeps a repository from answering, the gravest first; else registered or empty."""
    if record.deleted:
        return "deleted"
    if not record.enabled:
        return "disabled"
    if record.storage_missing:
        return "storage_missing"
    return "empty" if record.state == "empty" else "registered"


class AvailabilityInput(Input):
    repo: str = Field(min_length=1, description="Repository, as owner/name.")
    job_id: str | None = Field(None, description="A job to look up instead of the usual list.")


@tool(
    title="Availability of versions",
    description=(
        "Which commits of a repository can be read, which are indexed for search, and what"
        " jobs are under way. Needed after INDEX_NOT_READY or to follow a job, not before"
        " every search."
    ),
    input=AvailabilityInput,
    read_only=True,
)
def availability(caller: Caller, params: AvailabilityInput) -> str:
    record = get_repository(caller.actor, GetRepository(repo=params.repo))
    answer: dict[str, Any] = {
        "repo": record.name,
        "state": _state(record),
        "index_mode": record.index_mode,
        "heads": record.heads,
        "versions": _versions(record.versions),
    }
    hidden = len(record.versions) - MAX_VERSIONS
    if hidden > 0:
        answer["older_versions"] = hidden
        answer["hint"] = "Older versions are left out here; resolve tells about any full SHA."
    answer |= _known(
        {
            "default_branch": record.default_branch,
            "monitored_branches": record.policy.branches or None,
            "observed_at": record.observed_at,
            "last_indexed_at": record.last_indexed_at,
            "previous_index_seconds": record.last_index_duration_seconds,
        }
    )
    if record.scopes:
        paths = {group["name"]: group["paths"] for group in record.path_groups or []}
        answer["groups"] = [
            _group(name, scope, paths.get(name, [])) for name, scope in record.scopes.items()
        ]
    return compact(answer | (_job(record, params.job_id) if params.job_id else _jobs(record)))


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {key: to_wire(value) for key, value in values.items() if value is not None}


def _versions(versions: list[VersionRecord]) -> list[dict[str, Any]]:
    return [
        {
            "commit": version.commit,
            "indexed": version.indexed,
            "committer_time": to_wire(version.committer_time),
        }
        for version in versions[:MAX_VERSIONS]
    ]


def _group(name: str, scope: ScopeRecord, paths: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "paths": paths,
        "heads": scope.heads,
        "versions": _versions(scope.versions),
        **_known(
            {
                "observed_at": scope.observed_at,
                "last_indexed_at": scope.last_indexed_at,
                "previous_index_seconds": scope.last_index_duration_seconds,
            }
        ),
    }


def _jobs(record: RepositoryRecord) -> dict[str, Any]:
    """Every active job, and for each group the newest finished one.

    A failure that a later clean sync has outlived is not shown: it explains nothing any more.
    """
    shown, seen = [], set()
    for job in record.jobs:  # newest first
        if job.state in _ACTIVE:
            shown.append(job)
        elif (job.kind, job.group) not in seen:
            seen.add((job.kind, job.group))
            if not _outlived(record, job):
                shown.append(job)
    return {
        "jobs": [_shown(job, record.last_index_duration_seconds) for job in shown],
        "jobs_scope": "Active jobs, and the newest finished one of each kind and group."
        " Pass job_id for any other.",
    }


def _outlived(record: RepositoryRecord, job: JobRecord) -> bool:
    checks = (record.sync_checks or {}).values()
    return job.state == "failed" and any(
        check.error is None and check.checked_at > job.updated_at for check in checks
    )


def _job(record: RepositoryRecord, job_id: str) -> dict[str, Any]:
    for job in record.jobs:
        if job.job_id == job_id:
            return {"jobs": [_shown(job, record.last_index_duration_seconds)]}
    for failure in record.job_failures:
        if failure.job_id == job_id:
            message = "The job itself is gone; its failure is history, not the present state."
            lookup = {"job_id": job_id, "state": "archived_failure", "message": message}
            return {"jobs": [], "job_lookup": lookup, "job_failure": to_wire(failure)}
    message = "No such job of this repository, or it is too old; that does not mean it succeeded."
    return {
        "jobs": [],
        "job_lookup": {"job_id": job_id, "state": "not_found", "message": message},
    }


def _shown(job: JobRecord, previous_index_seconds: float | None = None) -> dict[str, Any]:
    return {
        "job_id": job.job_id,
        "state": job.state,
        **_known(
            {
                "kind": job.kind,
                "revision": job.requested_revision,
                "commit": job.commit,
                "group": job.group,
                "stage": job.stage if job.state == "running" else None,
                "error": job.error,
                "updated_at": job.updated_at,
                "previous_index_seconds": previous_index_seconds,
            }
        ),
    }


class PrepareInput(Input):
    repo: str = Field(min_length=1, description="Repository, as owner/name.")
    idempotency_key: str = Field(
        min_length=1,
        max_length=128,
        pattern=r"^[^\r\n\x00]+$",
        description="8 to 128 characters; the same key and request give the same job.",
    )
    revision: str | None = Field(
        None, description="Monitored branch, or full SHA that resolve returned; omit for default."
    )
    group: str | None = Field(None, description="One path group of a monorepo; omit for all.")


@tool(
    title="Prepare a version for search",
    description=(
        "Queue what is missing to search a commit, and return the job at once. Only when you"
        " were asked to; then poll availability with job_id, a bounded number of times."
    ),
    input=PrepareInput,
    read_only=False,
    offered=can_prepare_something,
)
def prepare(caller: Caller, params: PrepareInput) -> str:
    asked = Prepare(
        repo=params.repo, kind="index", commit=params.revision or "", group=params.group or ""
    )
    limits.preparation(caller.actor)
    key = check_key(params.idempotency_key)
    queued = queue_preparation(caller.actor, asked, idempotency_key=key)
    if len(queued.jobs) == 1:
        return compact(_shown(queued.jobs[0]))
    hint = {} if queued.jobs else {"hint": "This version is ready already."}
    return compact({"jobs": [_shown(job) for job in queued.jobs], **hint})
