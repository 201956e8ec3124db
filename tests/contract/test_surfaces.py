"""Every operation gives the same answer, and the same refusal, over REST, MCP and the command
line. The use case is one; what could differ is how a surface asks and how it shows."""

import json
import re
from typing import Any

import pytest

from readers.remote import catalog as catalogs
from repos.models import Repository, Version
from repos.work import queue_sync
from sourcegraph_site.kernel.wire import pascal
from tests.cli.conftest import Program
from tests.support.git_remote import git
from tests.support.http_remote import wait_until
from tests.support.jobs import run_pending_jobs
from tests.support.mcp import Rpc

REPO = "acme/tools"
FLAG = ("-repo", REPO)
FILES = {"a.py": "one\ntwo\n", "lib/b.go": "package b\n// two\n", "lib/c.bin": b"\0"}


@pytest.fixture
def cli(tmp_path, transactional_db, live_server) -> Program:
    home = tmp_path / "home"
    home.mkdir()
    return Program(home, f"{live_server.url}/sourcegraph")


@pytest.fixture
def remote(make_repository):
    _, remote = make_repository(REPO, files=FILES)
    git(remote.path, "config", "uploadpack.allowFilter", "true")  # so that refs tells commits
    yield remote
    wait_until(lambda: not catalogs._running)  # refreshed behind by refs and resolve


@pytest.fixture
def rest(client):
    def call(route: str, body: Any = None, headers: Any = None, **query: str) -> Any:
        url = f"/sourcegraph{route}"
        found = query or {"repo": REPO}
        if body is None:
            return client.get(url, found)
        return client.post(
            url, json.dumps(body), "application/json", query_params=found, headers=headers
        )

    return call


def as_pascal(value: Any) -> Any:
    """snake_case names of MCP's answers, as REST spells them (decision 40)."""
    if isinstance(value, dict):
        return {pascal(name): as_pascal(item) for name, item in value.items()}
    return [as_pascal(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("route", "body", "tool", "arguments", "words"),
    [
        ("find", {"Query": "*.go"}, "find", {"query": "*.go"}, ["find", *FLAG, "*.go"]),
        ("log", {"Path": "a.py"}, "log", {"path": "a.py"}, ["log", *FLAG, "-path", "a.py"]),
        (
            "blame",
            {"Path": "a.py", "StartLine": 1, "EndLine": 2},
            "blame",
            {"path": "a.py", "start_line": 1, "end_line": 2},
            ["blame", *FLAG, "-path", "a.py", "-end-line", "2"],
        ),
    ],
)
def test_the_additions_answer_alike(rest, cli, rpc, remote, route, body, tool, arguments, words):
    shown = rest(f"/v1/repo/{route}", body).json()
    assert cli(*words).data == shown
    for file in shown.get("Files", []):
        del file["BlobOID"]  # left out over MCP: no tool takes one
    assert as_pascal(rpc.data(tool, repo=REPO, **arguments)) == shown


def test_resolve_and_refs_answer_alike(rest, cli, rpc, remote):
    shown = rest("/v1/repo/resolve", {}).json()
    assert rpc.data("resolve", repo=REPO) == shown
    assert cli("resolve", *FLAG).data == shown
    listed = rest("/v1/repo/refs", repo=REPO, kind="all").json()
    assert listed["refs"][0]["commit"] == remote.tip("main")
    for other in (rpc.data("refs", repo=REPO, kind="all"), cli("refs", *FLAG, "-kind", "all").data):
        assert {**other, "catalog": listed["catalog"]} == listed


def test_reads_answer_alike(rest, cli, rpc, remote):
    body = {"Path": "a.py", "StartLine": 1, "EndLine": 2}
    shown = rest("/v1/repo/read", body).json()
    assert cli("read", *FLAG, "-path", "a.py", "-end-line", "2").data == shown
    text = rpc.text("read", repo=REPO, path="a.py", end_line=2)
    rows = dict(re.findall(r"^(\d+): (.*)$", text, re.MULTILINE))
    assert "".join(f"{row}\n" for row in rows.values()) == shown["Content"]
    assert f'Commit: "{shown["Commit"]}"' in text
    many = rest("/v1/repo/read_many", {"Files": [{"Path": "a.py"}, {"Path": "lib/c.bin"}]}).json()
    assert cli("read-many", *FLAG, "a.py", "lib/c.bin").data == many
    good, bad = rpc.texts("read_many", repo=REPO, files=[{"path": "a.py"}, {"path": "lib/c.bin"}])
    assert "1: one\n2: two\n" in good
    assert f'Error: "{many["Items"][1]["Error"]["Code"]}"' in bad


def test_lists_answer_alike(rest, cli, rpc, remote):
    shown = rest("/v1/repo/list", {"Path": "lib", "First": 1}).json()
    assert cli("list", *FLAG, "-path", "lib", "-first", "1").data == shown
    listed = rpc.data("list", repo=REPO, path="lib", first=1)
    assert listed["commit"] == shown["Commit"]
    assert [row["path"] for row in listed["entries"]] == [row["Path"] for row in shown["Entries"]]
    assert (listed["next_cursor"], listed["has_more"]) == (
        shown["NextCursor"],
        shown["HasMoreResults"],
    )


def test_differences_answer_alike(rest, cli, rpc, remote, make_repository):
    base = remote.tip("main")
    head = remote.commit({"a.py": "one\n2\n"})
    queue_sync(Repository.objects.get(name=REPO))
    run_pending_jobs()
    shown = rest("/v1/repo/diff", {"Base": base, "Head": head, "First": 5}).json()
    assert cli("diff", *FLAG, "-base", base, "-head", head, "-first", "5").data == shown
    told = rpc.data("diff", repo=REPO, base=base, head=head, first=5)
    (change,), (expected,) = told["changes"], shown["Changes"]
    assert (change["path"], change["change"]) == (expected["Path"], expected["ChangeKind"])
    assert change["patch"] == expected["Patch"]
    assert (told["base_commit"], told["head_commit"]) == (base, head)


def test_searches_answer_alike(rest, cli, rpc, remote):
    shown = rest("/api/search", {"Pattern": "two"}).json()
    same = cli("search", *FLAG, "two").data
    shown["Result"].pop("Duration")
    same["Result"].pop("Duration")
    assert same == shown
    text = rpc.text("search", repo=REPO, pattern="two")
    lines = [
        (file["FileName"], line["LineNumber"], line["Line"])
        for file in shown["Result"]["Files"]
        for line in file["LineMatches"]
    ]
    sections = text.split("\n\nFile: ")[1:]
    assert [
        (json.loads(section.split("\n")[0]), int(number), line)
        for section in sections
        for number, line in re.findall(r"^(\d+): (.*)$", section, re.MULTILINE)
    ] == lines
    assert f"FileCount: {shown['Result']['FileCount']}; MatchCount: 2" in text


REST = {"repo": "name"}  # a record's name is what every tool calls repo


def test_the_catalog_and_availability_answer_alike(rest, cli, rpc, remote):
    rows = rest("/v1/repos", after="").json()
    assert cli("repositories").data == rows
    (told,) = rpc.data("repositories")["repositories"]
    for name in ("repo", "index_mode", "heads", "default_branch"):
        assert told[name] == rows[0][REST.get(name, name)]
    record = rest("/v1/repo/availability").json()
    assert cli("availability", *FLAG).data == record
    told = rpc.data("availability", repo=REPO)
    for name in ("repo", "index_mode", "heads", "default_branch", "observed_at"):
        assert told[name] == record[REST.get(name, name)]
    assert told["versions"] == [
        {name: version[name] for name in ("commit", "indexed", "committer_time")}
        for version in record["versions"]
    ]
    assert told["versions"][0]["commit"] == remote.tip("main")


def test_prepare_gives_one_job_to_every_surface(rest, cli, rpc, remote, service_token):
    Repository.objects.update(index_history="heads")
    old = remote.tip("main")
    remote.commit({"a.py": "three\n"})
    queue_sync(Repository.objects.get(name=REPO))
    run_pending_jobs()
    Version.objects.filter(commit=old).update(indexed=False)
    asked = {"kind": "index", "commit": old}
    headers = {"Authorization": f"Bearer {service_token}", "Idempotency-Key": "a-key-of-rest"}
    job = rest("/api/admin/v1/repo/prepare", asked, headers).json()
    words = ("-revision", old, "-key", "a-key-of-cli")
    again = cli("prepare", *FLAG, *words, SOURCEGRAPH_API_TOKEN=service_token).data
    told = Rpc(token=service_token).data(
        "prepare", repo=REPO, revision=old, idempotency_key="a-key-of-mine"
    )
    assert job["job_id"] == again["job_id"] == told["job_id"]
    assert (told["state"], told["commit"]) == (job["state"], job["commit"]) == ("queued", old)


REFUSALS = [
    ("read", {"Path": "gone", "StartLine": 1, "EndLine": 1}, {"path": "gone"}, ["-path", "gone"]),
    ("read", {"Path": "lib", "StartLine": 1, "EndLine": 1}, {"path": "lib"}, ["-path", "lib"]),
    (
        "read",
        {"Path": "lib/c.bin", "StartLine": 1, "EndLine": 1},
        {"path": "lib/c.bin"},
        ["-path", "lib/c.bin"],
    ),
    ("list", {"Path": "a.py", "First": 1}, {"path": "a.py", "first": 1}, ["-path", "a.py"]),
    ("list", {"First": 1, "After": "x"}, {"first": 1, "after": "x"}, ["-after", "x"]),
    (
        "list",
        {"First": 1, "Revision": "abcdef1"},
        {"first": 1, "revision": "abcdef1"},
        ["-revision", "abcdef1"],
    ),
    (
        "list",
        {"First": 1, "Revision": "0" * 40},
        {"first": 1, "revision": "0" * 40},
        ["-revision", "0" * 40],
    ),
    ("list", {"First": 1, "Revision": "x"}, {"first": 1, "revision": "x"}, ["-revision", "x"]),
    ("search", {"Pattern": "("}, {"pattern": "("}, ["("]),
    ("search", {"Pattern": "a", "Glob": ["["]}, {"pattern": "a", "glob": ["["]}, ["-g", "[", "a"]),
]


@pytest.mark.parametrize(("operation", "body", "arguments", "words"), REFUSALS)
def test_a_refusal_has_one_code_everywhere(
    rest, cli, rpc, remote, operation, body, arguments, words
):
    route = "/api/search" if operation == "search" else f"/v1/repo/{operation}"
    response = rest(route, body)
    code = response.json()["Meta"]["Code"]
    assert response.status_code >= 400
    assert rpc.error(operation, repo=REPO, **arguments)["code"] == code
    done = cli(operation, *FLAG, *words)
    assert (done.code, done.data["Meta"]["Code"]) == (1, code)


def test_a_hidden_repository_looks_absent_everywhere(rest, cli, rpc, make_repository):
    make_repository("acme/hidden", public_read=False)
    for name in ("acme/hidden", "acme/absent"):
        body = {"Pattern": "a"}
        assert rest("/api/search", body, repo=name).json()["Meta"]["Code"] == "REPOSITORY_NOT_FOUND"
        assert rpc.error("search", repo=name, pattern="a")["code"] == "REPOSITORY_NOT_FOUND"
        done = cli("search", "-repo", name, "a")
        assert done.data["Meta"]["Code"] == "REPOSITORY_NOT_FOUND"


@pytest.fixture
def rpc(db) -> Rpc:
    return Rpc()
