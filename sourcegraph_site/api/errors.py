"""Errors as JSON: the envelope of contract 1.1, made in one place."""

import logging
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest as DjangoBadRequest
from django.core.exceptions import SuspiciousOperation
from django.db import DatabaseError
from django.http import Http404, HttpRequest
from rest_framework.exceptions import MethodNotAllowed as DrfMethodNotAllowed
from rest_framework.response import Response

from sourcegraph_site.kernel.errors import (
    AppError,
    ControlStateUnavailable,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
)

log = logging.getLogger(__name__)

PROTOCOL = "zoekt-single-repo-v1"
SETTINGS_PROTOCOL = "site-settings-v1"


def error_body(request: HttpRequest, error: AppError) -> dict[str, Any]:
    """The envelope; sign-in routes answer the code alone (contract 1.1)."""
    if request.path.startswith(settings.PREFIX + "auth/"):
        return {"error": error.code}
    settings_path = "/api/admin/settings" in request.path
    meta: dict[str, Any] = {
        "Protocol": SETTINGS_PROTOCOL if settings_path else PROTOCOL,
        "RequestID": getattr(request, "request_id", ""),
        "Status": "error",
        "Code": error.code,
    }
    if error.retryable:
        meta["Retryable"] = True
    if error.retry_after is not None:
        meta["RetryAfterSeconds"] = error.retry_after
    return {"Error": error.message, "Meta": meta, **error.details}


def as_app_error(exc: Exception, request: HttpRequest) -> AppError:
    """Whatever left a view, as an error that may be shown; faults of ours are logged."""
    if isinstance(exc, AppError):
        return exc
    if isinstance(exc, DrfMethodNotAllowed):
        return MethodNotAllowed(f"{request.method} is not offered here.")
    if isinstance(exc, Http404):
        return NotFound("There is no such route.")
    if isinstance(exc, DjangoBadRequest | SuspiciousOperation):
        return InvalidRequest("The request is malformed.")
    request_id = getattr(request, "request_id", "")
    log.error("unhandled error in %s, request %s", request.path, request_id, exc_info=exc)
    if isinstance(exc, DatabaseError):
        return ControlStateUnavailable("The database did not answer; try again.", retry_after=1)
    return InternalError("The server made a mistake; its log has more under the request id.")


def handle(exc: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception handler."""
    request = context["request"]
    error = as_app_error(exc, request._request)
    headers = {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="sourcegraph"'
    if isinstance(exc, DrfMethodNotAllowed):
        headers["Allow"] = ", ".join(context["view"].allowed_methods)
    return Response(error_body(request._request, error), status=error.status, headers=headers)
