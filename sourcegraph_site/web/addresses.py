"""Addresses of pages, in the contract's canonical spelling.

Written by hand rather than with `reverse()`: a page of results holds a thousand of them.
"""

from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote

from django.conf import settings

Parameter = tuple[str, str]


@lru_cache(maxsize=4096)
def _quoted(value: str) -> str:
    """A page repeats the same repository, commit and pattern hundreds of times."""
    return quote(value, safe="/", errors="replace")


def address(page: str, parameters: Iterable[Parameter] = (), fragment: str = "") -> str:
    """`/sourcegraph/<page>?…#…`; parameters without a value are left out."""
    query = "&".join([f"{name}={_quoted(value)}" for name, value in parameters if value])
    return settings.PREFIX + page + (f"?{query}" if query else "") + (fragment and f"#{fragment}")


def code_address(
    repo: str,
    path: str = "",
    commit: str = "",
    branch: str | None = "",
    *,
    extra: Iterable[Parameter] = (),
    fragment: str = "",
) -> str:
    """The reader at one path; `extra` stands after the contract's parameters."""
    fixed = [("repo", repo), ("path", path), ("commit", commit), ("branch", branch or "")]
    return address("code", [*fixed, *extra], fragment)


def search_address(
    repo: str = "", commit: str = "", branch: str | None = "", extra: Iterable[Parameter] = ()
) -> str:
    return address("", [("repo", repo), ("commit", commit), ("branch", branch or ""), *extra])


def repo_address(repo: str, tab: str = "") -> str:
    return address("repo", [("repo", repo), ("tab", tab)])


def origin_of(path: str) -> str:
    """The whole address, for what people copy."""
    return settings.ORIGIN + path


def line_fragment(start: int, end: int | None = None) -> str:
    """`L20` or `L20-L35`."""
    return f"L{start}" if end is None or end == start else f"L{start}-L{end}"


def citation(repo: str, path: str, commit: str, start: int | None = None) -> str:
    """`[repo@sha8:path:L1](permalink)`: what a person or an agent puts into a text."""
    fragment = line_fragment(start) if start else ""
    label = f"{repo}@{commit[:8]}:{path}" + (f":{fragment}" if fragment else "")
    return f"[{label}]({origin_of(code_address(repo, path, commit, fragment=fragment))})"
