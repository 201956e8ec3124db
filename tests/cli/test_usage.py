"""Flags, configuration, help and completion: no server is asked."""

import subprocess
import sys

import pytest

from sourcegraph_site.cli.operations import OPERATIONS


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nope"],
        ["search", "-repo", "a/b"],
        ["search", "-nope", "x"],
        ["search", "-repo"],
        ["search", "---F", "x"],
        ["search", "-i=maybe", "x"],
        ["read", "-repo", "a/b"],
        ["read", "-path", "a.py"],
        ["read", "-repo", "a/b", "-path", "x", "-start-line", "one"],
        ["read", "-repo", "a/b", "-path", "x", "extra"],
        ["read-many", "-repo", "a/b"],
        ["diff", "-repo", "a/b", "-base", "x"],
        ["find", "-repo", "a/b"],
        ["completion"],
        ["completion", "csh"],
    ],
)
def test_a_wrong_command_line_is_exit_code_2(program, words):
    done = program(*words)
    assert done.code == 2
    assert done.err and not done.out


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/sourcegraph",
        "http://10.0.0.1",
        "http://127.0.0.1.example.org",
        "ftp://localhost",
        "https://user@example.org",
        "https://user:pw@example.org",
        "https://example.org/?q=1",
        "https://example.org/?",
        "https://example.org/#x",
        "https://",
        "https://example.org:port",
        "example.org",
    ],
)
def test_a_url_that_is_not_safe_is_refused(program, url):
    done = program("repositories", SOURCEGRAPH_URL=url)
    assert (done.code, done.out) == (2, "")
    assert "SOURCEGRAPH_URL" in done.err
    assert "pw" not in done.err


@pytest.mark.parametrize("url", ["http://localhost:9", "http://127.1.2.3:9/x", "http://[::1]:9"])
def test_http_is_for_this_machine(program, url):
    assert program("repositories", SOURCEGRAPH_URL=url).code == 1


@pytest.mark.parametrize("token", ["short", "x" * 31, "x" * 40 + "\n", "é" * 40])
def test_a_token_that_cannot_be_one_is_refused(program, token):
    done = program("repositories", SOURCEGRAPH_API_TOKEN=token)
    assert done.code == 2
    assert token.strip() not in done.err


def test_flags_of_another_operation_are_reported_and_do_no_harm(program, http_server):
    program.environment["SOURCEGRAPH_URL"] = http_server.url
    done = program("search", "-repo", "a/b", "-first", "5", "x")
    assert done.code == 0
    assert "-first has no effect on search" in done.err
    assert b"First" not in http_server.asked[0].body


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_operation_explains_its_flags(program, name):
    done = program(name, "-h")
    assert done.code == 0
    for flag in OPERATIONS[name].flags:
        assert f"  -{flag.name}" in done.out
    assert program("help", name).out == done.out


def test_the_overview_names_every_operation(program):
    done = program("-help")
    assert done.code == 0
    for name in OPERATIONS:
        assert f"\n  {name} " in done.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_operation_and_its_flags(program, shell):
    script = program("completion", shell).out
    for name, operation in OPERATIONS.items():
        assert name in script
        for flag in operation.flags:
            assert flag.name in script


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("sourcegraph-cli res", ["resolve"]),
        ("sourcegraph-cli read -st", ["-start-line"]),
        ("sourcegraph-cli prepare -kind s", ["sync"]),
        ("sourcegraph-cli completion f", ["fish"]),
    ],
)
def test_bash_completes_what_is_typed(program, typed, expected):
    script = program("completion", "bash").out
    words = typed.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    ask = (
        f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n"
        '_sourcegraph_cli; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == expected


def test_neither_django_nor_the_server_is_imported():
    code = """
import sys
import sourcegraph_site.cli.main
ours = {name for name in sys.modules if name.startswith("sourcegraph_site.")}
assert all(name.startswith("sourcegraph_site.cli") for name in ours), ours
foreign = {name.split(".")[0] for name in sys.modules} & {"django", "pydantic", "mcp", "celery"}
assert not foreign, foreign
"""
    subprocess.run([sys.executable, "-c", code], check=True)
