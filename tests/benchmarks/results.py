"""What a run found: plain data, as `--json` writes it."""

import platform
import statistics
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.benchmarks.builds import Builds
from tests.benchmarks.load import Load
from tests.benchmarks.processes import ROOT
from tests.benchmarks.queries import Query

# (peer, we): how many times our time a peer takes.
PAIRS = (
    ("rg", "engine"),
    ("git grep", "engine"),
    ("csearch", "engine"),
    ("zoekt", "engine"),
    ("rg", "http"),
    ("zoekt http", "http"),
    ("zoekt http", "http again"),
)


@dataclass
class Row:
    """One query at one corpus. `times` in milliseconds; `lines` by contestant, if said."""

    corpus: str
    query: Query
    lines: dict[str, int] = field(default_factory=dict)
    capped: bool = False
    times: dict[str, list[float]] = field(default_factory=dict)

    def ms(self, column: str) -> float | None:
        taken = self.times.get(column)
        return statistics.median(taken) if taken else None

    def ratio(self, peer: str, we: str) -> float | None:
        """The peer's time by ours: above 1 we are faster."""
        theirs, ours = self.ms(peer), self.ms(we)
        return theirs / ours if theirs is not None and ours else None


def ratios(rows: Iterable[Row], peer: str, we: str) -> list[float]:
    found = (row.ratio(peer, we) for row in rows)
    return [ratio for ratio in found if ratio is not None]


@dataclass
class Pressed:
    """Load of one query: `server` is "http" (answers cached), "http uncached" or "zoekt http"."""

    corpus: str
    query: Query
    server: str
    load: Load


@dataclass
class Results:
    """One run."""

    machine: str
    date: str
    load_average: tuple[float, float, float]
    absent: list[str]
    versions: dict[str, str]
    rows: list[Row] = field(default_factory=list)
    builds: dict[str, Builds] = field(default_factory=dict)
    loads: list[Pressed] = field(default_factory=list)
    memory_bytes: dict[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def machine() -> str:
    """Processor, cores and memory, as this system says them."""
    try:
        info = Path("/proc/cpuinfo").read_text()
        processors = info.count("processor\t")
        model = next(
            line.split(":", 1)[1].strip() for line in info.splitlines() if "model name" in line
        )
        total = int(Path("/proc/meminfo").read_text().split()[1]) / (1 << 20)
    except (OSError, StopIteration):
        return platform.platform()
    return f"{model}, {processors} cores, {total:.0f} GiB, Linux {platform.release()}"


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def versions() -> dict[str, str]:
    """First lines of what the programs say of themselves."""
    commands = {
        "source graph": ["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
        "rg": ["rg", "--version"],
        "git": ["git", "--version"],
    }
    found = {"python": platform.python_version()}
    for name, command in commands.items():
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        found[name] = done.stdout.splitlines()[0]
    return found
