"""Where script/test-mcp has installed the clients, and a server for them."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def installed() -> Path:
    return Path(os.environ["MCP_CLIENTS"])


@pytest.fixture
def run(installed, tmp_path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program of the second environment; its home is a scratch folder."""
    environment = {"PATH": f"{installed}/bin:/usr/bin:/bin", "HOME": str(tmp_path)}

    def start(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return start


@pytest.fixture
def endpoint(transactional_db, make_repository, live_server) -> str:
    make_repository(files={"a.py": "needle\n"})
    return f"{live_server.url}/sourcegraph/mcp"


@pytest.fixture
def inspector(run, installed, endpoint):
    """Call the inspector's command line; gives exit code, JSON of stdout, stderr."""
    program = installed / "node_modules/.bin/mcp-inspector"

    def call(method: str, *words: str, query: str = ""):
        done = run("node", program, "--cli", endpoint + query, "--transport", "http",
                   "--method", method, *words)  # fmt: skip
        try:
            data = json.loads(done.stdout)
        except ValueError:
            data = done.stdout
        return done.returncode, data, done.stderr

    return call
