"""The engine's time for each kind of query, beside ripgrep, git grep and Zoekt in the same run.

    .venv/bin/python -m tests.benchmarks.engine git.git kafka.git [--queries linux] [--rounds 15]

Each argument is a bare repository; its HEAD is indexed into a temporary directory. Columns are
medians in milliseconds: the engine for one page of 50 files (its own clock, warm, one thread),
and Zoekt's reported duration for the same page with everything counted, if `zoekt-git-index` and
`zoekt-webserver` are on PATH. `rg` and `git grep` are timed as processes over a checkout and over
the bare repository, with `--peers`. The columns take turns, so that noise of the machine meets
all of them alike.
"""

import argparse
import json
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from search.engine.request import EngineRequest
from search.engine.search import search
from search.globs import compile_globs
from search.index.generation import Generation
from search.index.store import IndexStore
from search.pattern import compile_pattern
from sourcegraph_site.kernel.deadline import Deadline

SHOWN_FILES = 50


@dataclass(frozen=True)
class Query:
    kind: str
    pattern: str
    ignore_case: bool = False
    glob: str = ""

    @property
    def text(self) -> str:
        marks = (" -i" if self.ignore_case else "") + (f" -g {self.glob}" if self.glob else "")
        return self.pattern + marks

    def request(self) -> EngineRequest:
        pattern = compile_pattern(self.pattern, fixed_strings=False, ignore_case=self.ignore_case)
        globs = compile_globs([self.glob] if self.glob else [], [])
        return EngineRequest(pattern, globs, max_files=SHOWN_FILES)

    def zoekt(self) -> str:
        """The same for Zoekt. A glob of the form *.x only."""
        quoted = '"' + self.pattern.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case = "case:no" if self.ignore_case else "case:yes"
        files = f" file:\\{self.glob[1:]}$" if self.glob else ""
        return f"content:{quoted} {case}{files}"

    def rg(self) -> list[str]:
        flags = ["-i"] if self.ignore_case else []
        return ["rg", "-n", "-uu", *flags, *(["-g", self.glob] if self.glob else []), self.pattern]

    def git_grep(self) -> list[str]:
        flags = ["-i"] if self.ignore_case else []
        paths = ["--", self.glob] if self.glob else []
        return ["git", "grep", "-n", "-P", *flags, "-e", self.pattern, "HEAD", *paths]


QUERIES = {
    "git": [
        Query("no hit", "return_nothing_here"),
        Query("rare literal", "xdl_recmatch"),
        Query("literal", "strbuf_addstr"),
        Query("literal, glob", "strbuf_addstr", glob="*.h"),
        Query("alternation", "(xmalloc|xcalloc|xrealloc)"),
        Query("word", r"\bfree\b"),
        Query("common literal", "strbuf"),
        Query("ignore case", "repository", ignore_case=True),
        Query("common literal", "struct object_id"),
        Query("expression", "strbuf_[a-z]+str"),
        Query("anchored expression", r"^static.*oid\("),
        Query("expression, weak literal", "[a-z]+_to_[a-z]+"),
        Query("two characters", "zx"),
        Query("two characters, common", "if"),
        Query("no literal", "[A-Z][0-9]{4}[a-z]"),
    ],
    "kafka": [
        Query("no hit", "return_nothing_here"),
        Query("rare literal", "ThrottledChannelReaper"),
        Query("literal", "KafkaProducer"),
        Query("literal, glob", "KafkaProducer", glob="*.md"),
        Query("alternation", "(TreeMap|LinkedHashMap|IdentityHashMap)"),
        Query("word", r"\bschedule\b"),
        Query("common literal", "topic"),
        Query("ignore case", "partition", ignore_case=True),
        Query("expression", "assert[A-Z][a-z]+Equals"),
        Query("anchored expression", r"^public final class .*Config"),
        Query("expression, weak literal", "[a-z]+To[A-Z][a-z]+"),
        Query("two characters", "zq"),
        Query("two characters, common", "if"),
    ],
    "linux": [
        Query("no hit", "return_nothing_here"),
        Query("rare literal", "xfs_iomap_write_unwritten"),
        Query("literal", "kmalloc_array"),
        Query("literal, glob", "kmalloc_array", glob="*.h"),
        Query("literal", "struct file_operations"),
        Query("ignore case", "kmalloc_array", ignore_case=True),
        Query("common literal", "mutex_lock"),
        Query("word", r"\bschedule\b"),
        Query("expression", "mutex_[a-z]+_lock"),
        Query("alternation", "(kzalloc|kcalloc|kvmalloc)"),
        Query("expression, weak literal", "[a-z]+_to_[a-z]+_unlocked"),
        Query("two characters, common", "if"),
    ],
}


@dataclass
class Row:
    query: Query
    lines: str
    engine: list[float]
    zoekt: list[float]
    rg: list[float]
    git_grep: list[float]


def index(repository: Path, root: Path) -> Generation:
    """Index HEAD; says what it took."""
    commit = subprocess.check_output(
        ["git", "-C", str(repository), "rev-parse", "HEAD"], text=True
    ).strip()
    store = IndexStore(root / "index", repository)
    began = time.perf_counter()
    report = store.index_commit(commit)
    seconds = time.perf_counter() - began
    print(f"\n{repository.name}: {report.new_bytes / 1e6:.0f} MB indexed in {seconds:.1f} s")
    return store.open_generation(commit)


@contextmanager
def zoekt_server(repository: Path, root: Path) -> Iterator[str | None]:
    """The address of a Zoekt that serves this repository, or None if there is none."""
    if not (shutil.which("zoekt-git-index") and shutil.which("zoekt-webserver")):
        yield None
        return
    shards = root / "zoekt"
    subprocess.run(
        ["zoekt-git-index", "-disable_ctags", "-index", str(shards), str(repository)],
        check=True,
        capture_output=True,
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        ["zoekt-webserver", "-index", str(shards), "-rpc", "-listen", f"127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}/api/search"
        for _ in range(100):
            time.sleep(0.1)
            try:
                zoekt_ms(address, Query("", "warm_up"))
                break
            except OSError:
                continue
        yield address
    finally:
        server.terminate()
        server.wait()


def zoekt_ms(address: str, query: Query) -> float:
    """Zoekt's own duration, everything counted."""
    options = {
        "ShardMaxMatchCount": 10_000_000,
        "TotalMaxMatchCount": 10_000_000,
        "MaxDocDisplayCount": SHOWN_FILES,
    }
    body = json.dumps({"Q": query.zoekt(), "Opts": options}).encode()
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(address, body, headers)) as answer:
        return float(json.load(answer)["Result"]["Duration"]) / 1e6


def process_ms(command: list[str], directory: Path) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=directory, stdout=subprocess.DEVNULL, check=False)
    return (time.perf_counter() - began) * 1e3


def measure(
    generation: Generation, queries: list[Query], rounds: int, zoekt: str | None, peers: Path | None
) -> list[Row]:
    rows = []
    for query in queries:
        found = search(generation, query.request(), Deadline.after(60))
        lines = f"{found.counts.lines:,}" + ("+" if found.partial else "")
        rows.append(Row(query, lines, [], [], [], []))
    for number in range(rounds):
        for row in rows:
            # Each is asked twice and timed the second time: warm caches for both.
            for timed in (False, True):
                result = search(generation, row.query.request(), Deadline.after(60))
                if timed:
                    row.engine.append(result.nanoseconds / 1e6)
            for timed in (False, True) if zoekt else ():
                milliseconds = zoekt_ms(zoekt, row.query)
                if timed:
                    row.zoekt.append(milliseconds)
            if peers and number < 3:
                row.rg.append(process_ms(row.query.rg(), peers / "checkout"))
                row.git_grep.append(process_ms(row.query.git_grep(), peers / "bare.git"))
    return rows


def report(rows: list[Row]) -> None:
    head = f"{'query':34} {'kind':26} {'lines':>8} {'engine':>9} {'zoekt':>9} {'ratio':>6}"
    print(f"{head} {'rg':>8} {'git grep':>9}")
    ratios = []
    for row in rows:
        engine = statistics.median(row.engine)
        zoekt = statistics.median(row.zoekt) if row.zoekt else None
        ratio = engine / zoekt if zoekt else None
        if ratio is not None:
            ratios.append(ratio)
        cells = [
            f"{row.query.text:34}",
            f"{row.query.kind:26}",
            f"{row.lines:>8}",
            f"{engine:9.3f}",
            f"{zoekt:9.3f}" if zoekt is not None else " " * 9,
            f"{ratio:6.2f}" if ratio is not None else " " * 6,
            f"{statistics.median(row.rg):8.1f}" if row.rg else "",
            f"{statistics.median(row.git_grep):9.1f}" if row.git_grep else "",
        ]
        print(" ".join(cells))
    if ratios:
        print(f"median ratio {statistics.median(ratios):.2f}, worst {max(ratios):.2f}")


def checkout(repository: Path, root: Path) -> Path:
    """A directory with `checkout`, the files of HEAD, and `bare.git`, the repository."""
    peers = root / "peers"
    (peers / "checkout").mkdir(parents=True)
    (peers / "bare.git").symlink_to(repository.resolve())
    archive = subprocess.run(
        ["git", "-C", str(repository), "archive", "HEAD"], check=True, capture_output=True
    )
    subprocess.run(["tar", "x", "-C", str(peers / "checkout")], input=archive.stdout, check=True)
    return peers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--queries", choices=sorted(QUERIES), help="default: by name, else git")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peers", action="store_true", help="time rg and git grep too")
    options = parser.parse_args()
    for repository in options.repositories:
        name = options.queries or repository.name.removesuffix(".git")
        queries = QUERIES.get(name, QUERIES["git"])
        with tempfile.TemporaryDirectory() as root:
            generation = index(repository, Path(root))
            peers = checkout(repository, Path(root)) if options.peers else None
            with zoekt_server(repository, Path(root)) as zoekt:
                report(measure(generation, queries, options.rounds, zoekt, peers))


if __name__ == "__main__":
    main()
