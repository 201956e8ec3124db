"""Where the server is and how we identify ourselves: from the environment, else from `login`."""

import ipaddress
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from sourcegraph_site.cli import credentials
from sourcegraph_site.cli.errors import UsageError

URL_VARIABLE, TOKEN_VARIABLE = "SOURCEGRAPH_URL", "SOURCEGRAPH_API_TOKEN"
DEFAULT_URL = "https://context4ai.org/sourcegraph"
MIN_TOKEN = 32


@dataclass(frozen=True, slots=True)
class Server:
    """`url` has no trailing slash; routes are appended to it. `token` may be empty."""

    url: str
    token: str

    @property
    def loopback(self) -> bool:
        return is_loopback(urlsplit(self.url).hostname or "")


def server_url() -> str:
    """The service URL of the environment.

    Raises:
        UsageError: not https (or http on this machine), or with credentials, query, fragment.
    """
    text = os.environ.get(URL_VARIABLE) or DEFAULT_URL
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018  raises when it is not a number
    except ValueError:
        raise UsageError(f"{URL_VARIABLE} is not a URL") from None
    host = parts.hostname or ""
    if not host or parts.scheme not in ("https", "http"):
        raise UsageError(f"{URL_VARIABLE} must be an https URL")
    if parts.scheme == "http" and not is_loopback(host):
        raise UsageError(f"{URL_VARIABLE} must be https; http is for this machine only")
    if parts.username is not None or parts.password is not None:
        raise UsageError(f"{URL_VARIABLE} must not hold credentials; use {TOKEN_VARIABLE}")
    if parts.query or parts.fragment or text.endswith(("?", "#")):
        raise UsageError(f"{URL_VARIABLE} must not have a query or fragment")
    return text.rstrip("/")


def is_loopback(host: str) -> bool:
    """localhost, 127.0.0.0/8 and ::1, by name: nothing is looked up."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_token(token: str, name: str) -> str:
    """Raises UsageError unless `token` can be sent and is long enough to be one."""
    if len(token) < MIN_TOKEN:
        raise UsageError(f"{name} must have at least {MIN_TOKEN} characters")
    if not token.isascii() or any(char <= " " or char == "\x7f" for char in token):
        raise UsageError(f"{name} holds characters that cannot stand in a header")
    return token


def server() -> Server:
    """Raises UsageError for a bad URL, token or key file."""
    url = server_url()
    token = os.environ.get(TOKEN_VARIABLE, "")
    if token:
        return Server(url, check_token(token, TOKEN_VARIABLE))
    return Server(url, credentials.stored_key(url) or "")
