"""POST /api/search without a repository: all that the caller may see, each pinned."""

import json

import pytest

from repos.models import Repository
from repos.work import queue_sync
from tests.support.jobs import run_pending_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(make_repository):
    """Three repositories with a word in common; beta has one of its own."""
    return {
        name: make_repository(
            name=f"acme/{name}",
            files={"a.txt": f"shared word\nonly in {name}\n", "b.py": "shared = 1\n"},
        )
        for name in ("gamma", "alpha", "beta")
    }


@pytest.fixture
def search(client):
    def call(body):
        return client.post("/sourcegraph/api/search", json.dumps(body), "application/json")

    return call


def hits(reply) -> list[tuple[str, str]]:
    return [(f["Repository"], f["FileName"]) for f in reply["Result"]["Files"]]


def code(response) -> str:
    return response.json()["Meta"]["Code"]


def test_every_file_names_its_repository_and_commit(three, search):
    reply = search({"Pattern": "shared"}).json()
    assert hits(reply) == [
        (f"acme/{name}", path) for name in ("alpha", "beta", "gamma") for path in ("a.txt", "b.py")
    ]
    tips = {f"acme/{name}": remote.tip("main") for name, (_, remote) in three.items()}
    assert all(f["Commit"] == tips[f["Repository"]] for f in reply["Result"]["Files"])
    rows = reply["Meta"]["Repositories"]
    assert [(r["Repository"], r["Commit"], r["Partial"]) for r in rows] == [
        (name, tips[name], False) for name in sorted(tips)
    ]
    assert rows[0]["Coverage"]["IndexedDocuments"] == 2
    assert reply["Result"]["FileCount"] == 6 and reply["Meta"]["Status"] == "ok"
    assert "Commit" not in reply["Meta"] and "Repository" not in reply["Meta"]


def test_globs_over_names_narrow_it(three, search):
    assert {repo for repo, _ in hits(search({"Pattern": "shared", "Repos": ["*/b*"]}).json())} == {
        "acme/beta"
    }
    reply = search({"Pattern": "shared", "Repos": ["acme/*", "!*/alpha"]}).json()
    assert [r["Repository"] for r in reply["Meta"]["Repositories"]] == ["acme/beta", "acme/gamma"]


def test_a_repository_that_cannot_match_is_not_opened_again_and_still_listed(three, search):
    for _ in range(2):
        reply = search({"Pattern": "only in beta"}).json()
        assert hits(reply) == [("acme/beta", "a.txt")]
        rows = reply["Meta"]["Repositories"]
        assert len(rows) == 3
        assert all(row["Coverage"]["IndexedDocuments"] == 2 for row in rows)


def test_hidden_repositories_leave_no_trace(three, search):
    Repository.objects.filter(name="acme/beta").update(public_read=False)
    response = search({"Pattern": "shared"})
    assert b"beta" not in response.content
    assert response.json()["Result"]["FileCount"] == 4


def test_what_cannot_be_searched_is_listed_with_its_code(three, search):
    Repository.objects.filter(name="acme/alpha").update(enabled=False)
    three["beta"][0].versions.update(indexed=False)
    reply = search({"Pattern": "shared"}).json()
    codes = {r["Repository"]: r.get("Code") for r in reply["Meta"]["Repositories"]}
    assert codes == {
        "acme/alpha": "REPOSITORY_DISABLED",
        "acme/beta": "INDEX_NOT_READY",
        "acme/gamma": None,
    }
    assert {repo for repo, _ in hits(reply)} == {"acme/gamma"}


def test_pages_stay_at_the_commits_of_the_first(three, search):
    whole = hits(search({"Pattern": "shared"}).json())
    body = {"Pattern": "shared", "MaxFiles": 1}
    seen, commits, cursor = [], {}, None
    while True:
        reply = search({**body, "After": cursor} if cursor else body).json()
        assert reply["Result"]["FileCount"] == 6
        seen += hits(reply)
        for row in reply["Meta"]["Repositories"]:
            assert commits.setdefault(row["Repository"], row["Commit"]) == row["Commit"]
        cursor = reply["Meta"]["NextCursor"]
        if cursor is None:
            break
        if len(seen) == 1:  # every branch moves on
            for record, remote in three.values():
                remote.commit({"a.txt": "nothing\n", "b.py": "nothing\n"})
                queue_sync(record)
            run_pending_jobs()
    assert seen == whole


def test_a_revision_is_refused_and_an_empty_name_is_wrong(three, client, search):
    response = search({"Pattern": "x", "Revision": "main"})
    assert (response.status_code, code(response)) == (400, "INVALID_REVISION")
    empty = client.post("/sourcegraph/api/search?repo=", '{"Pattern":"x"}', "application/json")
    assert (empty.status_code, code(empty)) == (400, "INVALID_REPO")
    bad = search({"Pattern": "x", "Repos": ["x"] * 65})
    assert (bad.status_code, code(bad)) == (400, "INVALID_GLOB")
    other = search({"Pattern": "x", "After": "nonsense"})
    assert code(other) == "INVALID_CURSOR"


def test_nothing_registered_is_an_empty_answer(db, search):
    reply = search({"Pattern": "x"}).json()
    assert (reply["Result"]["Files"], reply["Meta"]["Repositories"]) == ([], [])


def test_a_damaged_index_is_that_repositorys_code_and_the_others_answer(three, search):
    from search.serving import forget, store_of

    record, _ = three["beta"]
    root = store_of(record.storage_key).root
    forget(record.storage_key)
    for path in [*(root / "segments").iterdir(), *(root / "generations").iterdir()]:
        path.write_bytes(b"")
    reply = search({"Pattern": "shared"}).json()
    codes = {r["Repository"]: r.get("Code") for r in reply["Meta"]["Repositories"]}
    assert codes["acme/beta"] == "INDEX_CORRUPT"
    assert {repo for repo, _ in hits(reply)} == {"acme/alpha", "acme/gamma"}
