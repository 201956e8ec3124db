"""Set-up for people to paste, and llms.txt. What runs them is in tests/mcp/clients."""

import json
import tomllib

import pytest

from sourcegraph_site.mcp.registry import tools
from sourcegraph_site.mcp.snippets import clients

KEY = "sgk_" + "k" * 43
URL = "https://code.example/sourcegraph/mcp?plugins=auto"


@pytest.fixture(autouse=True)
def origin(settings):
    settings.ORIGIN = "https://code.example"


def texts(key: str = "") -> dict[str, list[str]]:
    return {client.id: [s.text for s in client.snippets] for client in clients(key)}


def test_without_a_key_nothing_asks_for_one():
    shown = "".join(text for found in texts().values() for text in found)
    assert "Authorization" not in shown
    assert "SOURCEGRAPH_API_TOKEN" not in shown


def test_every_set_up_shows_the_key_or_the_variable_that_holds_it():
    for client, found in texts(KEY).items():
        assert KEY in "".join(found) or client == "vscode", client


def test_files_that_are_shared_never_hold_the_key():
    found = texts(KEY)
    shared = json.loads(found["claude"][1])["mcpServers"]["context-sourcegraph"]
    assert shared["headers"]["Authorization"] == "Bearer ${SOURCEGRAPH_API_TOKEN}"
    editor = json.loads(found["vscode"][0])
    server = editor["servers"]["context-sourcegraph"]
    (asked,) = editor["inputs"]
    assert server["headers"]["Authorization"] == f"Bearer ${{input:{asked['id']}}}"
    assert asked["password"] is True
    assert KEY not in found["claude"][1] + found["vscode"][0] + found["codex"][0]


@pytest.mark.parametrize("key", ["", KEY])
def test_every_file_is_valid_and_names_our_address(key):
    found = texts(key)
    assert json.loads(found["cursor"][0])["mcpServers"]["context-sourcegraph"]["url"] == URL
    assert json.loads(found["gemini"][0])["mcpServers"]["context-sourcegraph"]["httpUrl"] == URL
    assert json.loads(found["vscode"][0])["servers"]["context-sourcegraph"]["url"] == URL
    assert tomllib.loads(found["codex"][0])["mcp_servers"]["context-sourcegraph"]["url"] == URL
    bridge = json.loads(found["claude-desktop"][1])["mcpServers"]["context-sourcegraph"]
    assert URL in bridge["args"]
    assert "https://code.example/sourcegraph'" in found["bash"][0]


def test_llms_txt_tells_tools_syntax_and_set_up(client):
    response = client.get("/sourcegraph/llms.txt", headers={"Accept-Language": "zh-hans"})
    text = response.content.decode()
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert URL in text
    for name in tools():
        assert f"\n- {name}: " in text
    for name in ("Claude Code", "Claude Desktop", "Codex", "Cursor", "VS Code", "Gemini CLI"):
        assert f"\n### {name}\n" in text
    assert "Run in a terminal:" in text
    assert client.post("/sourcegraph/llms.txt").status_code == 405
