"""The world of the visibility matrix: callers, repositories, requests, and what answers mean.

`visibility.txt` beside this file holds what is expected; `test_visibility.py` compares.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from repos.models import Repository
from sourcegraph_site.accounts.models import User
from sourcegraph_site.accounts.usecases.api_keys import CreateApiKey, create_api_key
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.mcp.registry import tools

PREFIX = "/sourcegraph/"
SHA = "0123456789012345678901234567890123456789"
# Third parties' pages; the admin site is for administrators by its own rule.
FOREIGN = ("admin/", "accounts/")

# --- Repositories ------------------------------------------------------------------------

COLUMNS = (
    "open",
    "created",
    "managed",
    "other",
    "absent",
    "off",
    "off-other",
    "gone",
    "gone-other",
)


def name_of(column: str) -> str:
    return f"matrix/{column}-repository"


def make_repositories(people: dict[str, User]) -> None:
    """One for each column but `absent`; rows without mirrors, so every question that passes the
    door ends at once."""
    for column in COLUMNS:
        if column == "absent":
            continue
        owner = "creator" if column == "created" else "somebody"
        repo = Repository.objects.create(
            name=name_of(column),
            remote_url="file:///nowhere",  # refused before any look-up
            public_read=column in ("open", "off", "gone"),
            creator=people[owner],
            window_count=5,
            enabled=not column.startswith(("off", "gone")),
            deleted_at=clock.now() if column.startswith("gone") else None,
        )
        if column == "managed":
            repo.managers.add(people["manager"])


# --- Callers -----------------------------------------------------------------------------


@dataclass
class Caller:
    """A client with a session or a bearer."""

    client: Client = field(default_factory=Client)
    bearer: str = ""

    def send(self, method: str, path: str, body: Any) -> HttpResponse:
        """Send without If-Match, so that what needs it passes the door and changes nothing."""
        cookies = self.client.cookies.copy()
        try:
            return self._send(method, path, body)
        finally:
            self.client.cookies = cookies  # a sign-out, a chosen language

    def _send(self, method: str, path: str, body: Any) -> HttpResponse:
        headers = {"Origin": settings.ORIGIN, "Idempotency-Key": "a-key-of-16-bytes"}
        if self.bearer:
            headers["Authorization"] = f"Bearer {self.bearer}"
        if path == PREFIX + "mcp":
            headers["Accept"] = "application/json, text/event-stream"
        if isinstance(body, Form):
            return self.client.generic(
                method,
                path,
                "&".join(f"{quote(k)}={quote(v)}" for k, v in body.items()),
                content_type="application/x-www-form-urlencoded",
                headers=headers,
            )
        data = b"" if body is None else json.dumps(body)
        return self.client.generic(
            method, path, data, content_type="application/json", headers=headers
        )


class Form(dict[str, str]):
    """A body that a page's form sends."""


PEOPLE = ("reader", "creator", "manager", "admin", "disabled")
CALLERS = (
    "anonymous",
    "wrong",  # a bearer that is no credential
    "service",  # the deployment credential
    *PEOPLE,  # signed in on the website
    *(f"key-{name}" for name in PEOPLE),
    "key-narrow",  # the manager's, narrowed to the repository of the column `open`
)


def make_people(make_user: Callable[..., User]) -> dict[str, User]:
    names = (*PEOPLE, "somebody")
    return {name: make_user(name, admin=name == "admin") for name in names}


def make_callers(people: dict[str, User], service_token: str) -> dict[str, Caller]:
    found = {
        "anonymous": Caller(),
        "wrong": Caller(bearer="sgk_" + "x" * 43),
        "service": Caller(bearer=service_token),
    }
    for name in PEOPLE:
        found[name] = Caller()
        found[name].client.force_login(people[name])
        found[f"key-{name}"] = Caller(bearer=_key(people[name]))
    found["key-narrow"] = Caller(bearer=_key(people["manager"], [name_of("open")]))
    people["disabled"].is_active = False
    people["disabled"].save()
    return found


def _key(user: User, repositories: list[str] | None = None) -> str:
    actor = Actor(ActorKind.SESSION, user.username, user_id=user.pk)
    made = create_api_key(actor, CreateApiKey(name="matrix", repositories=repositories))
    assert made.key is not None
    return made.key


# --- Requests ----------------------------------------------------------------------------

LINES = {"Path": "README.md", "StartLine": 1, "EndLine": 1}
# What a request needs beside `?repo=` to pass its syntax: a body, or a query string.
BODIES: dict[str, Any] = {
    "POST api/search": {"Pattern": "needle"},
    "POST v1/repo/resolve": {},
    "POST v1/repo/read": LINES,
    "POST v1/repo/read_many": {"Files": [{"Path": "README.md"}]},
    "POST v1/repo/list": {"First": 1},
    "POST v1/repo/diff": {"Base": SHA, "Head": SHA, "First": 1},
    "POST v1/repo/find": {"Query": "*.md"},
    "POST v1/repo/log": {},
    "POST v1/repo/blame": LINES,
    "PATCH api/admin/v1/repo": {
        "policy": {"default_branch": True, "count": 5},
        "enabled": True,
        "deleted": False,
        "preview": "0" * 64,
    },
    "POST api/admin/v1/repo/preview": {
        "policy": {"default_branch": True, "count": 5},
        "enabled": True,
        "deleted": False,
    },
    "POST api/admin/v1/repo/prepare": {"kind": "sync", "commit": ""},
    "POST api/admin/v1/repo/index/preview": {"branch": "main", "commit": SHA},
    "POST api/admin/v1/repo/index": {"branch": "main", "commit": SHA, "preview": "0" * 64},
    "POST api/admin/v1/repo/jobs/cancel": {"job_id": "0" * 32},
    "POST api/admin/v1/repo/managers": {"add": "0" * 64},
    "POST api/admin/v1/repo/cleanup/preview": {},
    "POST api/admin/v1/repo/cleanup": {"preview": "0" * 64},
    "POST api/admin/v1/repo/delete/preview": {},
    "POST api/admin/v1/repo/delete": {"preview": "0" * 64},
    "POST api/admin/v1/repo/purge": {},
    "POST api/admin/v1/repo/webhooks": {},
    "POST api/admin/v1/repo/webhooks/revoke": {"id": "0" * 32},
    "POST api/admin/v1/repos": {"name": "NAME", "policy": {"default_branch": True, "count": 5}},
    "POST api/admin/v1/repos/import": {"source": "github", "names": ["NAME"], "dry_run": True},
    "POST auth/api-keys": {"name": "made"},
    "PUT auth/code-credentials": {"source": "nowhere", "revision": 0},
    "PUT api/admin/settings/code-credentials": {"source": "nowhere", "revision": 0},
    "PUT api/admin/settings/code-sources": {"revision": 7, "sources": []},
    "POST repo/cancel": Form(job_id="0" * 32),
    "POST repo/settings": Form(act="policy"),
    "POST settings/code-sources/token": Form(source="nowhere"),
    "POST settings/code-sources/arrange": Form(id="nowhere"),
    "POST user-settings": Form(),
    "POST user-settings/code-tokens": Form(source="nowhere"),
    "POST user-settings/revoke-key": Form(id="nowhere"),
    "POST repos/new": Form(),
    "POST repos/import": Form(),
    "POST settings/code-sources/edit": Form(),
    "POST connect": Form(),
    "POST preferences": Form(theme="dark"),
    "POST first-administrator": Form(link="wrong", username="eve", password="correct horse"),
}
QUERIES = {
    "GET api/admin/v1/repo/commit-options": "branch=main",
    "GET api/admin/v1/repos/account": "source=git&account=acme",
    "GET auth/users/search": "q=ad",
    "GET code": "path=README.md",
    "GET code/tree": f"path=&commit={SHA}",
    "GET repo": "tab=jobs",
    "GET": "pattern=needle",
    "POST repo/index": f"commit={SHA}",
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "search": {"pattern": "needle"},
    "read": {"path": "README.md"},
    "read_many": {"files": [{"path": "README.md"}]},
    "list": {"first": 1},
    "diff": {"base": SHA, "head": SHA, "first": 1},
    "find": {"query": "*.md"},
    "blame": {"path": "README.md", "start_line": 1, "end_line": 1},
    "prepare": {"idempotency_key": "a-key-of-16-bytes"},
}
# Answers at a fixed address; each needs a value for what stands in the address.
VALUES = {
    "<str:key_id>": "0" * 32,
    "<str:webhook_id>": "0" * 32,
    "<slug:provider_id>": "nowhere",
}


def ask(caller: Caller, request: str, column: str | None) -> HttpResponse:
    """Send one request of the matrix; `column` None: it is about no repository."""
    name = name_of(column) if column else ""
    kind, _, route = request.partition(" ")
    if kind == "tool":
        arguments = {**ARGUMENTS.get(route, {}), **({"repo": name} if name else {})}
        params = {"name": route, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return caller.send("POST", PREFIX + "mcp", message)
    query = [QUERIES[request]] if request in QUERIES else []
    path = route
    for place, value in VALUES.items():
        path = path.replace(place, value)
    body = _filled(BODIES.get(request), name)
    if "<path:name>" in path:
        path = path.replace("<path:name>", name)
    elif name and body == BODIES.get(request):  # else the name stands in the body
        query.insert(0, f"repo={quote(name, safe='')}")
    return caller.send(kind, PREFIX + path + ("?" + "&".join(query) if query else ""), body)


def _filled(body: Any, name: str) -> Any:
    if isinstance(body, Form) or body is None:
        return body
    return json.loads(json.dumps(body).replace("NAME", name))


# --- Answers -----------------------------------------------------------------------------

# The word of the matrix for each refusal that depends on who asks.
WORDS = {
    "REPOSITORY_NOT_FOUND": "none",
    "AUTHENTICATION_REQUIRED": "sign",
    "ACCESS_DENIED": "kind",
    "ADMIN_REQUIRED": "adm",
    "REPOSITORY_MANAGEMENT_DENIED": "mgr",
    "PREPARATION_NOT_ALLOWED": "prep",
    "REGISTRATION_DISABLED": "reg",
    "REPOSITORY_DISABLED": "off",
    "REPOSITORY_DELETED": "gone",
    "REPOSITORY_EXISTS": "here",
    "UNKNOWN_TOOL": "tool",
}
# A request of the matrix that earns one of these asks nothing.
MISTAKES = ("INVALID_REQUEST", "INVALID_QUERY_PARAMETERS", "METHOD_NOT_ALLOWED", "CSRF_REQUIRED")
SIGN_IN = (PREFIX + "login", PREFIX + "admin/login")
_PAGE_CODE = re.compile(r"<code>([A-Z][A-Z_]+)</code>")


def word_of(response: HttpResponse) -> str:
    """`yes` or the reason of a refusal; a mistake of the request is an error of the test."""
    location = response.headers.get("Location", "")
    if response.status_code == 302 and location.startswith(SIGN_IN):
        return "sign"
    text = response.content.decode()
    code = _code_of(response, text)
    if response.status_code == 401 and not code:
        return "sign"
    assert code not in MISTAKES, f"{code}: {text[:300]}"
    assert response.status_code < 500 or response.status_code in (502, 503), text[:300]
    return WORDS.get(code, "yes")


def _code_of(response: HttpResponse, text: str) -> str:
    if response.headers.get("Content-Type", "").startswith("application/json"):
        return _json_code(json.loads(text)) if text else ""
    found = _PAGE_CODE.search(text) if response.status_code >= 400 else None
    return found[1] if found else ""


def _json_code(body: Any) -> str:
    if not isinstance(body, dict):
        return ""
    if "result" in body and body["result"].get("isError"):
        return str(json.loads(body["result"]["content"][0]["text"])["code"])
    if "error" in body:  # sign-in routes; JSON-RPC
        error = body["error"]
        return str(error) if isinstance(error, str) else "UNKNOWN_TOOL"
    return str(body.get("Meta", {}).get("Code", "")) if isinstance(body.get("Meta"), dict) else ""


_VARYING = re.compile(
    r'"RequestID":"[0-9a-f]*"|"csrf_token":"\w*"|"expires_at":"[^"]*"|"Duration":\d+'
    r'|name="csrfmiddlewaretoken" value="\w+"|X-CSRF-Token&quot;: &quot;\w+'
    r"|<code>[0-9a-f]{32}</code>"
)


def comparable(response: HttpResponse, column: str) -> tuple[int, str]:
    """Status and body without what names the request: equal for hidden and absent names."""
    text = _VARYING.sub("", response.content.decode())
    name = name_of(column)
    encoded = quote(name, safe="")
    for form in (quote(encoded), encoded, name):
        text = text.replace(form, "NAME")
    return response.status_code, text


# --- What there is -----------------------------------------------------------------------


def requests_there_are() -> set[str]:
    """Every tool, and every route with the methods that it takes; of a page the methods are
    not known, and `* route` stands for it."""
    found = {f"tool {name}" for name in tools()}
    for route, entry in _routes(get_resolver().url_patterns[1].url_patterns):
        if route.startswith(FOREIGN) or route == "mcp":  # its tools stand for it
            continue
        view = getattr(entry.callback, "cls", None) or getattr(entry.callback, "view_class", None)
        methods = [m for m in ("get", "post", "put", "patch", "delete") if hasattr(view, m)]
        if view is None or not view.__module__.startswith(("drf_", "allauth.")):
            found |= {f"{m.upper()} {route}" for m in methods} or {f"* {route}"}
        else:
            found.add(f"* {route}")
    return found


def _routes(patterns: list[Any], prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for entry in patterns:
        where = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from _routes(entry.url_patterns, where)
        else:
            yield where, entry


# --- The text ----------------------------------------------------------------------------


@dataclass
class Section:
    """Requests that all answer alike: caller → column → word. `lists`: the word says whether
    the repository's name is in the answer."""

    title: str
    requests: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    rows: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def lists(self) -> bool:
        return self.title.startswith("list")


def read_matrix(path: Path) -> list[Section]:
    """`[title]`, requests, a line `caller …` with the columns, rows; `#` begins a comment."""
    found: list[Section] = []
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = raw.partition("#")[0].rstrip()
        if not line.strip():
            continue
        if line.startswith("["):
            found.append(Section(line.strip("[]")))
        elif line.startswith("caller"):
            found[-1].columns = line.split()[1:]
        elif not found[-1].columns:
            found[-1].requests += [line.strip()]
        else:
            _add_row(found[-1], line.split(), number)
    return found


def _add_row(section: Section, cells: list[str], number: int) -> None:
    names, words = cells[0].split(","), cells[1:]
    assert len(words) == len(section.columns), f"line {number}: {len(words)} words"
    for name in names:
        assert name in CALLERS and name not in section.rows, f"line {number}: {name}"
        section.rows[name] = dict(zip(section.columns, words, strict=True))
