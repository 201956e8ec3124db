"""A real instance: `manage.py serve` in a process of its own, on its own data and port."""

import contextlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.rows import dict_row

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 90.0  # generous: nothing here measures speed
T = TypeVar("T")


def until(what: str, found: Callable[[], T]) -> T:
    """Wait for something true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = found()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"waited in vain for: {what}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def clean_environment(**extra: str) -> dict[str, str]:
    ours = ("SOURCEGRAPH_", "DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")
    env = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return {**env, **extra}


def children_of(pid: int) -> list[int]:
    """The live descendants of a process."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                parents[int(stat.parent.name)] = int(fields[1])
    found, wave = [], {pid}
    while wave:
        wave = {child for child, parent in parents.items() if parent in wave}
        found += sorted(wave)
    return found


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


class Instance:
    def __init__(self, data: Path, *options: str, checkout: Path = ROOT, **env: str) -> None:
        self.data = data
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/sourcegraph/"
        self.env = clean_environment(
            SOURCEGRAPH_MIN_FREE_BYTES="0",
            SOURCEGRAPH_JOB_LEASE_SECONDS="2",
            SOURCEGRAPH_WEB_PROCESSES="1",
            **env,
        )
        self.output = data / "output.txt"
        with self.output.open("ab") as out:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "manage.py",
                    "serve",
                    f"--port={self.port}",
                    f"--data={data}",
                    *options,
                ],
                cwd=checkout,
                env=self.env,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def ready(self) -> "Instance":
        def answers() -> bool:
            assert self.process.poll() is None, "the instance ended"
            return self.ask("readyz")[0] == 200

        until("readyz", answers)
        return self

    def ask(self, path: str, method: str = "GET", body: Any = None) -> tuple[int, Any]:
        """Status and decoded JSON; (0, None) while nobody listens."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as exc:
            return exc.code, json.load(exc)
        except OSError:
            return 0, None

    def text(self) -> str:
        return self.output.read_text()

    def pids(self, word: str) -> list[int]:
        """Direct children whose command line holds `word`."""
        found = []
        for pid in children_of(self.process.pid):
            with contextlib.suppress(OSError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
                if word in command and int(parent) == self.process.pid:
                    found.append(pid)
        return found

    def rows(self, query: str) -> list[dict[str, Any]]:
        if "DATABASE_URL" in self.env:
            with psycopg.connect(self.env["DATABASE_URL"], row_factory=dict_row) as server:
                return server.execute(query).fetchall()
        with contextlib.closing(
            sqlite3.connect(f"file:{self.data}/sourcegraph.db?mode=ro", uri=True, timeout=20)
        ) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute(query)]

    def run(self, code: str) -> None:
        """Run code in the product, as another process of this instance."""
        env = {**self.env, "SOURCEGRAPH_DATA_ROOT": str(self.data)}
        env.setdefault("DJANGO_SETTINGS_MODULE", "sourcegraph_site.settings")
        setup = "import django; django.setup(); "
        subprocess.run([sys.executable, "-c", setup + code], cwd=ROOT, env=env, check=True)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def instance(*options: str, data: Path | None = None, **keywords: Any) -> Iterator[Instance]:
    """An instance that answers; whatever happens, nothing of it is left."""
    with tempfile.TemporaryDirectory(prefix="sg-ops-") as scratch:
        started = Instance(data or Path(scratch), *options, **keywords)
        try:
            yield started.ready()
        except AssertionError as exc:
            raise AssertionError(f"{exc}\n--- output ---\n{started.text()}") from exc
        finally:
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.stop()
            for pid in [*children_of(started.process.pid), started.process.pid]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            started.process.wait()
