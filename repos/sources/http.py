"""GET requests to the API of a code host: checked address, no redirect, bounded answer.

The address is looked up once and checked as for Git; the connection goes to exactly that
address, while the certificate must be for the name. No proxy and no credential of the
environment is used, and no redirect followed.
"""

import http.client
import json
import socket
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from repos.errors import (
    GitAccessDenied,
    GitAuthFailed,
    GitFetchFailed,
    GitRepositoryUnavailable,
)
from repos.gitstore.remote_url import DEFAULT_PORTS, Remote, check_remote, public_addresses
from sourcegraph_site.kernel.deadline import Deadline

MAX_BYTES = 8 << 20
CONNECT_SECONDS = 10.0


def get_json(url: str, headers: Mapping[str, str], deadline: Deadline) -> Any:
    """The decoded body of one GET.

    Args:
        url: address with its query string.

    Raises:
        InvalidRemote: the address may not be reached.
        GitAuthFailed, GitAccessDenied, GitRepositoryUnavailable: 401, 403, 404.
        GitFetchFailed: everything else that is not an answer in JSON.
    """
    base, _, query = url.partition("?")
    remote = check_remote(base)
    # The operator's own hosts may be reached by whatever their names mean.
    addresses = [remote.host] if remote.listed else [str(a) for a in public_addresses(remote)]
    seconds = min(CONNECT_SECONDS, deadline.remaining())
    connection = _Pinned(remote, addresses, seconds)
    path = urlsplit(base).path + (f"?{query}" if query else "")
    try:
        connection.request("GET", path, headers={**headers, "Accept": "application/json"})
        answer = connection.getresponse()
        body = _read(answer, deadline)
    except (OSError, http.client.HTTPException) as exc:
        if isinstance(exc, ssl.SSLCertVerificationError):
            raise GitFetchFailed("The certificate of the code host cannot be trusted.") from exc
        raise GitFetchFailed("The code host cannot be reached.") from exc
    finally:
        connection.close()
    _check_status(answer)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise GitFetchFailed("The code host's answer is not JSON: is this its API?") from None


def _read(answer: http.client.HTTPResponse, deadline: Deadline) -> bytes:
    body = bytearray()
    while chunk := answer.read1(1 << 16):
        body += chunk
        if len(body) > MAX_BYTES:
            raise GitFetchFailed("The code host's answer is too large.")
        if deadline.expired:
            raise GitFetchFailed("The code host took too long.")
    return bytes(body)


def _check_status(answer: http.client.HTTPResponse) -> None:
    status = answer.status
    if status == 200:
        return
    if status == 429 or answer.headers.get("X-RateLimit-Remaining") == "0":
        raise GitFetchFailed("The code host takes no more requests for now.", retry_after=60)
    if status == 401:
        raise GitAuthFailed("The code host asks for a token, or refuses the saved one.")
    if status == 403:
        raise GitAccessDenied("The code host refuses access.")
    if status in (404, 410):
        raise GitRepositoryUnavailable("The code host has no such account, or does not show it.")
    if 300 <= status < 400:
        raise GitFetchFailed("The code host answers with a redirect, which is not followed.")
    raise GitFetchFailed(f"The code host answered with status {status}.")


class _Pinned(http.client.HTTPConnection):
    """A connection for a name, to the first of its checked addresses that answers."""

    def __init__(self, remote: Remote, addresses: list[str], seconds: float) -> None:
        super().__init__(remote.host, remote.port, timeout=seconds)
        self.default_port = DEFAULT_PORTS[remote.scheme]  # left out of the Host header
        self._secure = remote.scheme == "https"
        self._addresses = addresses

    def connect(self) -> None:
        self.sock = self._first_that_answers()
        if self._secure:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self.host)

    def _first_that_answers(self) -> socket.socket:
        *others, last = self._addresses
        for address in others:
            try:
                return socket.create_connection((address, self.port), self.timeout)
            except OSError:  # an IPv6 address without a way there, for example
                continue
        return socket.create_connection((last, self.port), self.timeout)
