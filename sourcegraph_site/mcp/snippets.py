"""Ready-to-paste set-up for agents' hosts, shells and plain HTTP.

Used by the Connect page and by llms.txt. Each is checked by running what it configures
(`tests/mcp/clients/check_snippets.py`) where that can be run without an account.
"""

import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

SERVER_NAME = "context-sourcegraph"
KEY_VARIABLE = "SOURCEGRAPH_API_TOKEN"
EXAMPLE = "owner/repository"
Label = Any  # a lazily translated string


@dataclass(frozen=True, slots=True)
class Snippet:
    """One text to paste. `language` is Pygments' name for it; `where` says where it goes."""

    where: Label
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Client:
    """One tab of the Connect page; `id` is its hash in the address."""

    id: str
    name: str
    snippets: tuple[Snippet, ...]


def site_url() -> str:
    """The address of the service, without a slash at its end."""
    return str(settings.ORIGIN) + settings.PREFIX.rstrip("/")


def mcp_url() -> str:
    return site_url() + "/mcp?plugins=auto"


def clients(key: str = "") -> list[Client]:
    """All set-ups. `key` is a key that its owner has just made and wants to see in them; without
    one they read public repositories, or name a variable or a placeholder."""
    return [
        Client(client_id, name, tuple(make(key)))
        for client_id, name, make in (
            ("claude", "Claude Code", _claude_code),
            ("claude-desktop", "Claude Desktop", _claude_desktop),
            ("codex", "Codex", _codex),
            ("cursor", "Cursor", _cursor),
            ("vscode", "VS Code", _vscode),
            ("gemini", "Gemini CLI", _gemini),
            ("bash", "bash", _bash),
            ("http", "HTTP", _http),
        )
    ]


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def _headers(key: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {key}"}} if key else {}


def _shell_header(key: str) -> str:
    return f' --header "Authorization: Bearer {key}"' if key else ""


def _claude_code(key: str) -> list[Snippet]:
    command = f"claude mcp add --transport http {SERVER_NAME} '{mcp_url()}'{_shell_header(key)}\n"
    shared = {
        "mcpServers": {SERVER_NAME: {"type": "http", "url": mcp_url(), **_headers(_shared(key))}}
    }
    return [
        Snippet(_("Run in a terminal"), command, "bash"),
        Snippet(_("Or, for all who work in a repository: .mcp.json"), _json(shared), "json"),
        *_exports(key),
    ]


def _shared(key: str) -> str:
    """A key never goes into a file that is committed: there it is a variable."""
    return "${" + KEY_VARIABLE + "}" if key else ""


def _claude_desktop(key: str) -> list[Snippet]:
    arguments = ["-y", "mcp-remote", mcp_url()]
    environment: dict[str, Any] = {}
    if key:
        # Not written into the arguments: some systems split them at spaces.
        arguments += ["--header", "Authorization:${AUTHORIZATION}"]
        environment = {"env": {"AUTHORIZATION": f"Bearer {key}"}}
    server = {"command": "npx", "args": arguments, **environment}
    return [
        Snippet(_("Settings, Connectors, Add custom connector"), mcp_url() + "\n", "text"),
        Snippet(
            _("Or, through a local bridge: claude_desktop_config.json"),
            _json({"mcpServers": {SERVER_NAME: server}}),
            "json",
        ),
    ]


def _codex(key: str) -> list[Snippet]:
    lines = [f"[mcp_servers.{SERVER_NAME}]", f'url = "{mcp_url()}"']
    if key:
        lines.append(f'bearer_token_env_var = "{KEY_VARIABLE}"')
    return [Snippet(_("~/.codex/config.toml"), "\n".join(lines) + "\n", "toml"), *_exports(key)]


def _exports(key: str) -> list[Snippet]:
    return [Snippet(_("The key, in your shell's profile"), _export(key), "bash")] if key else []


def _export(key: str) -> str:
    return f"export {KEY_VARIABLE}='{key}'\n"


def _cursor(key: str) -> list[Snippet]:
    server = {"url": mcp_url(), **_headers(key)}
    text = _json({"mcpServers": {SERVER_NAME: server}})
    return [Snippet(_("~/.cursor/mcp.json"), text, "json")]


def _vscode(key: str) -> list[Snippet]:
    server: dict[str, Any] = {"type": "http", "url": mcp_url()}
    file: dict[str, Any] = {"servers": {SERVER_NAME: server}}
    if key:
        # Asked for once and kept by the editor, so that the file can be shared.
        server |= _headers("${input:sourcegraph_key}")
        file["inputs"] = [
            {
                "type": "promptString",
                "id": "sourcegraph_key",
                "description": "Key for Source Graph",
                "password": True,
            }
        ]
    return [Snippet(_(".vscode/mcp.json"), _json(file), "json")]


def _gemini(key: str) -> list[Snippet]:
    server = {"httpUrl": mcp_url(), **_headers(key)}
    text = _json({"mcpServers": {SERVER_NAME: server}})
    return [Snippet(_("~/.gemini/settings.json"), text, "json")]


def _bash(key: str) -> list[Snippet]:
    lines = f"export SOURCEGRAPH_URL='{site_url()}'\n" + (_export(key) if key else "")
    example = (
        "sourcegraph-cli repositories\n"
        f"sourcegraph-cli search -repo {EXAMPLE} -g '*.py' 'def main'\n"
        f"sourcegraph-cli read -repo {EXAMPLE} -path README.md -end-line 40\n"
    )
    return [
        Snippet(_("Once in each shell"), lines, "bash"),
        Snippet(_("Then"), example, "bash"),
    ]


def _http(key: str) -> list[Snippet]:
    authorization = f"  -H 'Authorization: Bearer {key}' \\\n" if key else ""
    body = json.dumps({"Pattern": "def main", "Glob": ["*.py"]})
    rest = (
        f"curl -s '{site_url()}/api/search?repo={EXAMPLE}' \\\n"
        f"{authorization}  -H 'Content-Type: application/json' \\\n  -d '{body}'\n"
    )
    call = {"name": "search", "arguments": {"repo": EXAMPLE, "pattern": "def main"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    rpc = (
        f"curl -s '{mcp_url()}' \\\n"
        f"{authorization}  -H 'Content-Type: application/json' \\\n  -d '{message}'\n"
    )
    return [Snippet(_("REST"), rest, "bash"), Snippet(_("MCP without a client"), rpc, "bash")]
