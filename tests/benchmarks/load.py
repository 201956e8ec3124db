"""Load over HTTP with wrk: keep-alive connections that ask the same thing all the time."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = """\
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [==========[{body}]==========]
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('\\n{{"p50": %d, "p99": %d, "requests": %d, "us": %d, "errors": %d}}\\n',
    latency:percentile(50), latency:percentile(99), summary.requests, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout))
end
"""


@dataclass(frozen=True)
class Load:
    """What so many connections saw of a server."""

    connections: int
    p50_ms: float
    p99_ms: float
    per_second: float
    errors: int


def wrk_installed() -> bool:
    return shutil.which("wrk") is not None


def press(address: str, body: bytes, connections: int, seconds: int, folder: Path) -> Load:
    """Ask with so many connections for so long; one thread of load.

    Raises:
        CalledProcessError: wrk failed.
    """
    script = folder / "wrk.lua"
    script.write_text(_SCRIPT.format(body=body.decode()))
    words = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(script), address]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    said = json.loads(done.stdout.strip().splitlines()[-1])
    return Load(
        connections,
        said["p50"] / 1000,
        said["p99"] / 1000,
        said["requests"] / (said["us"] / 1e6),
        said["errors"],
    )
