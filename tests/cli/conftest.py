"""The real program in its own process, against a running server."""

import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


class Program:
    """Runs the command line with this environment alone: nothing of the developer's."""

    def __init__(self, home: Path, url: str) -> None:
        self.environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "SOURCEGRAPH_URL": url,
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }

    @property
    def words(self) -> list[str]:
        return [sys.executable, "-m", "sourcegraph_site.cli.main"]

    def __call__(self, *arguments: str, stdin: str = "", **environment: str) -> Done:
        done = subprocess.run(
            [*self.words, *arguments],
            input=stdin,
            env={**self.environment, **environment},
            cwd=self.environment["HOME"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def on_terminal(self, *arguments: str, **environment: str) -> Done:
        """With a pseudo-terminal as stdout; stderr stays a pipe."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*self.words, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            env={**self.environment, "TERM": "xterm", **environment},
            cwd=self.environment["HOME"],
        ) as process:
            os.close(theirs)
            parts = []
            while True:
                try:
                    part = os.read(ours, 65_536)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                parts.append(part)
            os.close(ours)
            assert process.stderr is not None
            err = process.stderr.read().decode()
            code = process.wait(timeout=60)
        return Done(code, b"".join(parts).decode().replace("\r\n", "\n"), err)


@pytest.fixture
def program(tmp_path) -> Program:
    """Without a server: what it must refuse, it refuses before it asks."""
    home = tmp_path / "home"
    home.mkdir()
    return Program(home, "http://127.0.0.1:9/sourcegraph")


@pytest.fixture
def cli(program, transactional_db, live_server) -> Program:
    program.environment["SOURCEGRAPH_URL"] = f"{live_server.url}/sourcegraph"
    return program


@pytest.fixture
def http_server():
    """Answer every request with what the test wants; keeps the requests."""
    from tests.support.http_answers import Answers

    server = Answers()
    yield server
    server.stop()
