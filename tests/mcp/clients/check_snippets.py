"""The snippets of the Connect page, given to the programs that they configure.

None of these needs an account: they only connect, or show what they have understood. The home
of each is a scratch folder.
"""

import json
import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from sourcegraph_site.mcp.snippets import clients

Shell = Callable[..., str]


@pytest.fixture(scope="session")
def agents() -> Path:
    return Path(os.environ["MCP_AGENTS"])


@pytest.fixture
def found(endpoint, live_server, settings, service_token) -> dict[str, list[str]]:
    settings.ORIGIN = live_server.url
    return {c.id: [s.text for s in c.snippets] for c in clients(service_token)}


@pytest.fixture
def warm(service_token, endpoint):
    """One call before those programs that give a server five seconds to answer."""
    from tests.support.mcp import Rpc

    Rpc(token=service_token).tools()


@pytest.fixture
def environment(agents, installed, tmp_path, service_token) -> dict[str, str]:
    # The installer that would link the native program is one of the scripts that we do not run.
    machine = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
    claude = agents / f"node_modules/@anthropic-ai/claude-code-linux-{machine}"
    return {
        "PATH": f"{claude}:{agents}/node_modules/.bin:{installed}/bin:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "SOURCEGRAPH_API_TOKEN": service_token,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


@pytest.fixture
def shell(environment, tmp_path) -> Shell:
    def run(script: str) -> str:
        done = subprocess.run(
            ["bash", "-euc", script],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def test_claude_code_connects_by_the_command(found, shell, warm):
    shell(found["claude"][0])
    assert "✔ Connected" in shell("claude mcp get context-sourcegraph")


def test_claude_code_understands_the_shared_file(found, shell, live_server, tmp_path):
    (tmp_path / ".mcp.json").write_text(found["claude"][1])
    listed = shell("claude mcp list")
    assert f"{live_server.url}/sourcegraph/mcp?plugins=auto (HTTP) - ⏸ Pending approval" in listed


def test_codex_understands_its_file(found, shell, live_server, tmp_path):
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text(found["codex"][0])
    listed = shell("codex mcp list --json 2>/dev/null")
    (server,) = json.loads(listed)
    assert server["transport"]["type"] == "streamable_http"
    assert server["transport"]["url"] == f"{live_server.url}/sourcegraph/mcp?plugins=auto"
    assert server["auth_status"] == "bearer_token"


def test_gemini_cli_connects_by_its_file(found, shell, warm, tmp_path):
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini/settings.json").write_text(found["gemini"][0])
    trusted = json.dumps({str(tmp_path): "TRUST_FOLDER"})
    (tmp_path / ".gemini/trustedFolders.json").write_text(trusted)
    assert "- Connected" in shell("gemini mcp list")


def test_the_bridge_of_claude_desktop_reaches_us(found, environment, agents):
    server = json.loads(found["claude-desktop"][1])["mcpServers"]["context-sourcegraph"]
    words = [word for word in server["args"] if word != "-y"]  # npx would ask the registry
    parameters = StdioServerParameters(
        command=str(agents / "node_modules/.bin" / words[0]),
        args=words[1:],
        env={**environment, **server["env"]},
    )

    async def listed() -> list[str]:
        async with Client(stdio_client(parameters), mode="legacy") as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert {"search", "prepare"} <= set(anyio.run(listed))


def test_the_shell_snippets_run(found, shell, tmp_path):
    root = Path(__file__).resolve().parents[3]
    program = tmp_path / "sourcegraph-cli"
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH={root} exec {root}/.venv/bin/python"
        ' -m sourcegraph_site.cli.main "$@"\n'
    )
    program.chmod(0o755)
    commands = found["bash"][1].replace("owner/repository", "acme/tools")
    commands = commands.replace("README.md", "a.py")
    shown = shell(f"PATH=$HOME:$PATH\n{found['bash'][0]}{commands}")
    assert '"name":"acme/tools"' in shown
    assert '"Content":"needle' in shown


def test_the_http_snippets_run(found, shell):
    rest, rpc = (text.replace("owner/repository", "acme/tools") for text in found["http"])
    assert json.loads(shell(rest))["Meta"]["Status"] == "ok"
    assert "No match was found" in json.loads(shell(rpc))["result"]["content"][0]["text"]
