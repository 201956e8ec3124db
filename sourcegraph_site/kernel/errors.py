"""Errors that a caller is meant to see.

Every class has one `code` (API: clients branch on it, it never changes once shipped) and an
HTTP `status`, which the contract sometimes overrides for one use (`status=`). The message is
for people and may be reworded at any time; it never holds a clone URL, a token, a path of
this server or the raw output of another program.

    AppError
    ├── BadRequest          400   the request itself is wrong; the message says how to mend it
    ├── Unauthorized        401   no usable credential
    ├── Forbidden           403   a credential, but not the right
    ├── Missing             404   absent, or hidden from this caller: both look alike
    ├── Conflict            409   the state does not allow it now
    ├── Unprocessable       422   the content cannot be served in this way
    ├── BadGateway          502   somebody else's server answered wrongly
    └── Unavailable         503   try again; `retry_after` says when

The whole table is `docs/errors.md`, generated from the subclasses of `AppError`; a test
compares. Any other exception that leaves a use case is our bug: a surface answers it with
INTERNAL_ERROR, logs the traceback and never shows `str(exc)`.
"""

from collections.abc import Iterator
from typing import Any, ClassVar


class AppError(Exception):
    """An error with a documented code.

    `details` are shown to the caller beside the message (at the top level of the HTTP
    envelope, in the error object over MCP), so they must be safe to show and JSON-ready.
    """

    code: ClassVar[str] = ""
    status: int = 500

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: int | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after
        self.details = details
        if status is not None:
            self.status = status

    @property
    def retryable(self) -> bool:
        return self.status == 503


class BadRequest(AppError):
    status = 400


class Unauthorized(AppError):
    status = 401


class Forbidden(AppError):
    status = 403


class Missing(AppError):
    status = 404


class Conflict(AppError):
    status = 409


class Unprocessable(AppError):
    status = 422


class BadGateway(AppError):
    status = 502


class Unavailable(AppError):
    status = 503


class InvalidRequest(BadRequest):
    """The body is not the JSON object that this operation takes."""

    code = "INVALID_REQUEST"


class InvalidQueryParameters(BadRequest):
    """An unknown, repeated or malformed query parameter."""

    code = "INVALID_QUERY_PARAMETERS"


class InvalidPaths(BadRequest):
    """A path of `paths` is not the name of something inside a repository, or there are too many."""

    code = "INVALID_PATHS"


class InvalidLimit(BadRequest):
    """A page size or another number is outside its range."""

    code = "INVALID_LIMIT"


class InvalidCursor(BadRequest):
    """The cursor is damaged, or belongs to another request."""

    code = "INVALID_CURSOR"


class AuthenticationRequired(Unauthorized):
    """Sign in, or send a valid key; an invalid credential never becomes anonymous."""

    code = "AUTHENTICATION_REQUIRED"


class AccessDenied(Forbidden):
    """This kind of credential may not use this operation."""

    code = "ACCESS_DENIED"


class CsrfRequired(Forbidden):
    """A cookie-carrying write without a matching Origin and CSRF token."""

    code = "CSRF_REQUIRED"


class NotFound(Missing):
    """No such page or route."""

    code = "NOT_FOUND"


class MethodNotAllowed(AppError):
    """The route exists, but not with this method; `Allow` lists those it has."""

    code = "METHOD_NOT_ALLOWED"
    status = 405


class PreconditionRequired(AppError):
    """Send If-Match with the revision that you last saw."""

    code = "PRECONDITION_REQUIRED"
    status = 428


class RevisionConflict(AppError):
    """Somebody changed the record since you read it."""

    code = "REVISION_CONFLICT"
    status = 412


class RateLimited(AppError):
    """Too many requests; `Retry-After` says when to come back."""

    code = "RATE_LIMITED"
    status = 429


class InternalError(AppError):
    """A fault of ours; the log has it under the request id."""

    code = "INTERNAL_ERROR"
    status = 500


class DependencyUnavailable(Unavailable):
    """Something that this server needs did not answer."""

    code = "DEPENDENCY_UNAVAILABLE"


class ControlStateUnavailable(Unavailable):
    """The database did not answer."""

    code = "CONTROL_STATE_UNAVAILABLE"


class ServerBusy(Unavailable):
    """All places for this kind of work are taken."""

    code = "SERVER_BUSY"


class QueryDeadlineExceeded(Unavailable):
    """The request's time ran out, and its work was stopped."""

    code = "QUERY_DEADLINE_EXCEEDED"


class InsufficientStorage(Unavailable):
    """The instance's free disk space is below its reserve."""

    code = "INSUFFICIENT_STORAGE"


def all_errors() -> Iterator[type[AppError]]:
    """Every error class with a code, of all modules imported so far, by code."""

    def walk(cls: type[AppError]) -> Iterator[type[AppError]]:
        for sub in cls.__subclasses__():
            if sub.__dict__.get("code"):
                yield sub
            yield from walk(sub)

    yield from sorted(set(walk(AppError)), key=lambda cls: cls.code)
