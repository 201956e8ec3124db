"""MCP over HTTP: host, origin, credential, limits and media types (contract 2.1 to 2.3).

What is refused before a JSON-RPC message has been read is answered as `{"code","message"}`
with the HTTP status of the code. Cookies are ignored.
"""

import json
from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from sourcegraph_site.accounts.authentication import bearer_or_anonymous, client_address
from sourcegraph_site.accounts.policy import public_read
from sourcegraph_site.api import limits
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.errors import (
    AccessDenied,
    AppError,
    AuthenticationRequired,
    InvalidRequest,
    MethodNotAllowed,
)
from sourcegraph_site.kernel.inputs import MAX_BODY_BYTES, parse_json
from sourcegraph_site.mcp.plugin_choice import plugin_choice
from sourcegraph_site.mcp.registry import Caller, can_write

PARSE_ERROR, INVALID_REQUEST = -32700, -32600


@csrf_exempt
def endpoint(request: HttpRequest) -> HttpResponse:
    """The one path of the MCP server."""
    try:
        _check_sender(request)
        if request.method != "POST":
            raise MethodNotAllowed("Only POST is offered here: replies are JSON, not streams.")
        actor = _admit(request)
        plugins = plugin_choice(request.GET.getlist("plugins"))
        _check_media_types(request)
        body = _read(request)
    except AppError as exc:
        return _refused(exc)
    caller = Caller(actor, plugins, writable=can_write(actor))
    return _exchange(request, body, caller)


def _exchange(request: HttpRequest, body: bytes, caller: Caller) -> HttpResponse:
    # Here, not above: the validators' models take most of a second to build.
    from sourcegraph_site.mcp.protocol import answer, failure

    try:
        message = parse_json(body)
    except InvalidRequest as exc:
        batch = body.lstrip()[:1] == b"["
        code = INVALID_REQUEST if batch else PARSE_ERROR
        text = "Batches are not supported; send one message a request." if batch else exc.message
        return _json(failure(code, text), 400)
    headers = {name.lower(): value for name, value in request.headers.items()}
    given = answer(message, headers, caller)
    return (
        HttpResponse(status=given.status) if given.body is None else _json(given.body, given.status)
    )


def _check_sender(request: HttpRequest) -> None:
    """Refuse foreign hosts and pages, or a web page could talk to a server on its reader's
    machine (DNS rebinding)."""
    try:
        host = request.get_host()
    except DisallowedHost:
        raise AccessDenied("This server does not answer under that host name.") from None
    origin = request.META.get("HTTP_ORIGIN")
    if origin is not None and origin not in (settings.ORIGIN, f"{request.scheme}://{host}"):
        raise AccessDenied("Requests from pages of another origin are refused.")


def _admit(request: HttpRequest) -> Actor:
    actor = bearer_or_anonymous(request)
    if actor.kind is ActorKind.ANONYMOUS:
        if not public_read():
            raise AuthenticationRequired("Send a key: Authorization: Bearer …")
        limits.anonymous(client_address(request))
    return actor


def _check_media_types(request: HttpRequest) -> None:
    if request.content_type != "application/json":
        raise InvalidRequest("Send Content-Type: application/json.", status=415)
    # Clients that name only JSON, or anything, are answered too (decision 9).
    if request.META.get("HTTP_ACCEPT") and not request.accepts("application/json"):
        raise InvalidRequest("Accept must allow application/json.", status=406)


def _read(request: HttpRequest) -> bytes:
    length = request.META.get("CONTENT_LENGTH") or "0"
    body = b""
    too_large = length.isdigit() and int(length) > MAX_BODY_BYTES
    if not too_large:
        body = request.read(MAX_BODY_BYTES + 1)
    if too_large or len(body) > MAX_BODY_BYTES:
        raise InvalidRequest(f"The body is larger than {MAX_BODY_BYTES} bytes.", status=413)
    return body


def _json(body: dict[str, Any], status: int) -> HttpResponse:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # Lone surrogates cannot come from our own decoding, but must not break the answer.
    return HttpResponse(
        text.encode("utf-8", "replace"), status=status, content_type="application/json"
    )


def _refused(error: AppError) -> HttpResponse:
    response = _json({"code": error.code, "message": error.message}, error.status)
    if error.status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="sourcegraph"'
    if error.status == 405:
        response["Allow"] = "POST"
    if error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    return response
