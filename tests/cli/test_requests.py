"""What each operation sends (contract 7), and what it makes of odd answers."""

import json
import socket
from urllib.parse import parse_qs, urlsplit

import pytest

REPO = ("-repo", "acme/tools")
SHA = "a" * 40


@pytest.fixture
def sent(program, http_server):
    """Run one command line; gives method, route, query and body of its one request."""
    program.environment["SOURCEGRAPH_URL"] = http_server.url + "/base/sourcegraph/"

    def run(*words, **environment):
        done = program(*words, **environment)
        assert done.code == 0, done.err
        (asked,) = http_server.asked
        parts = urlsplit(asked.target)
        assert asked.headers["content-type"] == "application/json"
        return asked.method, parts.path, parse_qs(parts.query), json.loads(asked.body)

    return run


QUERY = {"repo": ["acme/tools"]}
SEARCH = {
    "Revision": "",
    "Pattern": "p",
    "FixedStrings": False,
    "IgnoreCase": False,
    "Output": "content",
}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["repositories"], ("GET", "/v1/repos", {}, None)),
        (["repositories", "-after", "x"], ("GET", "/v1/repos", {"after": ["x"]}, None)),
        (["availability", *REPO], ("GET", "/v1/repo/availability", QUERY, None)),
        (["resolve", *REPO], ("POST", "/v1/repo/resolve", QUERY, {"Revision": ""})),
        (
            ["search", *REPO, "p"],
            ("POST", "/api/search", QUERY, SEARCH),
        ),
        (
            ["search", *REPO, "-F", "-i", "-l", "-g", "*.go", "--g=!x", "-e", "-x", "lib", "-y"],
            (
                "POST",
                "/api/search",
                QUERY,
                {
                    "Revision": "",
                    "Pattern": "-x",
                    "FixedStrings": True,
                    "IgnoreCase": True,
                    "Output": "files",
                    "Glob": ["*.go", "!x"],
                    "Paths": ["lib", "-y"],
                },
            ),
        ),
        (
            ["search", "-repos", "acme/*", "-C", "2", "-max-files", "5", "-language", "Go", "p"],
            (
                "POST",
                "/api/search",
                {},
                {**SEARCH, "Context": 2, "MaxFiles": 5, "Language": "Go", "Repos": ["acme/*"]},
            ),
        ),
        (
            ["read", *REPO, "-path", "a.py"],
            (
                "POST",
                "/v1/repo/read",
                QUERY,
                {"Revision": "", "Path": "a.py", "StartLine": 1, "EndLine": 100},
            ),
        ),
        (
            ["read-many", *REPO, "-revision", SHA, "a.py", "b:1", "c.py:2-9", "C:x", "d:1:5-6"],
            (
                "POST",
                "/v1/repo/read_many",
                QUERY,
                {
                    "Revision": SHA,
                    "Files": [
                        {"Path": "a.py"},
                        {"Path": "b", "StartLine": 1},
                        {"Path": "c.py", "StartLine": 2, "EndLine": 9},
                        {"Path": "C:x"},
                        {"Path": "d:1", "StartLine": 5, "EndLine": 6},
                    ],
                },
            ),
        ),
        (
            ["list", *REPO],
            (
                "POST",
                "/v1/repo/list",
                QUERY,
                {"Revision": "", "Path": "", "First": 100, "After": ""},
            ),
        ),
        (
            ["diff", *REPO, "-base", "main", "-head", SHA, "-first", "3"],
            (
                "POST",
                "/v1/repo/diff",
                QUERY,
                {"Base": "main", "Head": SHA, "First": 3, "After": ""},
            ),
        ),
        (
            ["diff", *REPO, "-base", "a", "-head", "b", "-renames", "lib"],
            (
                "POST",
                "/v1/repo/diff",
                QUERY,
                {
                    "Base": "a",
                    "Head": "b",
                    "First": 100,
                    "After": "",
                    "Renames": True,
                    "Paths": ["lib"],
                },
            ),
        ),
        (
            ["find", *REPO, "-mode", "fuzzy", "name"],
            ("POST", "/v1/repo/find", QUERY, {"Revision": "", "Query": "name", "Mode": "fuzzy"}),
        ),
        (
            ["log", *REPO, "-path", "a.py", "-first-parent"],
            (
                "POST",
                "/v1/repo/log",
                QUERY,
                {"Revision": "", "First": 30, "After": "", "Path": "a.py", "FirstParent": True},
            ),
        ),
        (
            ["blame", *REPO, "-path", "a.py", "-start-line", "3", "-end-line=4"],
            (
                "POST",
                "/v1/repo/blame",
                QUERY,
                {"Revision": "", "Path": "a.py", "StartLine": 3, "EndLine": 4},
            ),
        ),
        (
            ["refs", *REPO, "-kind", "tag", "-first", "5"],
            ("GET", "/v1/repo/refs", {**QUERY, "kind": ["tag"], "first": ["5"]}, None),
        ),
        (
            ["prepare", *REPO, "-revision", SHA],
            ("POST", "/api/admin/v1/repo/prepare", QUERY, {"kind": "index", "commit": SHA}),
        ),
    ],
)
def test_an_operation_sends_the_documented_request(sent, words, expected):
    method, route, query, body = expected
    assert sent(*words) == (method, "/base/sourcegraph" + route, query, body)


def test_the_key_of_prepare_and_the_token_go_into_headers(sent, http_server):
    sent("prepare", *REPO, "-key", "k" * 8, SOURCEGRAPH_API_TOKEN="t" * 32)
    headers = http_server.asked[0].headers
    assert headers["idempotency-key"] == "k" * 8
    assert headers["authorization"] == "Bearer " + "t" * 32


def test_without_a_token_none_is_sent(sent, http_server):
    sent("repositories")
    assert "authorization" not in http_server.asked[0].headers


def test_the_body_is_printed_as_it_came(program, http_server):
    program.environment["SOURCEGRAPH_URL"] = http_server.url
    http_server.body = b'{"b": 1,  "a":\t"\\u003c"}'
    assert program("repositories").out == '{"b": 1,  "a":\t"\\u003c"}\n'


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (200, b"{}", 0),
        (201, b"{}", 0),
        (202, b"{}", 3),
        (409, b'{"Meta":{"Code":"INDEX_NOT_READY"}}', 3),
        (409, b'{"Meta":{"Code":"REPOSITORY_BUSY"}}', 1),
        (404, b'{"Meta":{"Code":"REPOSITORY_NOT_FOUND"}}', 1),
        (503, b"{}", 1),
        (200, b"<html>", 1),
        (200, b"", 1),
        (200, b" " * (3 << 20) + b"{}", 1),
    ],
)
def test_the_exit_code_tells_what_came_of_it(program, http_server, status, body, code):
    program.environment["SOURCEGRAPH_URL"] = http_server.url
    http_server.status, http_server.body = status, body
    assert program("repositories").code == code
    assert program.on_terminal("repositories").code == code


def test_a_redirect_is_not_followed(program, http_server):
    program.environment["SOURCEGRAPH_URL"] = http_server.url
    http_server.status = 302
    http_server.headers = {"Location": http_server.url + "/elsewhere"}
    assert program("repositories").code == 1
    assert [asked.target for asked in http_server.asked] == ["/v1/repos"]


def test_a_server_that_is_not_there_is_a_failure(program):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        done = program("repositories", SOURCEGRAPH_URL=url)
    assert done.code == 1
    assert "cannot reach" in done.err


def test_a_proxy_is_not_asked_for_this_machine(sent, http_server):
    assert sent("repositories", http_proxy="http://127.0.0.1:9")[1] == "/base/sourcegraph/v1/repos"
