"""The tools that answer JSON: catalog, availability, resolve, find, list, diff, log, blame,
prepare; and what every tool has in common."""

import json
import os
from pathlib import Path

import pytest

from repos.models import Repository
from repos.work import queue_sync
from sourcegraph_site.accounts.models import User
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.mcp.call import call_tool
from sourcegraph_site.mcp.instructions import INSTRUCTIONS
from sourcegraph_site.mcp.registry import Caller, offered_to, tool, tools
from tests.support.jobs import run_pending_jobs

REPO = "acme/tools"
SNAPSHOTS = Path(__file__).resolve().parent.parent / "contract" / "snapshots"
FILES = {"a.py": "one\ntwo\n", "lib/b.go": "package b\n", "lib/sub/c.txt": "c\n"}


@pytest.fixture
def remote(make_repository):
    return make_repository(REPO, files=FILES)[1]


def advance(remote, files) -> str:
    commit = remote.commit(files)
    queue_sync(Repository.objects.get(name=REPO))
    run_pending_jobs()
    return commit


@pytest.mark.parametrize("name", sorted(tools()))
def test_a_tool_is_what_its_snapshot_says(name):
    """A changed tool is a change of contract: look at the difference, then run this test with
    WRITE_SNAPSHOTS=1."""
    path = SNAPSHOTS / f"{name}.json"
    shown = json.dumps(tools()[name].as_wire(), indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("WRITE_SNAPSHOTS"):
        path.write_text(shown, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == shown


def test_every_snapshot_belongs_to_a_tool():
    assert {path.stem for path in SNAPSHOTS.glob("*.json")} == set(tools())


@pytest.mark.parametrize("name", sorted(tools()))
def test_a_schema_is_plain_and_closed(name):
    entry = tools()[name]
    schema = entry.as_wire()["inputSchema"]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    text = json.dumps(schema)
    assert "$ref" not in text and "anyOf" not in text and "null" not in text
    for field in schema["properties"].values():
        assert field.get("description"), f"{name} has a field without a description"


def test_what_a_session_pays_for_listing_stays_small():
    listed = json.dumps([entry.as_wire() for entry in tools().values()])
    assert len(listed) < 16_000
    assert len(INSTRUCTIONS) < 2_000


def test_two_tools_of_one_name_are_refused():
    entry = tools()["read"]
    with pytest.raises(ValueError, match="two tools called read"):
        tool(title="", description="", input=entry.input, read_only=True)(entry.run)


def test_the_catalog_names_heads_and_default_branch(rpc, remote):
    assert rpc.data("repositories") == {
        "repositories": [
            {
                "repo": REPO,
                "state": "registered",
                "index_mode": "full",
                "heads": {"main": remote.tip("main")},
                "default_branch": "main",
            }
        ]
    }


def test_a_full_page_of_the_catalog_has_a_cursor(rpc):
    Repository.objects.bulk_create(
        Repository(
            name=f"acme/r{n}", repo_id=f"{n:064x}", remote_url="https://x.example/r", window_count=1
        )
        for n in range(101)
    )
    first = rpc.data("repositories")
    second = rpc.data("repositories", after=first["next_cursor"])
    assert len(first["repositories"]) == 100
    assert [row["repo"] for row in second["repositories"]] == ["acme/r100"]
    assert "next_cursor" not in second


@pytest.mark.parametrize(
    ("fields", "state"), [({"enabled": False}, "disabled"), ({"state": "empty"}, "empty")]
)
def test_the_catalog_says_what_keeps_a_repository_from_answering(rpc, remote, fields, state):
    Repository.objects.update(**fields)
    assert rpc.data("repositories")["repositories"][0]["state"] == state


def test_availability_lists_versions_and_the_newest_jobs(rpc, remote):
    older = remote.tip("main")
    newer = advance(remote, {"a.py": "new\n"})
    found = rpc.data("availability", repo=REPO)
    assert [(v["commit"], v["indexed"]) for v in found["versions"]] == [
        (newer, True),
        (older, True),
    ]
    assert found["heads"] == {"main": newer}
    assert sorted(job["kind"] for job in found["jobs"]) == ["index", "sync"]
    assert {job["state"] for job in found["jobs"]} == {"succeeded"}
    assert "jobs_scope" in found
    chosen = found["jobs"][0]["job_id"]
    alone = rpc.data("availability", repo=REPO, job_id=chosen)
    assert [job["job_id"] for job in alone["jobs"]] == [chosen]
    assert "jobs_scope" not in alone


def test_a_job_that_is_not_known_is_neither_success_nor_failure(rpc, remote):
    lookup = rpc.data("availability", repo=REPO, job_id="0" * 32)["job_lookup"]
    assert lookup["state"] == "not_found"


def test_a_long_window_does_not_flood_the_answer(rpc, make_repository):
    _, remote = make_repository(REPO, window_count=200)
    for number in range(120):
        remote.commit({"a.py": f"{number}\n"})
    queue_sync(Repository.objects.get(name=REPO))
    run_pending_jobs(limit=1)
    found = rpc.data("availability", repo=REPO)
    assert len(found["versions"]) == 100
    assert found["older_versions"] == 21
    assert found["versions"][0]["commit"] == remote.tip("main")


def test_resolve_says_commit_kind_and_source(rpc, remote):
    found = rpc.data("resolve", repo=REPO)
    assert found["commit"] == remote.tip("main")
    assert (found["kind"], found["source"], found["monitored"]) == ("branch", "observed", True)
    assert found["indexed"] is True


def test_find_and_list_name_files(rpc, remote):
    found = rpc.data("find", repo=REPO, query="*.go")
    assert [file["path"] for file in found["files"]] == ["lib/b.go"]
    listed = rpc.data("list", repo=REPO, first=1, path="lib")
    assert listed["entries"] == [{"path": "lib/b.go", "kind": "file", "size": 10}]
    assert listed["has_more"] is True
    rest = rpc.data("list", repo=REPO, first=1, path="lib", after=listed["next_cursor"])
    assert rest == {
        "commit": remote.tip("main"),
        "entries": [{"path": "lib/sub", "kind": "directory"}],
        "has_more": False,
    }


def test_diff_tells_unchanged_paths_from_mistyped_ones(rpc, remote):
    base = remote.tip("main")
    head = advance(remote, {"a.py": "one\n2\n", "lib/b.go": None, "lib/d.go": "package b\n"})
    page = rpc.data(
        "diff", repo=REPO, base=base, head="main", first=10, paths=["a.py", "lib/sub", "nope"]
    )
    assert (page["base_commit"], page["head_commit"]) == (base, head)
    (change,) = page["changes"]
    assert (change["path"], change["change"]) == ("a.py", "M")
    assert "\n-two\n+2\n" in change["patch"]
    assert page["path_status"] == [
        {"path": "a.py", "base_exists": True, "head_exists": True},
        {"path": "lib/sub", "base_exists": True, "head_exists": True},
        {"path": "nope", "base_exists": False, "head_exists": False},
    ]
    renamed = rpc.data("diff", repo=REPO, base=base, head=head, first=10, renames=True)
    assert {c["path"]: (c["change"], c.get("old_path")) for c in renamed["changes"]} == {
        "a.py": ("M", None),
        "lib/d.go": ("R", "lib/b.go"),
    }
    assert "path_status" not in renamed


def test_log_and_blame_name_the_commits_of_lines(rpc, remote):
    first = remote.tip("main")
    second = advance(remote, {"a.py": "one\n2\n"})
    commits = rpc.data("log", repo=REPO, path="a.py")["commits"]
    assert [row["commit"] for row in commits] == [second, first]
    lines = rpc.data("blame", repo=REPO, path="a.py", start_line=1, end_line=2)["lines"]
    assert [row["commit"] for row in lines] == [first, second]


def test_prepare_gives_the_same_job_for_the_same_key(rpc, service, remote):
    Repository.objects.update(index_history="heads")
    older = remote.tip("main")
    advance(remote, {"a.py": "x\n"})
    from repos.readiness import mark_unindexed

    mark_unindexed(Repository.objects.get().pk, older)
    wanted = {"repo": REPO, "idempotency_key": "key-of-test", "revision": older}
    job = service.data("prepare", **wanted)
    assert (job["state"], job["kind"], job["commit"]) == ("queued", "index", older)
    assert service.data("prepare", **wanted)["job_id"] == job["job_id"]
    found = service.data("availability", repo=REPO, job_id=job["job_id"])
    assert found["jobs"][0]["job_id"] == job["job_id"]
    other = {**wanted, "revision": "main"}
    assert service.error("prepare", **other)["code"] == "IDEMPOTENCY_CONFLICT"
    short = {**wanted, "idempotency_key": "short"}
    assert service.error("prepare", **short)["code"] == "INVALID_IDEMPOTENCY_KEY"


def test_prepare_is_listed_for_keys_of_managers_and_administrators_alone(make_user, remote):
    manager, stranger = make_user("manager"), make_user("stranger")
    Repository.objects.get().managers.add(manager)

    def key(user: User, **fields) -> Actor:
        return Actor(ActorKind.KEY, user.username, user_id=user.pk, key_id=1, **fields)

    assert "prepare" in offered_to(key(manager))
    assert "prepare" in offered_to(key(stranger, site_admin=True))
    assert "prepare" not in offered_to(key(stranger))
    assert "prepare" not in offered_to(key(manager, no_prepare=True))


def test_a_fault_of_ours_shows_nothing_of_itself(rpc, caplog):
    entry = tools()["repositories"]

    def broken(caller, params):
        raise RuntimeError("postgres://user:secret@host")

    faulty = type(entry)(entry.name, "", "", entry.input, broken, read_only=True)
    anonymous = Actor(ActorKind.ANONYMOUS, "anonymous:x")
    result = call_tool(faulty, Caller(anonymous), {})
    text = result["content"][0]["text"]
    assert result["isError"] is True
    assert json.loads(text)["code"] == "DEPENDENCY_UNAVAILABLE"
    assert "secret" not in text
    assert "secret" in caplog.text
