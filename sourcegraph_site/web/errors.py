"""Errors outside a view: unknown addresses, CSRF, faults of ours; JSON or a page as fits."""

import logging
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sourcegraph_site.api.errors import error_body
from sourcegraph_site.kernel.errors import AppError, CsrfRequired, InternalError, NotFound
from sourcegraph_site.kernel.wire import dumps
from sourcegraph_site.web.middleware import is_api

log = logging.getLogger(__name__)


def error_response(request: HttpRequest, error: AppError) -> HttpResponse:
    """The one way in which an error leaves outside DRF: envelope for programs, page for people."""
    if is_api(request.path):
        body = dumps(error_body(request, error))
        response = HttpResponse(body, status=error.status, content_type="application/json")
    else:
        response = render(request, "errors/error.html", {"error": error}, status=error.status)
    if error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    return response


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return error_response(request, NotFound("There is no such page, or you may not see it."))


def server_error(request: HttpRequest) -> HttpResponse:
    return error_response(request, InternalError("The server made a mistake; its log has more."))


def csrf_failure(request: HttpRequest, reason: str = "", **_: Any) -> HttpResponse:
    return error_response(request, CsrfRequired("Reload the page and try again."))
