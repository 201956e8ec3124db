"""Our engine and server beside rg, git grep, csearch and Zoekt, in one run on one machine.

    .venv/bin/python -m tests.benchmarks.compare [REPOSITORY|BUNDLE ...] [--tree DIR]
        [--only NAMES] [--zoekt DIR] [--rounds 7] [--build-rounds 3] [--history 100]
        [--load-seconds 5] [--json FILE]

Without a repository: the bundles of SOURCEGRAPH_CORPORA, or of ../shared/corpora. A --tree is a
directory that is committed as it is, for example Debian's linux-source-6.1, unpacked. --only takes
names of contestants, separated by commas: engine, http, rg, git grep, csearch, zoekt. Zoekt's
programs are looked for on PATH and in --zoekt. Who is absent is named.

Prints Markdown; a ratio is the peer's time by ours, so above 1 we are faster. What is measured and
how is in docs/performance.md. Contestants take turns query by query, so that noise of the machine
meets all of them. Nothing is asserted.
"""

import argparse
import json
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks import source_graph
from tests.benchmarks.builds import Builder
from tests.benchmarks.contestants import (
    PEERS,
    Command,
    Contestant,
    Engine,
    Http,
    Zoekt,
    installed,
    zoekt_server,
)
from tests.benchmarks.corpora import Corpus, default_sources, open_corpus, open_tree
from tests.benchmarks.load import press, wrk_installed
from tests.benchmarks.processes import Service
from tests.benchmarks.queries import Query, read_queries
from tests.benchmarks.report import markdown
from tests.benchmarks.results import Pressed, Results, Row, machine, now, versions

OURS = ("engine", "http")
# Programs that start anew for each query take their time; so many rounds are enough.
SLOW_ROUNDS = 3


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Comparison:
    """One run: servers and corpora live as long as `stack`, below `folder`."""

    def __init__(self, options: argparse.Namespace, folder: Path, stack: ExitStack) -> None:
        self._options, self._folder, self._stack = options, folder, stack
        wanted = options.only or [*OURS, *PEERS]
        self._names = [n for n in wanted if n in OURS or installed(n)]
        absent = [n for n in [*OURS, *PEERS] if n not in self._names]
        if not wrk_installed():
            absent.append("wrk")
        self.results = Results(machine(), now(), os.getloadavg(), absent, versions())
        self._sites: dict[str, Service] = {}

    def run(self, corpora: list[Corpus]) -> None:
        if "http" in self._names:
            self._start_sites(corpora)
        for corpus in corpora:
            self._measure(corpus)
        for name, service in self._sites.items():
            self.results.memory_bytes[name] = service.memory_bytes

    def _start_sites(self, corpora: list[Corpus]) -> None:
        say("our site: registering and indexing")
        env = source_graph.environment(self._folder / "data", self._folder)
        source_graph.prepare(corpora, env)
        for name, cache in (("http", False), ("http again", True)):
            log = self._folder / f"{name}.log"
            self._sites[name] = source_graph.start(env, log, cache=cache)
            self._stack.callback(self._sites[name].stop)

    def _measure(self, corpus: Corpus) -> None:
        say(f"{corpus.name}: building")
        builder = Builder(corpus, self._folder / "indexes" / corpus.name, self._names)
        builder.build(self._options.build_rounds)
        self.results.builds[corpus.name] = builder.done
        zoekt = None
        if "zoekt" in self._names:
            zoekt = zoekt_server(builder.shards, self._folder / "zoekt.log")
        try:
            queries = read_queries(corpus.name)
            self._ask_all(corpus, queries, self._contestants(corpus, builder, zoekt))
            if self._options.load_seconds and wrk_installed():
                self._press_all(corpus, [query for query in queries if query.load], zoekt)
            if zoekt:
                self.results.memory_bytes[f"zoekt, {corpus.name}"] = zoekt.memory_bytes
        finally:
            if zoekt:
                zoekt.stop()
        if "engine" in self._names:
            say(f"{corpus.name}: more commits")
            builder.history(self._options.history)
        builder.one_more()

    def _contestants(
        self, corpus: Corpus, builder: Builder, zoekt: Service | None
    ) -> dict[str, Contestant]:
        makers: dict[str, Contestant] = {}
        if "engine" in self._names:
            makers["engine"] = Engine(builder.index, corpus)
        for name, service in self._sites.items():
            makers[name] = Http(name, service, corpus)
        environments = {
            "rg": {},
            "git grep": corpus.env,
            "csearch": {"CSEARCHINDEX": str(builder.csearch_index)},
        }
        for name, env in environments.items():
            if name in self._names:
                makers[name] = Command(name, corpus, env)
        if zoekt:
            makers["zoekt"] = Zoekt(zoekt)
        return makers

    def _ask_all(
        self, corpus: Corpus, queries: list[Query], contestants: dict[str, Contestant]
    ) -> None:
        say(f"{corpus.name}: {len(queries)} queries, {', '.join(contestants)}")
        for query in queries:
            row = Row(corpus.name, query)
            for name, contestant in contestants.items():
                answer = contestant.check(query)
                row.capped |= answer.capped
                if answer.lines is not None:
                    row.lines[name] = answer.lines
            for number in range(self._options.rounds):
                for contestant in contestants.values():
                    if contestant.slow and number >= SLOW_ROUNDS:
                        continue
                    for column, took in contestant.ask(query).times.items():
                        row.times.setdefault(column, []).append(took)
            self.results.rows.append(row)

    def _press_all(self, corpus: Corpus, queries: list[Query], zoekt: Service | None) -> None:
        path = source_graph.search_path(corpus)
        targets = []
        if self._sites:
            targets += [("http", self._sites["http again"].port, path)]
            targets += [("http uncached", self._sites["http"].port, path)]
        if zoekt:
            targets += [("zoekt http", zoekt.port, "/api/search")]
        for query in queries:
            for connections in (1, 8):
                for name, port, where in targets:
                    say(f"{corpus.name}: load of {query.label}, {name}, {connections}")
                    ours = query.source_graph(corpus.commit)
                    body = query.zoekt() if name == "zoekt http" else ours
                    address = f"http://127.0.0.1:{port}{where}"
                    press(address, body, connections, 1, self._folder)
                    seconds = self._options.load_seconds
                    load = press(address, body, connections, seconds, self._folder)
                    self.results.loads.append(Pressed(corpus.name, query, name, load))


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="compare", description=(__doc__ or "").split("\n")[0], allow_abbrev=False
    )
    parser.add_argument("repositories", nargs="*", type=Path)
    parser.add_argument("--tree", type=Path, action="append", default=[])
    parser.add_argument("--only", type=lambda text: [n.strip() for n in text.split(",")])
    parser.add_argument("--zoekt", type=Path, help="where Zoekt's programs are, if not on PATH")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--build-rounds", type=int, default=3)
    parser.add_argument("--history", type=int, default=100, help="commits to index at once")
    parser.add_argument("--load-seconds", type=int, default=5, help="0: no load")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if unknown := set(options.only or []) - {*OURS, *PEERS}:
        parser.error(f"unknown contestants: {', '.join(sorted(unknown))}")
    if not options.repositories and not options.tree:
        options.repositories = default_sources()
        if not options.repositories:
            parser.error("no bundles found; name a repository, or set SOURCEGRAPH_CORPORA")
    return options


def main(arguments: list[str] | None = None) -> None:
    options = parse_options(arguments)
    if options.zoekt:
        os.environ["PATH"] = f"{options.zoekt.resolve()}{os.pathsep}{os.environ['PATH']}"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="compare-")))
        corpora = [open_corpus(each.resolve(), folder) for each in options.repositories]
        corpora += [open_tree(tree, folder) for tree in options.tree]
        comparison = Comparison(options, folder, stack)
        comparison.run(corpora)
    print(markdown(comparison.results))
    if options.json:
        text = json.dumps(comparison.results.as_json(), indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
