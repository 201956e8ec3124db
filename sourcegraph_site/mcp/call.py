"""One tool call: arguments → `Input` → use case → text blocks, or an error as a result.

An error is a *result* with `isError`, not a protocol error, so that the model can read its
code and act on it (contract 2.3).
"""

import logging
from collections.abc import Mapping
from typing import Any

from django.db import DatabaseError

from sourcegraph_site.kernel.errors import (
    AppError,
    ControlStateUnavailable,
    DependencyUnavailable,
    QueryDeadlineExceeded,
)
from sourcegraph_site.kernel.inputs import parse
from sourcegraph_site.mcp.errors import RequestTimeout
from sourcegraph_site.mcp.registry import Caller, Tool
from sourcegraph_site.mcp.text import compact

log = logging.getLogger(__name__)

# What is missing, in words that fit a model that cannot see the repository's page.
_MISSING = {
    "INDEX_NOT_READY": "This commit has no search index yet; that is not an empty result.",
    "CONTENT_NOT_READY": "The path group that holds this path is not prepared at this commit.",
    "SCOPE_NOT_READY": "No commit of this path group has been prepared yet.",
    "REPOSITORY_STORAGE_MISSING": "The stored copy of this repository is missing.",
    "DEFAULT_BRANCH_NOT_OBSERVED": "The default branch has not been synchronized yet.",
    "BRANCH_NOT_OBSERVED": "The branch was not on the remote at the last synchronization.",
    "REVISION_NOT_ELIGIBLE": (
        "The revision is not among the versions kept of this repository. Check that repository"
        " and SHA belong together, the monitored branches, the last sync and the retention;"
        " never use another commit in its place."
    ),
}
_WRITABLE = " Call prepare for this revision if that was asked for; it is done later: poll"
_WRITABLE += " availability with its job_id within a bound."
_READ_ONLY = " This connection is read-only: ask a maintainer of the repository to prepare it."


def call_tool(tool: Tool, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The result of `tools/call`; never raises."""
    try:
        # A null is an omitted argument: models fill in every field that they see.
        given = {name: value for name, value in arguments.items() if value is not None}
        reply = tool.run(caller, parse(tool.input, given))
    except Exception as exc:
        return _result([compact(error_object(_as_app_error(tool, exc), caller))], is_error=True)
    return _result([reply] if isinstance(reply, str) else reply)


def _result(blocks: list[str], *, is_error: bool = False) -> dict[str, Any]:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text} for text in blocks]}
    if is_error:
        result["isError"] = True
    return result


def _as_app_error(tool: Tool, exc: Exception) -> AppError:
    if isinstance(exc, QueryDeadlineExceeded):
        return RequestTimeout("The call took too long and was stopped; ask for less.")
    if isinstance(exc, AppError):
        return exc
    log.error("tool %s failed", tool.name, exc_info=exc)
    if isinstance(exc, DatabaseError):
        return ControlStateUnavailable("The database did not answer; try again.", retry_after=1)
    return DependencyUnavailable("Something that this server needs failed; its log has more.")


def error_object(error: AppError, caller: Caller) -> dict[str, Any]:
    """The one form of an error on this surface; details stand beside code and message."""
    shown: dict[str, Any] = {
        "code": error.code,
        "message": advice(error.code, error.message, caller),
        **error.details,
    }
    if error.retryable:
        shown["retryable"] = True
    if error.retry_after is not None:
        shown["retry_after_seconds"] = error.retry_after
    return shown


def advice(code: str, message: str, caller: Caller) -> str:
    """The message, for states that preparation mends: what is missing and who can mend it."""
    missing = _MISSING.get(code)
    if missing is None:
        return message
    return missing + (_WRITABLE if caller.writable else _READ_ONLY)
