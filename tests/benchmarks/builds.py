"""What it costs to have an index: time, memory, disk; one commit more, a hundred commits."""

import json
import shutil
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.corpora import Corpus
from tests.benchmarks.processes import Cost, python, run


@dataclass
class Builds:
    """Everything that was built for one corpus. Sizes in bytes."""

    text_bytes: int = 0
    costs: dict[str, list[Cost]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    # One commit of ten changed files: the call itself for us, the process for the peers.
    one_more_seconds: dict[str, float] = field(default_factory=dict)
    history_commits: int = 0
    history_seconds: float = 0.0
    history_bytes: int = 0
    cold_open_seconds: float = 0.0

    def seconds(self, name: str) -> float:
        return statistics.median(cost.seconds for cost in self.costs[name])

    def cpu_seconds(self, name: str) -> float:
        return statistics.median(cost.cpu_seconds for cost in self.costs[name])

    def peak_bytes(self, name: str) -> int:
        return max(cost.peak_bytes for cost in self.costs[name])


def size_of(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


class Builder:
    """Builds the indexes of one corpus, each contestant's in its own place below `folder`."""

    def __init__(self, corpus: Corpus, folder: Path, names: list[str]) -> None:
        self.corpus = corpus
        self.index = folder / "source-graph"
        self.shards = folder / "zoekt"
        self.csearch_index = folder / "csearch" / "index"
        self._history = folder / "history"
        self._names = names
        self.done = Builds()

    def _ours(self, index: Path, *commits: str) -> Cost:
        git_dir = str(self.corpus.git_dir)
        return run(python("tests.benchmarks.index_once", git_dir, str(index), *commits))

    def _zoekt(self, *flags: str) -> Cost:
        words = ["-disable_ctags", *flags, "-index", str(self.shards), str(self.corpus.git_dir)]
        return run(["zoekt-git-index", *words])

    def _csearch(self) -> Cost:
        env = {"CSEARCHINDEX": str(self.csearch_index)}
        return run(["cindex", str(self.corpus.checkout)], env=env)

    def build(self, rounds: int) -> None:
        """Build all from nothing, in turns, so that noise meets all alike."""
        kinds: dict[str, tuple[Path, Callable[[], Cost]]] = {
            "engine": (self.index, lambda: self._ours(self.index)),
            "zoekt": (self.shards, self._zoekt),
            "csearch": (self.csearch_index.parent, self._csearch),
        }
        for _ in range(rounds):
            for name, (place, build) in kinds.items():
                if name not in self._names:
                    continue
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir(parents=True)
                self.done.costs.setdefault(name, []).append(build())
                self.done.sizes[name] = size_of(place)
        if "engine" in self.done.costs:
            self.done.text_bytes = json.loads(self.done.costs["engine"][0].output)["new_bytes"]

    def history(self, count: int) -> None:
        """Make the last `count` commits searchable at once, and open the oldest of them."""
        commits = self.corpus.history(count)
        if len(commits) < 2:
            return
        said = json.loads(self._ours(self._history, *commits).output)
        self.done.history_commits = len(commits)
        self.done.history_seconds = said["seconds"]
        self.done.cold_open_seconds = said["open_seconds"]
        self.done.history_bytes = size_of(self._history)
        shutil.rmtree(self._history)

    def one_more(self) -> None:
        """Commit ten changed files. The last thing to measure: HEAD and checkout move."""
        commit = self.corpus.change_files(10)
        took = self.done.one_more_seconds
        if "engine" in self._names:
            took["engine"] = json.loads(self._ours(self.index, commit).output)["seconds"]
        if "zoekt" in self._names:
            took["zoekt"] = self._zoekt("-delta").seconds
        if "csearch" in self._names:
            took["csearch"] = self._csearch().seconds
