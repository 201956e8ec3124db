"""Who is measured. Each answers a query and says what it took, in milliseconds."""

import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from search.engine.request import EngineRequest
from search.engine.search import search
from search.globs import compile_globs
from search.index.store import IndexStore
from search.pattern import compile_pattern
from sourcegraph_site.kernel.deadline import Deadline
from tests.benchmarks.corpora import Corpus
from tests.benchmarks.processes import Service, free_port
from tests.benchmarks.queries import SHOWN_FILES, SHOWN_LINES, Query
from tests.benchmarks.source_graph import search_path

# Longer than the site gives a search, so that a slow query is measured and not cut.
ENGINE_SECONDS = 60

# A contestant's name and what has to be installed for it.
PEERS = {
    "rg": ("rg",),
    "git grep": ("git",),
    "csearch": ("cindex", "csearch"),
    "zoekt": ("zoekt-git-index", "zoekt-webserver"),
}


@dataclass(frozen=True)
class Answer:
    """Milliseconds by column, and the number of lines found, None if that is not said."""

    times: dict[str, float]
    lines: int | None = None
    capped: bool = False


class Contestant(Protocol):
    slow: bool

    def ask(self, query: Query) -> Answer: ...

    def check(self, query: Query) -> Answer:
        """The same once before the clock counts, with the number of lines if it can be had."""


@lru_cache(maxsize=512)
def _request(query: Query) -> EngineRequest:
    pattern = compile_pattern(
        query.pattern, fixed_strings=query.literal, ignore_case=query.ignore_case
    )
    globs = compile_globs([query.glob] if query.glob else [], [])
    return EngineRequest(pattern, globs, max_files=SHOWN_FILES, max_lines=SHOWN_LINES)


class Engine:
    """Our engine by its own clock: one thread of this process."""

    slow = False

    def __init__(self, index: Path, corpus: Corpus) -> None:
        self._store, self._commit = IndexStore(index, corpus.git_dir), corpus.commit

    def ask(self, query: Query) -> Answer:
        generation = self._store.open_generation(self._commit)
        found = search(generation, _request(query), Deadline.after(ENGINE_SECONDS))
        return Answer({"engine": found.nanoseconds / 1e6}, found.counts.lines, found.partial)

    check = ask


class Http:
    """Our server over a keep-alive connection; the answer is read, not parsed."""

    slow = False

    def __init__(self, column: str, service: Service, corpus: Corpus) -> None:
        self._column, self._service, self._corpus = column, service, corpus

    def ask(self, query: Query) -> Answer:
        body = query.source_graph(self._corpus.commit)
        took, _ = self._service.request("POST", search_path(self._corpus), body)
        return Answer({self._column: took})

    def check(self, query: Query) -> Answer:
        body = query.source_graph(self._corpus.commit)
        _, answer = self._service.request("POST", search_path(self._corpus), body)
        found = json.loads(answer)
        return Answer({}, found["Result"]["LineCount"], found["Meta"]["Partial"])


class Command:
    """A program over the checkout, from its start to its end."""

    slow = True

    def __init__(self, name: str, corpus: Corpus, env: dict[str, str]) -> None:
        self._name, self._cwd = name, corpus.checkout
        self._env = {**os.environ, "LC_ALL": "C.UTF-8", **env}

    def _run(self, query: Query, output: int) -> tuple[float, bytes]:
        command = {"rg": query.rg, "git grep": query.git_grep, "csearch": query.csearch}
        began = time.perf_counter()
        done = subprocess.run(
            command[self._name](), cwd=self._cwd, env=self._env, stdout=output, check=False
        )
        took = (time.perf_counter() - began) * 1000
        if done.returncode > 1:
            raise subprocess.CalledProcessError(done.returncode, done.args)
        return took, done.stdout

    def ask(self, query: Query) -> Answer:
        return Answer({self._name: self._run(query, subprocess.DEVNULL)[0]})

    def check(self, query: Query) -> Answer:
        return Answer({}, self._run(query, subprocess.PIPE)[1].count(b"\n"))


class Zoekt:
    """Zoekt's own duration and its time over HTTP, of the same request."""

    slow = False

    def __init__(self, service: Service) -> None:
        self._service = service

    def ask(self, query: Query) -> Answer:
        took, answer = self._service.request("POST", "/api/search", query.zoekt())
        result = json.loads(answer)["Result"]
        return Answer({"zoekt": result["Duration"] / 1e6, "zoekt http": took})

    check = ask


def zoekt_server(shards: Path, log: Path) -> Service:
    port = free_port()
    words = ["zoekt-webserver", "-index", str(shards), "-rpc", "-listen", f"127.0.0.1:{port}"]
    return Service(words, port, log, {})


def installed(name: str) -> bool:
    return all(shutil.which(program) for program in PEERS[name])
