"""Which remotes this server talks to.

`https` to any public host. `http`, `git` and `ssh`, and hosts with private addresses, only
for entries `scheme://host[:port]` of SOURCEGRAPH_ALLOWED_REMOTES. `file` only below the
directories of SOURCEGRAPH_LOCAL_REMOTES. Everything else, remote helpers (`ext::…`),
scp-like addresses and credentials in the address included, is INVALID_REMOTE.

The form is checked at registration. The addresses behind a name are checked each time just
before connecting, and Git is told to use exactly the checked ones, so a name that changes
in between gains nothing.
"""

import ipaddress
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.conf import settings

from repos.errors import GitFetchFailed, InvalidRemote
from repos.gitstore.credential import Credential

MAX_URL_CHARS = 2048
DEFAULT_PORTS = {"https": 443, "http": 80, "git": 9418, "ssh": 22}

# Services of a cloud's own that answer its machines at addresses that look public (Azure).
_METADATA = {ipaddress.ip_address("168.63.129.16")}

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?", re.ASCII)
_PATH = re.compile(r"/[A-Za-z0-9._~/@%+=:,-]+", re.ASCII)
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Remote:
    """An address whose form was accepted; `path` is set for file remotes only."""

    url: str
    scheme: str
    host: str = ""
    port: int = 0
    listed: bool = False
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """How to reach a remote now: what to give to `GitCall`."""

    url: str
    protocols: str
    config: tuple[str, ...] = ()
    safe: tuple[Path, ...] = ()
    credential: Credential | None = None


def check_remote(url: str) -> Remote:
    """Accept the form of a clone address.

    Raises:
        InvalidRemote: with what is wrong; the message never repeats the address.
    """
    if len(url) > MAX_URL_CHARS or not url.isascii() or not url.isprintable():
        raise InvalidRemote("The address is too long or holds characters that are not accepted.")
    if url.startswith("-") or re.search(r"[\s\\\"'<>`{}|^]", url):
        raise InvalidRemote("The address holds characters that are not accepted.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidRemote("This is not an address.") from None
    if "?" in url or "#" in url:
        raise InvalidRemote("An address has no query and no fragment.")
    if parts.scheme == "file":
        return _check_file(url, parts.netloc, parts.path)
    if parts.scheme not in DEFAULT_PORTS:
        raise InvalidRemote("Write an address that starts with https://.")
    if not _PATH.fullmatch(parts.path) or ".." in unquote(parts.path).split("/"):
        raise InvalidRemote("The path of the address is not accepted.")
    _check_user(parts.scheme, parts.username, parts.password, "@" in parts.netloc)
    host = _check_host(parts.hostname)
    port = port or DEFAULT_PORTS[parts.scheme]
    listed = _is_listed(parts.scheme, host, port)
    if parts.scheme != "https" and not listed:
        raise InvalidRemote(
            f"{parts.scheme}:// is refused for hosts that the operator has not listed in"
            " SOURCEGRAPH_ALLOWED_REMOTES."
        )
    if not listed and not _public_literal(host):
        raise InvalidRemote("Private addresses are refused unless the operator lists the host.")
    return Remote(url, parts.scheme, host, port, listed)


def _check_user(scheme: str, user: str | None, password: str | None, has_userinfo: bool) -> None:
    if not has_userinfo:
        return
    if scheme == "ssh" and password is None and user and _USER.fullmatch(user):
        return
    raise InvalidRemote("An address must not hold a user name or a password.")


def _check_host(host: str | None) -> str:
    if not host:
        raise InvalidRemote("The address has no host.")
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise InvalidRemote("The host of the address is not accepted.") from None
    if not _HOST.fullmatch(host) or ".." in host or len(host) > 253:
        raise InvalidRemote("The host of the address is not accepted.")
    return host.lower()


def _check_file(url: str, netloc: str, path: str) -> Remote:
    if netloc not in ("", "localhost"):
        raise InvalidRemote("A file:// address has no host.")
    given = unquote(path)
    if "\0" in given or not given.startswith("/"):
        raise InvalidRemote("A file:// address needs an absolute path.")
    real = Path(given).resolve()
    if not any(real.is_relative_to(root) for root in settings.LOCAL_REMOTES):
        raise InvalidRemote(
            "file:// is refused except below the directories in SOURCEGRAPH_LOCAL_REMOTES."
        )
    return Remote(url, "file", path=real)


def _is_listed(scheme: str, host: str, port: int) -> bool:
    for entry in settings.ALLOWED_REMOTES:
        parts = urlsplit(entry)
        if (parts.scheme, (parts.hostname or "").lower()) == (scheme, host) and port == (
            parts.port or DEFAULT_PORTS.get(scheme)
        ):
            return True
    return False


def _public_literal(host: str) -> bool:
    """False for a literal private address and for names that mean this machine."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return False
    try:
        return is_public(ipaddress.ip_address(host))
    except ValueError:
        return not _old_literal(host)


def _old_literal(host: str) -> bool:
    """Resolvers also take 127.1, 0x7f.1 and 2130706433 for addresses; we take none of them."""
    try:
        socket.inet_aton(host)
    except OSError:
        return False
    return True


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Globally routable unicast, also when wrapped in an IPv6 transition address."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in ipaddress.IPv6Network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.teredo is not None:
            return False
    return address.is_global and not address.is_multicast and address not in _METADATA


def route_to(remote: Remote) -> Route:
    """Check where the remote's name points now, and pin it.

    Raises:
        InvalidRemote: it points, in part at least, to an address that is refused.
        GitFetchFailed: the name is not known.
    """
    if remote.path is not None:
        # Through the resolved path: a link that changes later leads nowhere new.
        safe = (remote.path, remote.path / ".git")
        return Route(remote.path.as_uri(), "file", safe=safe)
    if remote.listed or remote.scheme != "https":
        return Route(remote.url, remote.scheme)
    addresses = public_addresses(remote)
    if _is_literal(remote.host):
        return Route(remote.url, "https")  # no name, so nothing that could change
    pinned = ",".join(f"[{a}]" if a.version == 6 else str(a) for a in addresses)
    return Route(
        remote.url, "https", (f"http.curloptResolve={remote.host}:{remote.port}:{pinned}",)
    )


def public_addresses(
    remote: Remote,
) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Where the remote's name points now, all of it public.

    Raises:
        InvalidRemote: it points, in part at least, to an address that is refused.
        GitFetchFailed: the name is not known.
    """
    addresses = resolve(remote.host, remote.port)
    if not all(is_public(address) for address in addresses):
        raise InvalidRemote("The host of this remote has a private address, which is refused.")
    return addresses


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def resolve(host: str, port: int) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """All addresses of a host, in the resolver's order, without doubles.

    Raises:
        GitFetchFailed: the name is not known, or the resolver did not answer.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise GitFetchFailed("The host of the remote is not known.") from None
    texts = dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found)
    return [ipaddress.ip_address(text) for text in texts]
