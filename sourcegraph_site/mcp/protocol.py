"""JSON-RPC and the methods of both protocol eras, without HTTP.

`answer` takes one decoded message and gives the reply and the HTTP status that goes with it.
In the handshake era JSON-RPC errors travel with status 200; in the stateless era their code
decides the status, because intermediaries route by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    SERVER_INFO_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    InitializeRequestParams,
)
from mcp_types.jsonrpc import JSONRPCNotification, JSONRPCRequest
from mcp_types.methods import serialize_server_result, validate_client_request
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)
from pydantic import ValidationError

from sourcegraph_site.mcp.call import call_tool
from sourcegraph_site.mcp.instructions import INSTRUCTIONS
from sourcegraph_site.mcp.registry import Caller, offered_to

SERVER_INFO = {"name": "context-sourcegraph", "title": "Source Graph", "version": "0.1.0"}
CAPABILITIES: dict[str, Any] = {"tools": {"listChanged": False}}
# What a handshake-era request without a version header speaks, by that era's specification.
DEFAULT_VERSION = "2025-03-26"
VERSION_HEADER = "mcp-protocol-version"

_STATUS = {
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_PROTOCOL_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` None: nothing to say (a notification)."""

    status: int
    body: dict[str, Any] | None = None


class RpcError(Exception):
    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def failure(code: int, message: str, request_id: Any = None, data: Any = None) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def answer(message: dict[str, Any], headers: Mapping[str, str], caller: Caller) -> Answer:
    """One message of a client → our answer.

    `headers` have lower-case names. A version header that is not of the handshake era belongs
    to the stateless one, whose checks then say what is wrong with it.
    """
    version = headers.get(VERSION_HEADER, DEFAULT_VERSION)
    stateless = version not in HANDSHAKE_PROTOCOL_VERSIONS
    if "id" not in message or "method" not in message:
        return _one_way(message, version)
    try:
        request = JSONRPCRequest.model_validate(message)
    except ValidationError:
        return Answer(400, failure(INVALID_REQUEST, "This is not a JSON-RPC request."))
    try:
        if stateless:
            version = _check_envelope(message, headers)
        result = _run(request.method, version, request.params, caller)
    except RpcError as exc:
        status = _STATUS.get(exc.code, 200) if stateless else 200
        return Answer(status, failure(exc.code, exc.message, request.id, exc.data))
    return Answer(200, {"jsonrpc": "2.0", "id": request.id, "result": result})


def _one_way(message: dict[str, Any], version: str) -> Answer:
    """A notification, or the answer to a request that we never sent: taken and dropped."""
    known = version in HANDSHAKE_PROTOCOL_VERSIONS or version in MODERN_PROTOCOL_VERSIONS
    if not known:
        return Answer(400, failure(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version."))
    if "method" not in message:
        if "id" in message and ("result" in message or "error" in message):
            return Answer(202)
        return Answer(400, failure(INVALID_REQUEST, "This is not a JSON-RPC message."))
    try:
        JSONRPCNotification.model_validate(message)
    except ValidationError:
        return Answer(400, failure(INVALID_REQUEST, "This is not a JSON-RPC notification."))
    return Answer(202)


def _check_envelope(message: dict[str, Any], headers: Mapping[str, str]) -> str:
    """The version of a stateless request whose `_meta` and routing headers are in order.

    No tool of ours mirrors an argument into a header, so there are no `Mcp-Param-*` to compare.
    """
    # Imported here: the package `mcp` loads clients and an HTTP library, which costs a second
    # that neither the start of the server nor manage.py should pay.
    from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request

    verdict = classify_inbound_request(message, headers=headers)
    if isinstance(verdict, InboundLadderRejection):
        raise RpcError(verdict.code, verdict.message, verdict.data)
    return verdict.protocol_version


def _run(
    method: str, version: str, params: dict[str, Any] | None, caller: Caller
) -> dict[str, Any]:
    try:
        validate_client_request(method, version, params)
    except KeyError:
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}") from None
    except ValidationError as exc:
        where = ".".join(str(part) for part in exc.errors(include_url=False)[0]["loc"])
        raise RpcError(INVALID_PARAMS, f"Invalid parameters: {where}") from None
    handler = _METHODS.get(method)
    if handler is None:
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")
    result = handler(params or {}, caller)
    if version not in MODERN_PROTOCOL_VERSIONS:
        return serialize_server_result(method, version, result)
    # The serializer fills none of what this era requires (it raises without them).
    required = {"resultType": "complete"}
    if method != "tools/call":
        # Listings depend on the caller and may change at any time.
        required |= {"ttlMs": 0, "cacheScope": "private"}  # type: ignore[dict-item]
    shaped = serialize_server_result(method, version, {**required, **result})
    shaped["_meta"] = {SERVER_INFO_META_KEY: SERVER_INFO}
    return shaped


def _initialize(params: dict[str, Any], caller: Caller) -> dict[str, Any]:
    asked = InitializeRequestParams.model_validate(params, by_name=False).protocol_version
    version = asked if asked in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION
    return {
        "protocolVersion": version,
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER_INFO,
        "instructions": INSTRUCTIONS,
    }


def _discover(params: dict[str, Any], caller: Caller) -> dict[str, Any]:
    return {
        "supportedVersions": list(MODERN_PROTOCOL_VERSIONS),
        "capabilities": CAPABILITIES,
        "instructions": INSTRUCTIONS,
    }


def _ping(params: dict[str, Any], caller: Caller) -> dict[str, Any]:
    return {}


def _list(params: dict[str, Any], caller: Caller) -> dict[str, Any]:
    if params.get("cursor"):
        raise RpcError(INVALID_PARAMS, "The list of tools has one page; send no cursor.")
    return {"tools": [entry.as_wire() for entry in offered_to(caller.actor).values()]}


def _call(params: dict[str, Any], caller: Caller) -> dict[str, Any]:
    entry = offered_to(caller.actor).get(params["name"])
    if entry is None:
        raise RpcError(INVALID_PARAMS, f"Unknown tool: {params['name']}")
    return call_tool(entry, caller, params.get("arguments") or {})


_METHODS = {
    "initialize": _initialize,
    "server/discover": _discover,
    "ping": _ping,
    "tools/list": _list,
    "tools/call": _call,
}
