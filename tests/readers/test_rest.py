"""The routes under /v1/repo: their JSON, their codes and statuses, their ETags."""

import pytest

from sourcegraph_site.kernel.wire import dumps
from tests.support.git_remote import Link, Submodule

READ = {"Path": "a", "StartLine": 1, "EndLine": 9}


def code(response):
    return response.status_code, response.json()["Meta"]["Code"]


def test_read_answers_with_exactly_the_fields_of_the_contract(shelf, post):
    commit = shelf.commit({"a": "one\n", "link": Link("a"), "bad": Link("nope")})
    answer = post("read", shelf.name, READ)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    assert answer["Cache-Control"] == "no-store"
    assert answer.json() == {
        "Path": "a",
        "BlobOID": "5626abf0f72e58d7a153368ba57db4c673c0e171",
        "Commit": commit,
        "Kind": "file",
        "Encoding": "utf-8",
        "Content": "one\n",
        "ReturnedStartLine": 1,
        "ReturnedEndLine": 1,
        "NextStartLine": None,
        "Truncated": False,
        "HasMore": False,
        "IsLFSPointer": False,
    }
    assert post("read", shelf.name, {**READ, "Path": "link"}).json()["Via"] == "link"
    bad = post("read", shelf.name, {**READ, "Path": "bad"}).json()
    assert (bad["FollowError"], bad["Kind"], bad["Content"]) == ("LINK_DANGLING", "symlink", "nope")


def test_list_answers_with_exactly_the_fields_of_the_contract(shelf, post):
    commit = shelf.commit({"d/a": "one\n", "d/l": Link("a"), "d/x": Link("/"), "d/e/f": ""})
    answer = post("list", shelf.name, {"Path": "d", "First": 3, "Revision": ""}).json()
    assert set(answer) == {"Commit", "TreeOID", "Entries", "NextCursor", "HasMoreResults"}
    assert (answer["Commit"], answer["HasMoreResults"]) == (commit, True)
    assert answer["Entries"][0] == {
        "Name": "a",
        "Path": "d/a",
        "Kind": "file",
        "BlobOID": "5626abf0f72e58d7a153368ba57db4c673c0e171",
        "Size": 4,
    }
    assert answer["Entries"][1]["Size"] is None
    assert answer["Entries"][2]["Target"] == "d/a"
    assert answer["Entries"][2]["TargetKind"] == "file"
    again = {"Path": "d", "First": 3, "After": answer["NextCursor"]}
    last = post("list", shelf.name, again).json()
    assert last["Entries"][0]["FollowError"] == "LINK_OUTSIDE_REPOSITORY"
    assert (last["NextCursor"], last["HasMoreResults"]) == (None, False)


def test_diff_log_blame_and_read_many_answer_in_pascal_case(shelf, post):
    old = shelf.commit({"a": "one\n"})
    new = shelf.commit({"b": "one\n", "a": None})
    answer = post("diff", shelf.name, {"Base": old, "Head": new, "First": 9}).json()
    assert set(answer) == {"BaseCommit", "HeadCommit", "Changes", "NextCursor", "HasMoreResults"}
    assert set(answer["Changes"][0]) == {
        *("Path", "ChangeKind", "OldOID", "NewOID", "Binary", "Patch", "PatchTruncated")
    }
    renamed = post(
        "diff", shelf.name, {"Base": old, "Head": new, "First": 9, "Renames": True}
    ).json()["Changes"][0]
    assert (renamed["ChangeKind"], renamed["OldPath"], renamed["Similarity"]) == ("R", "a", 100)

    row = post("log", shelf.name, {"Path": "b"}).json()["Commits"][0]
    assert row == {
        "Commit": new,
        "Parents": [old],
        "AuthorName": "Ada Example",
        "AuthorTime": "2026-01-01T00:02:00Z",
        "CommitterTime": "2026-01-01T00:02:00Z",
        "Subject": "Change",
        "Path": "b",
        "OldPath": "a",
    }
    blamed = post("blame", shelf.name, {"Path": "b", "StartLine": 1, "EndLine": 1}).json()
    assert blamed["Lines"] == [
        {
            "Line": 1,
            "Commit": old,
            "AuthorName": "Ada Example",
            "AuthorTime": "2026-01-01T00:01:00Z",
            "OriginalPath": "a",
            "OriginalLine": 1,
        }
    ]
    many = post("read_many", shelf.name, {"Files": [{"Path": "b"}, {"Path": "a"}]}).json()
    assert many["Items"][0]["File"]["Content"] == "one\n"
    assert many["Items"][1]["Error"]["Code"] == "FILE_NOT_FOUND"


def test_resolve_answers_in_snake_case(shelf, post):
    commit = shelf.commit({"a": ""}, message="Title\n\nBody")
    shelf.git.tag("v1", commit)
    answer = post("resolve", shelf.name, {}).json()
    assert answer == {
        "commit": commit,
        "indexed": False,
        "kind": "branch",
        "source": "observed",
        "monitored": True,
        "ref": "refs/heads/main",
        "committer_time": "2026-02-01T00:00:00Z",
        "created_at": "2026-02-01T00:00:00Z",
        "author": "Ada Example",
        "title": "Title",
        "hint": answer["hint"],
    }
    shelf.repo.versions.update(indexed=True)
    by_sha = post("resolve", shelf.name, {"Revision": commit}).json()
    assert (by_sha["kind"], by_sha["monitored"], by_sha["indexed"]) == ("commit", False, True)
    assert "ref" not in by_sha
    assert "hint" not in by_sha


REFUSALS = [
    ("read", {}, 400, "INVALID_REQUEST"),
    ("read", {"Path": "a"}, 400, "INVALID_LINE_RANGE"),
    ("read", {"path": "a", "StartLine": 1, "EndLine": 1}, 400, "INVALID_REQUEST"),
    ("read", {**READ, "Extra": 1}, 400, "INVALID_REQUEST"),
    ("read", {**READ, "Repo": "x/y"}, 400, "INVALID_REQUEST"),
    ("read", {**READ, "StartLine": "1"}, 400, "INVALID_REQUEST"),
    ("read", {**READ, "StartLine": True}, 400, "INVALID_REQUEST"),
    ("read", {**READ, "Path": "../a"}, 400, "INVALID_PATH"),
    ("read", {**READ, "Path": "nope"}, 404, "FILE_NOT_FOUND"),
    ("read", {**READ, "Path": "d"}, 422, "NOT_A_FILE"),
    ("read", {**READ, "Path": "bin"}, 422, "BINARY_FILE"),
    ("read", {**READ, "Path": "latin"}, 422, "UNSUPPORTED_TEXT_ENCODING"),
    ("read", {**READ, "Path": "wide"}, 422, "FILE_LINE_TOO_LARGE"),
    ("read", {**READ, "Path": "long", "StartLine": 9_000_000, "EndLine": 9_000_000}, 422)
    + ("READ_SCAN_LIMIT",),
    ("read", {**READ, "StartLine": 5}, 416, "LINE_RANGE_NOT_SATISFIABLE"),
    ("read", {**READ, "Path": "loop/x"}, 422, "LINK_LOOP"),
    ("read", {**READ, "Path": "out/x"}, 422, "LINK_OUTSIDE_REPOSITORY"),
    ("read", {**READ, "Path": "dangling/x"}, 422, "LINK_DANGLING"),
    ("read", {**READ, "Path": "tosub/x"}, 422, "LINK_TO_SUBMODULE"),
    ("read", {**READ, "Path": "odd/x"}, 422, "LINK_INVALID_TARGET"),
    ("read", {**READ, "Path": "hop1/x"}, 422, "LINK_DEPTH_EXCEEDED"),
    ("read", {**READ, "Path": "huge/x"}, 422, "LINK_TARGET_TOO_LARGE"),
    ("read", {**READ, "Revision": "f" * 40}, 404, "REVISION_NOT_ELIGIBLE"),
    ("read", {**READ, "Revision": "abcd"}, 400, "SHORT_SHA_UNSUPPORTED"),
    ("read", {**READ, "Revision": "a b"}, 400, "INVALID_REVISION"),
    ("read", {**READ, "Revision": "topic"}, 404, "BRANCH_NOT_MONITORED"),
    ("read_many", {"Files": []}, 400, "INVALID_READ_ITEMS"),
    ("read_many", {"Files": [{"Path": "a", "Nope": 1}]}, 400, "INVALID_REQUEST"),
    ("list", {}, 400, "INVALID_LIMIT"),
    ("list", {"First": 1, "Path": "a"}, 422, "NOT_A_DIRECTORY"),
    ("list", {"First": 1, "After": "x"}, 400, "INVALID_CURSOR"),
    ("list", {"First": 1, "Path": "nope"}, 404, "FILE_NOT_FOUND"),
    ("diff", {"First": 1, "Base": "main"}, 400, "INVALID_REVISION"),
    ("diff", {"First": 0, "Base": "main", "Head": "main"}, 400, "INVALID_LIMIT"),
    ("diff", {"First": 1, "Base": "main", "Head": "main", "Paths": ["/"]}, 400, "INVALID_PATHS"),
    ("log", {"First": 0}, 400, "INVALID_LIMIT"),
    ("blame", {"Path": "a"}, 400, "INVALID_LINE_RANGE"),
]


@pytest.mark.parametrize(("route", "body", "status", "expected"), REFUSALS)
def test_each_refusal_has_its_code_and_status(shelf, post, route, body, status, expected):
    hops = {f"hop{n}": Link(f"hop{n + 1}") for n in range(1, 11)}
    long = "x\n" * (5 << 20) if body.get("Path") == "long" else ""
    shelf.commit(
        {
            "a": "one\n",
            "d/x": "",
            "bin": b"\0",
            "latin": b"caf\xe9\n",
            "wide": "x" * (300 << 10),
            "long": long,
            "sub": Submodule("ab" * 20),
            "loop": Link("loop"),
            "out": Link("/usr"),
            "dangling": Link("nope"),
            "tosub": Link("sub"),
            "odd": Link("a\\b"),
            "huge": Link("x" * 5000),
            **hops,
        }
    )
    assert code(post(route, shelf.name, body)) == (status, expected)


def test_repositories_are_named_in_the_query_string_only(shelf, post, client):
    shelf.commit({"a": "one\n"})
    assert code(post("read", "no/such", READ)) == (404, "REPOSITORY_NOT_FOUND")
    assert code(post("read", "nosuch", READ)) == (400, "INVALID_REPO")
    assert code(post("read", "", READ)) == (400, "INVALID_REPO")
    assert code(post("read", f"{shelf.name}&x=1", READ)) == (400, "INVALID_QUERY_PARAMETERS")
    wrong = client.get(f"/sourcegraph/v1/repo/read?repo={shelf.name}")
    assert code(wrong) == (405, "METHOD_NOT_ALLOWED")
    for body in (b"", b"[]", b'{"Path":"a","Path":"b"}', b"{" * 50, b"\xff", b"x" * 70_000):
        answer = client.post(
            f"/sourcegraph/v1/repo/read?repo={shelf.name}", body, content_type="application/json"
        )
        assert code(answer) == (400, "INVALID_REQUEST")


def test_state_of_the_repository_is_told_in_the_contracts_order(make_shelf, post):
    shelf = make_shelf()
    shelf.commit({"a": "one\n"})
    repo = shelf.repo
    repo.branches = ["main", "master", "new"]
    repo.save()
    assert code(post("read", shelf.name, READ)) == (409, "DEFAULT_BRANCH_UNDETERMINED")
    assert code(post("read", shelf.name, {**READ, "Revision": "new"})) == (
        409,
        "BRANCH_NOT_OBSERVED",
    )
    repo.branches, repo.follows_default = [], True
    repo.save()
    assert code(post("read", shelf.name, READ)) == (409, "DEFAULT_BRANCH_NOT_OBSERVED")
    repo.enabled = False
    repo.save()
    assert code(post("read", shelf.name, READ)) == (403, "REPOSITORY_DISABLED")
    shelf.git_dir.rename(shelf.git_dir.with_name("moved"))
    assert code(post("read", shelf.name, READ)) == (409, "REPOSITORY_STORAGE_MISSING")
    repo.public_read = False
    repo.save()
    assert code(post("read", shelf.name, READ)) == (404, "REPOSITORY_NOT_FOUND")


@pytest.mark.parametrize("route", ["read", "list", "diff"])
def test_an_answer_at_full_shas_can_be_asked_for_again_by_its_etag(shelf, post, route):
    commit = shelf.commit({"a": "one\n"})
    pinned, named = {
        "read": ({**READ, "Revision": commit}, {**READ, "Revision": "main"}),
        "list": ({"First": 9, "Revision": commit}, {"First": 9}),
        "diff": (
            {"First": 9, "Base": commit, "Head": commit},
            {"First": 9, "Base": "main", "Head": commit},
        ),
    }[route]
    first = post(route, shelf.name, pinned)
    assert first["Cache-Control"] == "private, no-cache"
    again = post(route, shelf.name, pinned, **{"If-None-Match": f'"x", W/{first["ETag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    other = post(route, shelf.name, pinned, **{"If-None-Match": '"other"'})
    assert other.content == first.content
    loose = post(route, shelf.name, named, **{"If-None-Match": first["ETag"]})
    assert loose.status_code == 200
    assert "ETag" not in loose
    assert loose["Cache-Control"] == "no-store"


def test_a_matching_etag_never_answers_for_what_may_not_be_read_any_more(shelf, post):
    commit = shelf.commit({"a": "one\n"})
    body = {**READ, "Revision": commit}
    tag = {"If-None-Match": post("read", shelf.name, body)["ETag"]}
    assert post("read", shelf.name, body, **tag).status_code == 304
    shelf.repo.versions.all().delete()
    assert code(post("read", shelf.name, body, **tag)) == (404, "REVISION_NOT_ELIGIBLE")
    shelf.repo.public_read = False
    shelf.repo.save()
    assert code(post("read", shelf.name, body, **tag)) == (404, "REPOSITORY_NOT_FOUND")


def test_markup_in_a_file_stays_inert_in_the_answer(shelf, post):
    shelf.commit({"a": "<script>&\n"})
    answer = post("read", shelf.name, READ)
    assert b"<" not in answer.content
    assert answer.content == dumps(answer.json())
