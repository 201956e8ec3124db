"""Child processes of the benchmark: what they cost, and servers that are stopped again."""

import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_POLL_SECONDS = 0.03
_START_SECONDS = 120.0


@dataclass(frozen=True)
class Cost:
    """What a command took: wall and processor seconds, and the peak memory of its whole tree."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    output: str


def python(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of this checkout."""
    return [sys.executable, "-m", module, *arguments]


def _tree(pid: int) -> list[int]:
    """A process and its descendants, as far as they are still there."""
    found, new = [pid], [pid]
    while new:
        parent = new.pop()
        try:
            tasks = list(Path(f"/proc/{parent}/task").iterdir())
            children = " ".join((task / "children").read_text() for task in tasks)
        except OSError:
            continue
        new += map(int, children.split())
        found += map(int, children.split())
    return found


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tree_bytes(pid: int) -> int:
    """Memory of a process and its descendants; what they share is counted once (PSS)."""
    total = 0
    for each in _tree(pid):
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024


def run(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Cost:
    """Run a command to its end.

    Raises:
        CalledProcessError: it failed; its errors are in it.
    """
    environment = {**os.environ, **(env or {})}
    began = time.perf_counter()
    child = subprocess.Popen(
        command,
        env=environment,
        cwd=cwd or ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    peak, over = 0, threading.Event()

    def poll() -> None:
        nonlocal peak
        while not over.is_set():
            peak = max(peak, tree_bytes(child.pid))
            over.wait(_POLL_SECONDS)

    poller = threading.Thread(target=poll)
    before = os.times()
    poller.start()
    try:
        output, errors = child.communicate()
    finally:
        over.set()
        poller.join()
    seconds = time.perf_counter() - began
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command, output, errors)
    after = os.times()
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return Cost(seconds, cpu, peak, output)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Service:
    """A server on a port of this machine, spoken to over one keep-alive connection."""

    def __init__(self, command: Sequence[str], port: int, log: Path, env: Mapping[str, str]):
        """Start it, and wait until it listens. Raises OSError if it never does."""
        self.port = port
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                command, env={**os.environ, **env}, cwd=ROOT, stdout=output, stderr=output
            )
        self._client = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                self._client.connect()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    self.stop()
                    raise OSError(f"{command[0]} did not start; see {log}") from None
                time.sleep(0.1)

    def request(self, method: str, path: str, body: bytes = b"") -> tuple[float, bytes]:
        """Milliseconds until the whole answer was there, and the answer.

        Raises:
            OSError: its status is not 200.
        """
        headers = {"Content-Type": "application/json"} if body else {}
        began = time.perf_counter()
        try:
            self._client.request(method, path, body or None, headers)
            response = self._client.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):
            # A server may close an idle connection, and replaces its processes now and then.
            self._client.close()
            began = time.perf_counter()
            self._client.request(method, path, body or None, headers)
            response = self._client.getresponse()
        answer = response.read()
        took = (time.perf_counter() - began) * 1000
        if response.status != 200:
            raise OSError(f"{method} {path}: {response.status} {answer[:300]!r}")
        return took, answer

    @property
    def memory_bytes(self) -> int:
        return tree_bytes(self.process.pid)

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the server's processes so far, in steps of 1/100 s."""
        return sum(map(_cpu_seconds, _tree(self.process.pid)))

    def stop(self) -> None:
        self._client.close()
        self.process.terminate()
        self.process.wait(timeout=60)
