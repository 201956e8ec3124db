"""A small real HTTP server that speaks the list calls of GitHub, GitLab, Gitea and Bitbucket."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

ROWS = [
    # name, private, fork, archived, empty
    ("acme/app", False, False, False, False),
    ("acme/fork", False, True, False, False),
    ("acme/old", False, False, True, False),
    ("acme/secret", True, False, False, False),
    ("acme/.github", False, False, False, False),
    ("acme/fresh", False, False, False, True),
]


class HostApi:
    """`kind` says which host it plays. `authorization`: what a request must carry, "" for
    nothing. `groups`: are the accounts groups, or people? `login`: whose the token is.
    `status`, `body`, `headers`: answer this instead.
    `seen`: path with query, and the Authorization of each request."""

    def __init__(self) -> None:
        self.kind = "github"
        self.rows = ROWS
        self.per_page = 2
        self.authorization = ""
        self.groups = True
        self.login = "somebody"
        self.status = 0
        self.body: bytes | None = None
        self.headers: dict[str, str] = {}
        self.seen: list[tuple[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, query: dict[str, list[str]]) -> Any:
        """None: no such account."""
        base, lists, _ = SHAPES[self.kind]
        if path == f"{base}/user" and self.kind == "github":
            return {"login": self.login}
        if path == f"{base}/user/repos":
            own = [row for row in self.rows if row[1]] if query["page"] == ["1"] else []
            return [SHAPES[self.kind][2](*row) for row in own]
        where = lists[0 if self.groups else -1].format(account="acme")
        if unquote(path) != base + where:
            return None
        number = int(query["page"][0])
        page = self.rows[(number - 1) * self.per_page : number * self.per_page]
        rows = [SHAPES[self.kind][2](*row) for row in page]
        return {"values": rows, "pagelen": self.per_page} if self.kind == "bitbucket" else rows


def _github(name: str, private: bool, fork: bool, archived: bool, empty: bool) -> dict[str, Any]:
    return {
        "id": 7,
        "full_name": name,
        "private": private,
        "fork": fork,
        "archived": archived,
        "size": 0 if empty else 12,
        "default_branch": "main",
        "description": None,
        "clone_url": f"https://evil.example/{name}.git",
    }


def _gitlab(name: str, private: bool, fork: bool, archived: bool, empty: bool) -> dict[str, Any]:
    row = {
        "path_with_namespace": name,
        "visibility": "private" if private else "public",
        "archived": archived,
        "empty_repo": empty,
        "default_branch": "main",
    }
    return row | ({"forked_from_project": {"id": 1}} if fork else {})


def _gitea(name: str, private: bool, fork: bool, archived: bool, empty: bool) -> dict[str, Any]:
    row = _github(name, private, fork, archived, empty)
    return {**row, "empty": empty, "internal": False}


def _bitbucket(name: str, private: bool, fork: bool, archived: bool, empty: bool) -> dict[str, Any]:
    return {
        "full_name": name,
        "is_private": private,
        "parent": {"full_name": "x/y"} if fork else None,
        "mainbranch": None if empty else {"name": "main", "type": "branch"},
        "description": "",
    }


SHAPES = {
    "github": ("/api/v3", ("/orgs/{account}/repos", "/users/{account}/repos"), _github),
    "gitlab": ("/api/v4", ("/groups/{account}/projects", "/users/{account}/projects"), _gitlab),
    "gitea": ("/api/v1", ("/orgs/{account}/repos", "/users/{account}/repos"), _gitea),
    "bitbucket": ("/2.0", ("/repositories/{account}",), _bitbucket),
}


def _handler(api: HostApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            return

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            given = self.headers.get("Authorization", "")
            api.seen.append((self.path, given))
            if api.status:
                return self._send(api.status, api.body or b"{}")
            if api.authorization and given != api.authorization:
                return self._send(401, b"{}")
            found = api.answer(parts.path, parse_qs(parts.query))
            if found is None:
                return self._send(404, b'{"message": "Not Found"}')
            self._send(200, api.body if api.body is not None else json.dumps(found).encode())

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            for name, value in api.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
