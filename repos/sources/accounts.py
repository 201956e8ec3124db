"""The repositories of an account, group or workspace, through the API of its code host."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from repos.errors import (
    GitAccessDenied,
    GitAuthFailed,
    GitFetchFailed,
    GitRepositoryUnavailable,
    InvalidCodeProvider,
)
from repos.sources.http import get_json
from repos.sources.listing import CodeSource
from sourcegraph_site.kernel.deadline import Deadline

PER_PAGE = 100
MAX_PAGES = 100


@dataclass(frozen=True, slots=True)
class Found:
    """One repository of an account, as its host describes it."""

    name: str
    private: bool
    fork: bool
    archived: bool
    empty: bool
    default_branch: str
    description: str


@dataclass(frozen=True, slots=True)
class _Api:
    """How one kind of host is asked. `lists`: paths and parameters to try in this order, the
    next when the host knows no such account; `rows`: the list in an answer."""

    base: Callable[[CodeSource], str]
    lists: Sequence[tuple[str, Mapping[str, str]]]
    page_size: tuple[str, int]
    headers: Callable[[str, str], dict[str, str]]
    rows: Callable[[Any], Any]
    found: Callable[[dict[str, Any]], Found]


def page_of_account(
    source: CodeSource, token: str, account: str, page: int, deadline: Deadline
) -> list[Found]:
    """One page of the account's repositories, from 1 on; empty behind the last.

    Raises:
        InvalidCodeProvider: this kind of source has no API.
        GitRepositoryUnavailable: the host shows no such account.
        InvalidRemote, GitAuthFailed, GitAccessDenied, GitFetchFailed: see `get_json`.
    """
    api = APIS.get(source.kind)
    if api is None:
        raise InvalidCodeProvider("The repositories of this code source cannot be listed.")
    headers = {"User-Agent": "source-graph", **api.headers(source.username, token)}
    size_name, size = api.page_size
    lists = api.lists
    if (
        source.kind == "github"
        and token
        and _is_owner(api.base(source), headers, account, deadline)
    ):
        lists = (_GITHUB_OWN,)
    for number, (path, extra) in enumerate(lists, 1):
        query = urlencode({**extra, size_name: str(size), "page": str(page)})
        place = path.format(account=quote(account, safe=""))
        try:
            answer = get_json(f"{api.base(source)}{place}?{query}", headers, deadline)
        except GitRepositoryUnavailable:
            if number == len(lists):
                raise
            continue
        return _rows(api, answer)
    raise AssertionError("every API has a list")


def _is_owner(base: str, headers: Mapping[str, str], account: str, deadline: Deadline) -> bool:
    """Is the token the account's own? Then GitHub lists its private repositories elsewhere."""
    try:
        answer = get_json(f"{base}/user", headers, deadline)
    except (GitAuthFailed, GitAccessDenied, GitRepositoryUnavailable):
        return False  # of an app, or of an organisation
    login = answer.get("login") if isinstance(answer, dict) else None
    return isinstance(login, str) and login.lower() == account.lower()


def _rows(api: _Api, answer: Any) -> list[Found]:
    try:
        return [api.found(row) for row in api.rows(answer)]
    except (KeyError, TypeError, AttributeError):
        raise GitFetchFailed("The code host's answer is not a list of repositories.") from None


def _text(row: dict[str, Any], name: str, most: int = 300) -> str:
    value = row.get(name)
    return value[:most] if isinstance(value, str) else ""


def _github(row: dict[str, Any]) -> Found:
    return Found(
        name=str(row["full_name"]),
        private=bool(row["private"]),
        fork=bool(row.get("fork")),
        archived=bool(row.get("archived")),
        empty=row.get("size") == 0,
        default_branch=_text(row, "default_branch"),
        description=_text(row, "description"),
    )


def _gitlab(row: dict[str, Any]) -> Found:
    return Found(
        name=str(row["path_with_namespace"]),
        # `internal` is open to everyone who is signed in there, which is not everyone here.
        private=row.get("visibility") != "public",
        fork=row.get("forked_from_project") is not None,
        archived=bool(row.get("archived")),
        empty=bool(row.get("empty_repo")),
        default_branch=_text(row, "default_branch"),
        description=_text(row, "description"),
    )


def _gitea(row: dict[str, Any]) -> Found:
    return Found(
        name=str(row["full_name"]),
        private=bool(row["private"]) or bool(row.get("internal")),
        fork=bool(row.get("fork")),
        archived=bool(row.get("archived")),
        empty=bool(row.get("empty")),
        default_branch=_text(row, "default_branch"),
        description=_text(row, "description"),
    )


def _bitbucket(row: dict[str, Any]) -> Found:
    return Found(
        name=str(row["full_name"]),
        private=bool(row["is_private"]),
        fork=row.get("parent") is not None,
        archived=False,
        empty=row.get("mainbranch") is None,
        default_branch=_text(row.get("mainbranch") or {}, "name"),
        description=_text(row, "description"),
    )


def _bearer(username: str, token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _gitea_token(username: str, token: str) -> dict[str, str]:
    return {"Authorization": f"token {token}"} if token else {}


def _bitbucket_token(username: str, token: str) -> dict[str, str]:
    """Access tokens are bearers; an app password or API token goes with a person's name."""
    if not token or username == "x-token-auth":
        return _bearer(username, token)
    pair = base64.b64encode(f"{username}:{token}".encode()).decode()
    return {"Authorization": f"Basic {pair}"}


def _at(public_host: str, public_api: str, path: str) -> Callable[[CodeSource], str]:
    def base(source: CodeSource) -> str:
        if source.api:
            return source.api
        return public_api if source.host == public_host else source.origin + path

    return base


_GITHUB_OWN = ("/user/repos", {"affiliation": "owner", "sort": "full_name"})

APIS: dict[str, _Api] = {
    "github": _Api(
        _at("github.com", "https://api.github.com", "/api/v3"),
        (
            ("/orgs/{account}/repos", {"type": "all", "sort": "full_name"}),
            ("/users/{account}/repos", {"type": "owner", "sort": "full_name"}),
        ),
        ("per_page", PER_PAGE),
        _bearer,
        list,
        _github,
    ),
    "gitlab": _Api(
        _at("", "", "/api/v4"),
        (
            (
                "/groups/{account}/projects",
                {
                    "include_subgroups": "true",
                    "with_shared": "false",
                    "order_by": "path",
                    "sort": "asc",
                },
            ),
            ("/users/{account}/projects", {"order_by": "path", "sort": "asc"}),
        ),
        ("per_page", PER_PAGE),
        _bearer,
        list,
        _gitlab,
    ),
    "gitea": _Api(
        _at("", "", "/api/v1"),
        (("/orgs/{account}/repos", {}), ("/users/{account}/repos", {})),
        ("limit", 50),
        _gitea_token,
        list,
        _gitea,
    ),
    "bitbucket": _Api(
        _at("bitbucket.org", "https://api.bitbucket.org/2.0", "/2.0"),
        (("/repositories/{account}", {"sort": "full_name"}),),
        ("pagelen", PER_PAGE),
        _bitbucket_token,
        lambda answer: answer["values"],
        _bitbucket,
    ),
}
