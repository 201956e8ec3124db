"""What a tool call costs: latency for one keep-alive client, and CPU time of the server.

    .venv/bin/python -m tests.benchmarks.mcp [REPOSITORY] [--calls 2000] [--pattern TEXT]

REPOSITORY is a Git repository on this machine, for example a 50 MB one; without it, a small
one is made. The server is the real one (gunicorn, one process) on a private data directory;
the first run indexes, later ones with the same --data reuse what is there.

Targets: a trivial call p50 under 4 ms and at most 2.5 ms of CPU; a search p50 under 6 ms.
"""

import argparse
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

STATELESS = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}
NAME = "bench/repository"
WARM = 200


def prepare(data: Path, repository: Path) -> None:
    """Migrate, register, sync and index, in this process."""
    import django

    django.setup()
    from django.core.management import call_command

    from repos.models import Repository
    from repos.usecases.register_repository import RegisterRepository, register_repository
    from sourcegraph_site.kernel.actor import OPERATOR
    from sourcegraph_site.kernel.inputs import parse
    from tests.support.jobs import run_pending_jobs

    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    if not Repository.objects.filter(name=NAME).exists():
        policy = {"default_branch": True, "count": 1}
        fields = {"name": NAME, "url": repository.resolve().as_uri(), "policy": policy}
        register_repository(OPERATOR, parse(RegisterRepository, fields))
    started = time.perf_counter()
    run_pending_jobs()
    print(f"synced and indexed in {time.perf_counter() - started:.1f} s")


def small_repository(folder: Path) -> Path:
    from tests.support.git_remote import GitRemote

    remote = GitRemote(folder / "small.git")
    remote.commit({f"src/{n}.py": f"def name_{n}():\n    return {n}\n" for n in range(500)})
    return remote.path


class Server:
    """Gunicorn as production runs it, but for one web process."""

    def __init__(self, data: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = ["-m", "gunicorn", "--config=python:sourcegraph_site.webserver"]
        self.process = subprocess.Popen(
            [sys.executable, *words, "sourcegraph_site.wsgi:application"],
            env={
                **os.environ,
                "SOURCEGRAPH_LISTEN": f"127.0.0.1:{self.port}",
                "SOURCEGRAPH_WEB_PROCESSES": "1",
            },
        )
        self.client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        for _ in range(300):
            try:
                self.client.connect()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("the server did not start")

    def cpu_seconds(self) -> float:
        """User and system time of the web processes so far."""
        ticks = os.sysconf("SC_CLK_TCK")
        total = 0
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        for pid in children.split():
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total / ticks

    def stop(self) -> None:
        self.client.close()
        self.process.terminate()
        self.process.wait(timeout=30)

    def call(self, tool: str, arguments: dict[str, Any], *, stateless: bool) -> str:
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if stateless:
            params["_meta"] = META
            headers |= {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/call"}
            headers["Mcp-Name"] = tool
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self.client.request("POST", "/sourcegraph/mcp", json.dumps(message), headers)
        body = json.loads(self.client.getresponse().read())
        if "result" not in body or body["result"].get("isError"):
            raise SystemExit(f"{tool} failed: {body}")
        text: str = body["result"]["content"][0]["text"]
        return text


def measure(server: Server, name: str, tool: str, arguments: dict[str, Any], calls: int) -> None:
    for era, stateless in (("handshake", False), ("stateless", True)):
        for _ in range(WARM):
            server.call(tool, arguments, stateless=stateless)
        times, cpu = [], server.cpu_seconds()
        for _ in range(calls):
            started = time.perf_counter()
            server.call(tool, arguments, stateless=stateless)
            times.append((time.perf_counter() - started) * 1000)
        cpu = (server.cpu_seconds() - cpu) * 1000 / calls
        times.sort()
        p99 = times[int(len(times) * 0.99)]
        print(
            f"{name:<22}{era:<11}p50 {statistics.median(times):6.2f} ms   p99 {p99:6.2f} ms"
            f"   CPU {cpu:5.2f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--pattern", default="return")
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        data = (options.data or Path(scratch) / "data").resolve()
        data.mkdir(parents=True, exist_ok=True)
        repository = options.repository or small_repository(Path(scratch))
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "sourcegraph_site.settings",
            "SOURCEGRAPH_DATA_ROOT": str(data),
            "SOURCEGRAPH_LOCAL_REMOTES": str(repository.resolve().parent),
            "SOURCEGRAPH_ANONYMOUS_PER_CLIENT": "0",
            "SOURCEGRAPH_ANONYMOUS_TOTAL": "0",
            "SOURCEGRAPH_MIN_FREE_BYTES": "0",
            "SOURCEGRAPH_LOG_LEVEL": "WARNING",
        }
        prepare(data, repository)
        server = Server(data)
        try:
            started = time.perf_counter()
            server.call("list", {"repo": NAME, "first": 1}, stateless=True)
            print(f"the first call took {(time.perf_counter() - started) * 1000:.0f} ms")
            measure(server, "list, one entry", "list", {"repo": NAME, "first": 1}, options.calls)
            search = {"repo": NAME, "pattern": options.pattern}
            measure(server, f"search {options.pattern}"[:20], "search", search, options.calls)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
