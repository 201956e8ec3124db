"""Liveness and readiness (contract 1.3), for whatever watches the server."""

import logging
import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse

from sourcegraph_site.kernel.errors import ControlStateUnavailable, MethodNotAllowed
from sourcegraph_site.kernel.wire import dumps
from sourcegraph_site.web.errors import error_response

log = logging.getLogger(__name__)


def _answer(request: HttpRequest, body: dict[str, Any]) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        response = error_response(request, MethodNotAllowed("Use GET."))
        response["Allow"] = "GET, HEAD"
        return response
    return HttpResponse(dumps(body), content_type="application/json")


def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers; nothing else is asked."""
    return _answer(request, {"status": "alive"})


def readyz(request: HttpRequest) -> HttpResponse:
    """The database answers and the data root can be written, so requests can be served.

    The broker is not asked: reads do not need it, and jobs wait in the database meanwhile.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM jobs_job LIMIT 1")
            cursor.fetchall()
        if not os.access(Path(settings.DATA_ROOT), os.R_OK | os.W_OK | os.X_OK):
            raise OSError(f"{settings.DATA_ROOT} is not writable")
    except (DatabaseError, OSError) as exc:
        log.error("Not ready: %s", exc)
        return error_response(
            request, ControlStateUnavailable("The server's state is unavailable.")
        )
    return _answer(request, {"status": "ready", "scope": "authenticated-backend"})
