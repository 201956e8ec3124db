"""One HTTP request to the service, with the limits of contract 7."""

import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import IO, Any
from urllib.parse import urlencode

from sourcegraph_site.cli.config import Server
from sourcegraph_site.cli.errors import CliError

TIMEOUT_SECONDS = 35.0
MAX_REPLY_BYTES = 3 << 20
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Request:
    """`body` None is sent as the JSON `null`, which servers ignore on GET."""

    method: str
    route: str
    query: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """`raw` is the body as it came, which is valid JSON; `data` is that JSON."""

    status: int
    raw: bytes
    data: Any

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another address."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def send(server: Server, request: Request) -> Reply:
    """Send, and read the whole JSON reply, whatever its status.

    Raises:
        CliError: no answer in 35 s, over 3 MiB, or not JSON.
    """
    deadline = time.monotonic() + TIMEOUT_SECONDS
    try:
        with _open(server, request) as response:
            status = response.status
            raw = _read(response, deadline)
    except urllib.error.HTTPError as exc:
        with exc:
            status, raw = exc.code, _read(exc, deadline)
    except TimeoutError:
        raise CliError(f"no answer within {TIMEOUT_SECONDS:.0f} seconds") from None
    except urllib.error.URLError as exc:
        if isinstance(exc.reason, TimeoutError):
            raise CliError(f"no answer within {TIMEOUT_SECONDS:.0f} seconds") from None
        raise CliError(f"cannot reach {server.url}: {exc.reason}") from None
    except (OSError, ValueError, HTTPException) as exc:
        raise CliError(f"the connection to {server.url} failed: {exc}") from None
    try:
        return Reply(status, raw, json.loads(raw))
    except (ValueError, RecursionError):
        raise CliError(f"the answer (HTTP {status}) is not JSON") from None


def _open(server: Server, request: Request) -> Any:
    url = server.url + request.route
    if request.query:
        url += "?" + urlencode(request.query)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "User-Agent": "sourcegraph-cli",
        **request.headers,
    }
    if server.token:
        headers["Authorization"] = f"Bearer {server.token}"
    data = json.dumps(request.body).encode()
    handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
    if server.loopback:
        handlers.append(urllib.request.ProxyHandler({}))  # no proxy can reach this machine for us
    opener = urllib.request.build_opener(*handlers)
    message = urllib.request.Request(url, data=data, headers=headers, method=request.method)
    return opener.open(message, timeout=TIMEOUT_SECONDS)


def _read(response: IO[bytes], deadline: float) -> bytes:
    """The body; the socket's own timeout would let a trickle of bytes go on for ever."""
    parts, size = [], 0
    while chunk := response.read(_CHUNK):
        size += len(chunk)
        if size > MAX_REPLY_BYTES:
            raise CliError(f"the answer is larger than {MAX_REPLY_BYTES >> 20} MiB; ask for less")
        if time.monotonic() > deadline:
            raise CliError(f"no complete answer within {TIMEOUT_SECONDS:.0f} seconds")
        parts.append(chunk)
    return b"".join(parts)
