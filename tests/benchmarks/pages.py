"""What the website's large pages cost: time of the server, and size of the HTML.

    .venv/bin/python -m tests.benchmarks.pages [REPOSITORY|BUNDLE] [--pattern return] [--rounds 40]

The search page with 100 files and the reader with a 2,000-line file, from the real server over
one keep-alive connection. Without a repository, one is made that has just these. "Warm" is
the median of the rounds; "CPU" is what the server's processes used for one of them, which a busy
machine disturbs least; "first" is the first time that a new server shows this page.

Targets: search page for 100 files under 25 ms and 400 kB; reader of 2,000 lines under 20 ms warm.
"""

import argparse
import statistics
import tempfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from tests.benchmarks import source_graph
from tests.benchmarks.corpora import Corpus, git, open_corpus
from tests.benchmarks.processes import Service
from tests.benchmarks.report import number, table

LINES = 2_000
# A new server still loads what only MCP needs.
SETTLING_SECONDS = 5


@dataclass(frozen=True)
class Page:
    """A page; `unit` is what its HTML has once for each thing that `counts` are of."""

    name: str
    address: str
    unit: bytes
    things: str


def made_repository(folder: Path) -> Path:
    """120 files with matches, one of them of 2,000 lines."""
    from tests.support.git_remote import Content, GitRemote

    remote = GitRemote(folder / "made.git")
    part = "def name_{n}(value):\n    if value:\n        return {n}\n    print({n})\n\n"
    files: dict[str | bytes, Content] = {
        f"package/module_{n}.py": "".join(part.format(n=n * 10 + k) for k in range(5))
        for n in range(120)
    }
    files["package/x_large.py"] = "".join(part.format(n=n) for n in range(LINES // 5))
    remote.commit(files)
    return remote.path


def file_of_lines(corpus: Corpus) -> tuple[str, int]:
    """The path of the text file whose length is nearest to 2,000 lines, and its lines."""

    def lengths() -> Iterator[tuple[int, str]]:
        empty = git(corpus.git_dir, "hash-object", "-t", "tree", "/dev/null").strip()
        rows = git(corpus.git_dir, "diff", "--numstat", "-z", "--no-renames", empty, corpus.commit)
        for row in rows.split("\0"):
            added, _, rest = row.partition("\t")
            if added.isdigit():
                yield int(added), rest.partition("\t")[2]

    count, path = min(lengths(), key=lambda found: abs(found[0] - LINES))
    return path, count


def pages(corpus: Corpus, pattern: str) -> list[Page]:
    repo, commit = source_graph.name_of(corpus), corpus.commit
    path, count = file_of_lines(corpus)
    search = urlencode({"repo": repo, "pattern": pattern, "commit": commit})
    reader = {"repo": repo, "path": path, "commit": commit}
    whole = reader | {"from": "1", "to": str(count)}
    found = urlencode(whole | {"pattern": pattern})
    line, card = b'<div class="line', b'<article class="hit"'
    return [
        Page(f"search, {pattern}", f"/sourcegraph/?{search}", card, "files"),
        Page("reader", f"/sourcegraph/code?{urlencode(whole)}", line, "lines"),
        Page("reader, with matches marked", f"/sourcegraph/code?{found}", line, "lines"),
    ]


def measure(service: Service, page: Page, rounds: int) -> list[str]:
    first, html = service.request("GET", page.address)
    before = service.cpu_seconds
    times = [service.request("GET", page.address)[0] for _ in range(rounds)]
    cpu = (service.cpu_seconds - before) / rounds
    return [
        page.name,
        f"{html.count(page.unit)} {page.things}",
        number(first, " ms"),
        number(statistics.median(times), " ms"),
        number(cpu * 1000, " ms"),
        f"{len(html) / 1000:.0f} kB",
        f"{len(zlib.compress(html, 6)) / 1000:.0f} kB",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("--pattern", default="return")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pages-") as scratch:
        folder = Path(scratch)
        source = options.repository or made_repository(folder / "made")
        corpus = open_corpus(source.resolve(), folder)
        env = source_graph.environment(folder / "data", folder)
        source_graph.prepare([corpus], env)
        service = source_graph.start(env, folder / "log")
        try:
            # Loads what every page needs.
            service.request("GET", "/sourcegraph/")
            time.sleep(SETTLING_SECONDS)
            rows = [
                measure(service, page, options.rounds) for page in pages(corpus, options.pattern)
            ]
        finally:
            service.stop()
    print(
        "\n".join(
            table(["page", "shows", "first", "warm", "CPU", "HTML", "deflated"], rows, left=2)
        )
    )


if __name__ == "__main__":
    main()
