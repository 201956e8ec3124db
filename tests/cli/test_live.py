"""The program against a real server and a real repository, for programs and for people."""

import json
import subprocess

import pytest

from tests.support.git_remote import Link

REPO = ("-repo", "acme/tools")
FILES = {
    "lib/a.go": "package a\n\nfunc Open() error {\n\treturn Open()\n}\n",
    "lib/b.go": "package b\n// Open\n",
    "evil.txt": "needle \x1b[31mred\x07\u202e\n",
    "link": Link("lib/a.go"),
}


@pytest.fixture
def commit(cli, make_repository) -> str:
    _, remote = make_repository(files=FILES)
    return remote.tip("main")


def test_every_reading_operation_answers_json_when_piped(cli, commit):
    sha = ("-revision", commit)
    assert [row["name"] for row in cli("repositories").data] == ["acme/tools"]
    assert cli("availability", *REPO).data["heads"] == {"main": commit}
    assert cli("resolve", *REPO).data["commit"] == commit
    found = cli("search", *REPO, *sha, r"\bOpen\b", "lib").data
    assert found["Meta"]["Commit"] == commit
    assert [file["FileName"] for file in found["Result"]["Files"]] == ["lib/a.go", "lib/b.go"]
    assert cli("find", *REPO, "b.go").data["Files"][0]["Path"] == "lib/b.go"
    assert cli("read", *REPO, "-path", "lib/b.go").data["Content"] == FILES["lib/b.go"]
    many = cli("read-many", *REPO, "lib/a.go:3", "gone").data["Items"]
    assert many[0]["File"]["ReturnedStartLine"] == 3
    assert many[1]["Error"]["Code"] == "FILE_NOT_FOUND"
    assert [row["Name"] for row in cli("list", *REPO).data["Entries"]][-1] == "link"
    assert cli("diff", *REPO, "-base", commit, "-head", "main").data["Changes"] == []
    assert cli("log", *REPO).data["Commits"][0]["Commit"] == commit
    lines = cli("blame", *REPO, "-path", "lib/b.go").data["Lines"]
    assert {row["Commit"] for row in lines} == {commit}


def test_the_envelope_of_an_error_is_printed_and_the_exit_code_tells(cli, commit):
    done = cli("read", *REPO, "-path", "gone")
    assert done.code == 1
    assert done.data["Meta"]["Code"] == "FILE_NOT_FOUND"


def test_search_on_a_terminal_looks_like_ripgrep(cli, commit):
    done = cli.on_terminal("search", *REPO, "-C", "1", "Open", "lib/a.go")
    assert done.code == 0
    lines = done.out.split("\n")
    assert lines[:5] == [
        "\x1b[35mlib/a.go\x1b[0m",
        "\x1b[32m2\x1b[0m-",
        "\x1b[32m3\x1b[0m:func \x1b[1;31mOpen\x1b[0m() error {",
        "\x1b[32m4\x1b[0m:\treturn \x1b[1;31mOpen\x1b[0m()",
        "\x1b[32m5\x1b[0m-\x1b[2m}\x1b[0m",
    ]
    assert f"1 file, 2 matches in acme/tools at {commit[:12]}" in done.out


@pytest.mark.parametrize(
    "environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {}], ids=["no_color", "dumb", "flag"]
)
def test_colours_can_be_refused(cli, commit, environment):
    words = () if environment else ("-color", "never")
    done = cli.on_terminal("search", *REPO, *words, "Open", **environment)
    assert "\x1b" not in done.out
    assert done.out.startswith("lib/a.go\n3:func Open() error {\n")


def test_text_of_a_repository_cannot_steer_the_terminal(cli, commit):
    for name, *words in (["search", *REPO, "needle"], ["read", *REPO, "-path", "evil.txt"]):
        done = cli.on_terminal(name, "-color", "never", *words)
        assert "<1b>[31mred<07><202e>" in done.out
        assert "\x1b" not in done.out


def test_more_pages_are_hinted_at(cli, commit):
    first = cli.on_terminal("search", *REPO, "-color", "never", "-max-files", "1", "Open")
    cursor = first.out.split("more: repeat with -after ")[1].strip()
    second = cli.on_terminal(
        "search", *REPO, "-color", "never", "-max-files", "1", "-after", cursor, "Open"
    )
    assert second.out.startswith("lib/b.go\n")
    assert "-after" not in second.out


def test_all_repositories_are_searched_without_one(cli, commit, make_repository):
    make_repository("acme/other", files={"x.go": "// Open\n"})
    done = cli.on_terminal("search", "-color", "never", "-repos", "acme/*", "-l", "Open")
    assert done.code == 0
    assert done.out.startswith("acme/other:x.go\nacme/tools:lib/a.go\nacme/tools:lib/b.go\n")
    assert "3 files, " in done.out
    assert "acme/other" not in cli("search", "-repos", "acme/t*", "Open").out


def test_json_can_be_had_on_a_terminal(cli, commit):
    done = cli.on_terminal("resolve", *REPO, "-json")
    assert json.loads(done.out)["commit"] == commit


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["repositories"], "acme/tools  main "),
        (["availability", *REPO], "1 of 1 versions indexed"),
        (["resolve", *REPO], "indexed  yes"),
        (["find", *REPO, "*.go"], "lib/a.go\nlib/b.go\n"),
        (["read", *REPO, "-path", "link"], "lib/a.go (via link) at "),
        (["read-many", *REPO, "lib/b.go:2", "gone"], "FILE_NOT_FOUND: "),
        (["list", *REPO], "lib/\n"),
        (["list", *REPO], "link -> lib/a.go"),
        (["log", *REPO], " Ada Example "),
        (["blame", *REPO, "-path", "lib/b.go"], " Ada Example\n"),
    ],
)
def test_every_operation_has_a_form_for_people(cli, commit, words, shown):
    done = cli.on_terminal(words[0], "-color", "never", *words[1:])
    assert (done.code, done.err) == (0, "")
    assert shown in done.out


def test_an_error_for_people_is_one_line_on_stderr(cli, commit):
    done = cli.on_terminal("read", *REPO, "-path", "gone")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("FILE_NOT_FOUND: ")
    assert done.err.count("\n") == 1


def test_a_missing_index_is_exit_code_3_in_both_forms(cli, commit):
    from repos.models import Repository
    from repos.readiness import mark_unindexed

    mark_unindexed(Repository.objects.get().pk, commit)
    assert cli("search", *REPO, "x").code == 3
    done = cli.on_terminal("search", *REPO, "x")
    assert done.code == 3
    assert done.err.startswith("INDEX_NOT_READY: ")


def test_prepare_is_accepted_for_the_deployment_credential(cli, commit, service_token):
    key = {"SOURCEGRAPH_API_TOKEN": service_token}
    words = ("prepare", *REPO, "-kind", "sync", "-key", "key-of-test")
    first = cli(*words, **key)
    assert (first.code, first.data["state"]) == (3, "queued")
    again = cli.on_terminal(*words, **key)
    assert again.code == 3
    assert first.data["job_id"] in again.out


def test_a_reader_that_has_had_enough_is_no_error(cli, commit):
    words = [*cli.words, "read", *REPO, "-path", "lib/a.go"]
    process = subprocess.Popen(
        words, env=cli.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0
