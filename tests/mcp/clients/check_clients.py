"""Other people's clients against a running server; `script/test-mcp` installs and runs them."""

import json
from pathlib import Path

import pytest

from tests.mcp.clients import fixture_tools  # noqa: F401  registers by import

HERE = Path(__file__).resolve().parent


def test_sdk_1_30_lists_calls_and_reads_errors(run, installed, endpoint):
    done = run(installed / "venv/bin/python", HERE / "old_client.py", endpoint)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["version"] == "2025-11-25"
    assert seen["server"] == "context-sourcegraph"
    assert "search" in seen["tools"]
    assert "prepare" not in seen["tools"]
    assert seen["read_only"] is True
    assert "1: needle" in seen["text"]
    assert (seen["is_error"], seen["error"]) == (True, "FILE_NOT_FOUND")


def test_sdk_1_30_with_the_deployment_credential_sees_prepare(
    run, installed, endpoint, service_token
):
    done = run(installed / "venv/bin/python", HERE / "old_client.py", endpoint, service_token)
    assert done.returncode == 0, done.stderr
    assert "prepare" in json.loads(done.stdout)["tools"]


@pytest.mark.parametrize("era", [(), ("--protocol-era", "modern"), ("--protocol-era", "auto")])
def test_the_inspector_lists_and_calls(inspector, era):
    code, listed, problems = inspector("tools/list", *era)
    assert code == 0, problems
    assert {"search", "read"} <= {tool["name"] for tool in listed["tools"]}
    words = ("--tool-name", "search", "--tool-arg", "repo=acme/tools", "pattern=needle")
    code, found, problems = inspector("tools/call", *words, *era)
    assert code == 0, problems
    assert "1: needle" in found["content"][0]["text"]


def test_the_inspector_finds_no_fault_in_the_schemas(inspector):
    code, _, problems = inspector("tools/list", "--strict")
    assert code == 0, problems


def test_the_inspector_sees_an_error_as_a_result(inspector):
    words = ("--tool-name", "read", "--tool-arg", "repo=acme/tools", "path=gone")
    code, found, _ = inspector("tools/call", *words)
    assert code == 5
    assert "FILE_NOT_FOUND" in str(found)


def test_the_inspector_sends_a_key(inspector, service_token):
    header = ("--header", f"Authorization: Bearer {service_token}")
    code, listed, problems = inspector("tools/list", *header, query="?plugins=off")
    assert code == 0, problems
    assert "prepare" in {tool["name"] for tool in listed["tools"]}


def test_the_inspector_is_told_that_a_wrong_key_is_wrong(inspector, service_token):
    code, _, _ = inspector("tools/list", "--header", "Authorization: Bearer " + "x" * 40)
    assert code == 3


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_conformance_suite_fails_only_where_we_offer_nothing(
    run, installed, endpoint, revision
):
    program = installed / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    expected = HERE / "conformance" / f"{revision}.yaml"
    done = run("node", program, "server", "--url", endpoint, "--requirements", revision,
               "--expected-failures", expected)  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
