"""POST /api/search over a real repository, end to end."""

import json

import pytest

from repos.work import queue_sync
from tests.support.jobs import run_pending_jobs

pytestmark = pytest.mark.django_db

FILES = {
    "README.md": "# Tools\nneedle one\n",
    "src/main.py": "import os\nneedle two needle\nlast\n",
    "src/crlf.txt": b"\xef\xbb\xbfneedle\r\nother needle\r\n",
    "src/latin.txt": b"caf\xe9 needle\n",
    "bin/data": b"needle\0binary\n",
}


@pytest.fixture
def repo(make_repository):
    return make_repository(files=FILES)


@pytest.fixture
def search(client):
    def call(body, repo="acme/tools", **extra):
        query = "" if repo is None else f"?repo={repo}"
        return client.post(
            f"/sourcegraph/api/search{query}", json.dumps(body), "application/json", **extra
        )

    return call


def names(response) -> list[str]:
    assert response.status_code == 200, response.content
    return [file["FileName"] for file in response.json()["Result"]["Files"]]


def refused(response) -> tuple[int, str]:
    return response.status_code, response.json()["Meta"]["Code"]


def test_an_answer_names_its_commit_and_counts_everything(repo, search):
    _, remote = repo
    body = search({"Pattern": "needle"}).json()
    meta, result = body["Meta"], body["Result"]
    assert meta["Commit"] == remote.tip("main")
    assert meta["Repository"] == "acme/tools"
    assert (meta["Status"], meta["Partial"], meta["Truncated"]) == ("ok", False, False)
    assert (result["FileCount"], result["LineCount"], result["MatchCount"]) == (4, 5, 6)
    assert meta["Coverage"] == {
        "Profile": "text-no-ctags",
        "IndexedDocuments": 4,
        "CompleteRepository": False,
        "IndexMode": "full",
        "Paths": [],
        "Groups": [""],
        "Skipped": {"binary": 1},
        "Symlinks": "not_followed",
        "SymlinkExpansionComplete": True,
        "SymlinkSkipped": {},
    }
    assert result["Duration"] > 0
    assert meta["NextCursor"] is None and meta["HasMore"] is False


def test_lines_are_text_without_line_ends_and_offsets_are_bytes(repo, search):
    files = {f["FileName"]: f for f in search({"Pattern": "needle"}).json()["Result"]["Files"]}
    assert list(files) == sorted(files)
    assert files["src/main.py"]["LineMatches"] == [
        {
            "LineNumber": 2,
            "Line": "needle two needle",
            "Before": [],
            "After": [],
            "LineFragments": [
                {"LineOffset": 0, "MatchLength": 6},
                {"LineOffset": 11, "MatchLength": 6},
            ],
        }
    ]
    assert [m["Line"] for m in files["src/crlf.txt"]["LineMatches"]] == ["needle", "other needle"]
    (latin,) = files["src/latin.txt"]["LineMatches"]
    assert (latin["Line"], latin["Lossy"]) == ("caf\ufffd needle", True)
    assert latin["LineFragments"] == [{"LineOffset": 5, "MatchLength": 6}]


def test_context_files_output_globs_paths_and_language(repo, search):
    (hit,) = search({"Pattern": "two", "Context": 1}).json()["Result"]["Files"]
    assert hit["LineMatches"][0]["Before"] == ["import os"]
    assert hit["LineMatches"][0]["After"] == ["last"]
    assert hit["Language"] == "Python"
    only = search({"Pattern": "needle", "Output": "files"}).json()["Result"]["Files"]
    assert all("LineMatches" not in file for file in only)
    assert names(search({"Pattern": "needle", "Glob": ["*.py"]})) == ["src/main.py"]
    assert names(search({"Pattern": "needle", "Glob": ["!src/**"]})) == ["README.md"]
    assert names(search({"Pattern": "needle", "Paths": ["src"]}))[0] == "src/crlf.txt"
    assert names(search({"Pattern": "needle", "Language": "python"})) == ["src/main.py"]
    assert names(search({"Pattern": "NEEDLE ONE", "IgnoreCase": True})) == ["README.md"]
    assert names(search({"Pattern": "n(e)+dle o"})) == ["README.md"]
    assert names(search({"Pattern": "n(e)+dle o", "FixedStrings": True})) == []


def test_empty_strings_of_the_command_line_are_accepted(repo, search):
    body = {"Revision": "", "Pattern": "needle", "Output": "content", "After": "", "Language": ""}
    assert len(names(search(body))) == 4


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "INVALID_PATTERN"),
        ({"Pattern": "("}, "INVALID_PATTERN"),
        ({"Pattern": "x*"}, "INVALID_PATTERN"),
        ({"Pattern": "(?=a)b"}, "INVALID_PATTERN"),
        ({"Pattern": "a\nb"}, "INVALID_PATTERN"),
        ({"Pattern": "x" * 8193}, "INVALID_PATTERN"),
        ({"Pattern": "a", "Glob": ["*.{ts"]}, "INVALID_GLOB"),
        ({"Pattern": "a", "Glob": ["x"] * 65}, "INVALID_GLOB"),
        ({"Pattern": "a", "Paths": ["../x"]}, "INVALID_PATHS"),
        ({"Pattern": "a", "Output": "lines"}, "INVALID_OUTPUT"),
        ({"Pattern": "a", "Context": 11}, "INVALID_LIMIT"),
        ({"Pattern": "a", "MaxFiles": 0}, "INVALID_LIMIT"),
        ({"Pattern": "a", "MaxMatches": 1001}, "INVALID_LIMIT"),
        ({"Pattern": "a", "After": "nonsense"}, "INVALID_CURSOR"),
        ({"Pattern": "a", "Language": "Klingon"}, "INVALID_REQUEST"),
        ({"Pattern": "a", "pattern": "b"}, "INVALID_REQUEST"),
        ({"Pattern": "a", "Repo": "acme/other"}, "INVALID_REQUEST"),
        ({"Pattern": 7}, "INVALID_REQUEST"),
    ],
)
def test_a_bad_request_is_refused_before_the_repository_is_looked_up(db, search, body, code):
    assert refused(search(body, repo="no/such")) == (400, code)


@pytest.mark.parametrize(
    ("revision", "status", "code"),
    [
        ("abcdef1", 400, "SHORT_SHA_UNSUPPORTED"),
        ("HEAD", 400, "INVALID_REVISION"),
        ("other", 404, "BRANCH_NOT_MONITORED"),
        ("0" * 40, 404, "REVISION_NOT_ELIGIBLE"),
    ],
)
def test_a_revision_is_never_replaced(repo, search, revision, status, code):
    assert refused(search({"Pattern": "x", "Revision": revision})) == (status, code)


def test_hidden_and_absent_look_alike(repo, search):
    record, _ = repo
    absent = search({"Pattern": "x"}, repo="no/such").json()
    record.public_read = False
    record.save()
    hidden = search({"Pattern": "x"}).json()
    for body in (absent, hidden):
        body["Meta"].pop("RequestID")
    assert absent == hidden
    assert absent["Meta"]["Code"] == "REPOSITORY_NOT_FOUND"
    assert refused(search({"Pattern": "x"}, repo="nope")) == (400, "INVALID_REPO")


def test_paging_reaches_every_line_at_the_same_commit(repo, search):
    record, remote = repo
    body = {"Pattern": "needle", "MaxMatches": 1}
    whole = [
        (f["FileName"], m["LineNumber"])
        for f in search({"Pattern": "needle"}).json()["Result"]["Files"]
        for m in f["LineMatches"]
    ]
    commit, seen, cursor = None, [], None
    while True:
        reply = search({**body, "After": cursor} if cursor else body).json()
        commit = commit or reply["Meta"]["Commit"]
        assert reply["Meta"]["Commit"] == commit
        assert reply["Result"]["LineCount"] == len(whole)
        seen += [
            (f["FileName"], m["LineNumber"])
            for f in reply["Result"]["Files"]
            for m in f["LineMatches"]
        ]
        cursor = reply["Meta"]["NextCursor"]
        assert reply["Meta"]["HasMore"] is (cursor is not None)
        if cursor is None:
            break
        if len(seen) == 2:  # the branch moves on; the pages stay where they were
            remote.commit({"README.md": "nothing here\n"})
            queue_sync(record)
            run_pending_jobs()
    assert seen == whole


def test_a_cursor_belongs_to_its_request_and_commit(repo, search):
    _, remote = repo
    cursor = search({"Pattern": "needle", "MaxMatches": 1}).json()["Meta"]["NextCursor"]
    other = search({"Pattern": "needl", "MaxMatches": 1, "After": cursor})
    assert refused(other) == (400, "INVALID_CURSOR")
    pinned = search({"Pattern": "needle", "MaxMatches": 1, "After": cursor, "Revision": "main"})
    assert refused(pinned) == (400, "INVALID_CURSOR")


def test_an_answer_at_a_full_sha_can_be_asked_for_again_cheaply(repo, search):
    record, remote = repo
    body = {"Pattern": "needle", "Revision": remote.tip("main")}
    first = search(body)
    assert first["Cache-Control"] == "private, no-cache"
    again = search(body, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "ETag" not in search({"Pattern": "needle"})
    record.public_read = False
    record.save()
    assert search(body, headers={"If-None-Match": first["ETag"]}).status_code == 404


def test_explain_shows_the_plan_and_what_it_cost(repo, search):
    explain = search({"Pattern": "needle", "Explain": True}).json()["Result"]["Explain"]
    assert explain["Plan"]["Literals"] == ["needle"]
    assert all(step["Duration"] >= 0 for step in explain["Steps"])


def test_a_disabled_repository_says_so_and_its_index_is_not_searched(repo, search):
    record, _ = repo
    record.enabled = False
    record.save()
    assert refused(search({"Pattern": "needle"})) == (403, "REPOSITORY_DISABLED")


def test_old_commits_answer_as_a_checkout_of_them_would(make_repository, search):
    record, remote = make_repository(files={"a.txt": "first version\n", "gone.txt": "version\n"})
    old = remote.tip("main")
    remote.commit({"a.txt": "second version\n", "gone.txt": None})
    queue_sync(record)
    run_pending_jobs()
    assert names(search({"Pattern": "version"})) == ["a.txt"]
    at_old = search({"Pattern": "version", "Revision": old})
    assert names(at_old) == ["a.txt", "gone.txt"]
    assert at_old.json()["Meta"]["Commit"] == old
    assert names(search({"Pattern": "first", "Revision": old})) == ["a.txt"]
    assert names(search({"Pattern": "first"})) == []


def test_the_fast_renderer_equals_the_general_one():
    from search.answer import FileMatch, LineFragment, LineMatch
    from search.render import _files_wire
    from sourcegraph_site.kernel.wire import to_wire

    line = LineMatch(3, "a<b", ["x"], [], [LineFragment(0, 1)], True)
    plain = LineMatch(4, "b", [], ["y"], [LineFragment(0, 1), LineFragment(2, 2)])
    files = [
        FileMatch("a.py", "Python", "0" * 40, line_matches=[line, plain]),
        FileMatch("b", "", "1" * 40, repository="a/b", commit="2" * 40),
    ]
    assert _files_wire(files) == to_wire(files, "pascal")
