"""Two real Celery workers on PostgreSQL and Redis: the same jobs, killed and stopped workers.

One instance for all tests; each has repositories of its own.
"""

import fcntl
import os
import random
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest
import redis

from tests.ops.instance import Instance, instance, until
from tests.support.git_remote import GitRemote
from tests.support.http_remote import HttpRemote

pytestmark = pytest.mark.servers

STARTS = re.compile(r"Job ([0-9a-f]{32}) \((\S+)\) starts, attempt (\d+)")
WORKERS = ("jobs-1", "jobs-2")

REGISTER = """
from repos.usecases.register_repository import RegisterRepository, register_repository
from sourcegraph_site.jobs import queue
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.inputs import parse
for name, url in {repositories!r}:
    register_repository(OPERATOR, parse(RegisterRepository, {{
        "name": name, "url": url, "policy": {{"default_branch": True, "count": 20}}}}))
queue.ring({bells})
"""
SYNC = """
from repos import work
from repos.models import Repository
from sourcegraph_site.jobs import queue
for repo in Repository.objects.filter(name__in={names!r}):
    work.queue_sync(repo, source="manual")
queue.ring({bells})
"""
SEARCHABLE = """
from django.core.management import call_command
from repos.models import Repository
from repos.revisions import resolve_commit
from search.serving import generation_of
for name, commit in {heads!r}:
    repo = Repository.objects.get(name=name)
    at = resolve_commit(repo, None)
    assert at.commit == commit, (name, at.commit, commit)
    assert len(generation_of(repo, at).paths)
    call_command("doctor", repo=name)
"""


@pytest.fixture(scope="module")
def remote(tmp_path_factory) -> Iterator[HttpRemote]:
    server = HttpRemote(tmp_path_factory.mktemp("served"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def running(remote, tmp_path_factory) -> Iterator[Instance]:
    """An instance on a database of its own."""
    base, _, _ = os.environ["DATABASE_URL"].rpartition("/")
    assert base.startswith("postgres://")
    with psycopg.connect(f"{base}/postgres", autocommit=True) as server:
        server.execute("DROP DATABASE IF EXISTS two_workers")
        server.execute("CREATE DATABASE two_workers")
    broker = os.environ["REDIS_URL"].replace("db=0", "db=2")
    redis.Redis.from_url(broker).flushdb()
    with instance(
        "--no-demo",
        data=tmp_path_factory.mktemp("data"),
        DATABASE_URL=f"{base}/two_workers",
        REDIS_URL=broker,
        SOURCEGRAPH_ALLOWED_REMOTES=remote.origin,
    ) as started:
        yield started


@pytest.fixture(autouse=True)
def no_faults(remote) -> Iterator[None]:
    yield
    remote.hang_seconds, remote.hang_after = 0.0, 0


class Claims:
    """What the workers' logs say has begun since this was made."""

    def __init__(self, running: Instance) -> None:
        self._files = {worker: running.data / "logs" / f"{worker}.log" for worker in WORKERS}
        self._from = {worker: len(self._text(worker)) for worker in WORKERS}

    def _text(self, worker: str) -> str:
        file = self._files[worker]
        return file.read_text() if file.exists() else ""

    def by(self, worker: str) -> list[tuple[str, str, str]]:
        """Job id, kind and attempt of each start."""
        return STARTS.findall(self._text(worker)[self._from[worker] :])

    def all(self) -> list[tuple[str, str, str]]:
        return [start for worker in WORKERS for start in self.by(worker)]

    def worker_of(self, job_id: str) -> str:
        """Who began this job last; waits for the log."""

        def found() -> str:
            return next((w for w in WORKERS if any(s[0] == job_id for s in self.by(w))), "")

        return until(f"the log of {job_id}", found)


def jobs(running: Instance, name: str, kind: str) -> list[dict]:
    return running.rows(
        "SELECT j.* FROM jobs_job j JOIN repos_repository r ON r.id = j.repository_id"
        f" WHERE r.name = '{name}' AND j.kind = '{kind}' ORDER BY j.id"
    )


def settled(running: Instance, names: list[str]) -> None:
    """Wait until every head of these repositories is searchable, and nothing is at work."""
    some = ", ".join(f"'{name}'" for name in names)
    waiting = (
        "SELECT 1 FROM jobs_job j JOIN repos_repository r ON r.id = j.repository_id"
        f" WHERE r.name IN ({some}) AND j.state IN ('queued', 'running')"
        " AND j.kind <> 'search.upkeep'"
    )
    done = (
        "SELECT DISTINCT r.name FROM repos_version v JOIN repos_repository r"
        f" ON r.id = v.repository_id WHERE v.indexed AND r.name IN ({some})"
    )
    until(
        "the end of all work",
        lambda: not running.rows(waiting) and len(running.rows(done)) == len(names),
    )


def register(running: Instance, remote: HttpRemote, names: list[str], bells: int = 1) -> None:
    pairs = [(name, remote.url(name)) for name in names]
    running.run(REGISTER.format(repositories=pairs, bells=bells))


def searchable(running: Instance, remotes: dict[str, GitRemote]) -> None:
    """Every head is the remote's, is served, and the doctor finds nothing."""
    heads = [(name, remote.tip("main")) for name, remote in remotes.items()]
    running.run(SEARCHABLE.format(heads=heads))


class Held:
    """The lock of a repository's index, taken before anybody has built it: builds wait."""

    def __init__(self, running: Instance, name: str) -> None:
        (row,) = until(
            "the repository",
            lambda: running.rows(f"SELECT storage_key FROM repos_repository WHERE name = '{name}'"),
        )
        index = running.data / "repositories" / row["storage_key"] / "index"
        index.mkdir(parents=True, exist_ok=True)
        self._file = (index / "lock").open("w")
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def let_one_build(self) -> None:
        """Whoever waits goes first: take the lock again as soon as nobody has it."""
        fcntl.flock(self._file, fcntl.LOCK_UN)
        time.sleep(0.05)
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def close(self) -> None:
        self._file.close()


def large(seed: int) -> dict[str, str]:
    """Enough text that its indexing takes longer than a moment."""
    dice = random.Random(seed)
    words = [f"{dice.getrandbits(40):x}" for _ in range(50_000)]
    return {f"d{n % 7}/f{n}.txt": "\n".join(dice.choices(words, k=4_000)) for n in range(200)}


def test_each_job_runs_once_however_many_workers_hear_of_it(running, remote):
    names = [f"fight/r{n}" for n in range(12)]
    remotes = {name: remote.repository(name) for name in names}
    for name, one in remotes.items():
        one.commit({"a": name})
    claims = Claims(running)
    register(running, remote, names, bells=60)
    settled(running, names)
    for name, one in remotes.items():
        one.commit({"b": name})
    running.run(SYNC.format(names=names, bells=60))
    settled(running, names)

    begun = Counter(job_id for job_id, _, _ in claims.all())
    assert set(begun.values()) == {1}
    for name in names:
        for kind in ("repos.sync", "search.index"):
            rows = jobs(running, name, kind)
            assert [(r["state"], r["attempt"], r["fence"]) for r in rows] == [
                ("succeeded", 1, 1)
            ] * 2
    assert claims.by("jobs-1") and claims.by("jobs-2")
    searchable(running, remotes)


def caught(claims: Claims, running: Instance, name: str, kind: str, stage: Callable) -> tuple:
    """Wait until a job of this kind is at this stage; the job and the process of its worker."""

    def there() -> dict | None:
        found = [row for row in jobs(running, name, kind) if row["state"] == "running"]
        return found[0] if found and stage(found[0]) else None

    row = until(f"{kind} at work", there)
    worker = claims.worker_of(row["job_id"])
    (pid,) = running.pids(f"{worker}@")
    return row, pid


def taken_over(running: Instance, name: str, kind: str) -> None:
    (row,) = jobs(running, name, kind)
    assert (row["state"], row["attempt"], row["recovery_reason"]) == (
        "succeeded",
        2,
        "LEASE_EXPIRED",
    )


@pytest.mark.parametrize(
    ("stage", "requests"), [("asking", 0), ("negotiating", 3), ("receiving", 4)]
)
def test_a_sync_whose_worker_is_killed_is_finished_by_the_other(running, remote, stage, requests):
    name = f"killed/{stage}"
    one = remote.repository(name)
    one.commit({"a": "1"})
    remote.requests.clear()
    remote.hang_seconds, remote.hang_after = 120, requests
    claims = Claims(running)
    register(running, remote, [name])
    until("the request", lambda: remote.requests.total() > requests)
    _, pid = caught(claims, running, name, "repos.sync", lambda row: True)
    os.kill(pid, signal.SIGKILL)
    remote.hang_seconds = 0
    settled(running, [name])
    taken_over(running, name, "repos.sync")
    searchable(running, {name: one})


@pytest.mark.parametrize("kind", ["search.index", "search.history"])
def test_indexing_whose_worker_is_killed_is_finished_by_the_other(running, remote, kind):
    name = f"killed/{kind}"
    one = remote.repository(name)
    one.commit({"a": "1"})
    one.commit(large(1))
    one.commit({"b": "2"})
    remote.hang_seconds = 5  # of the sync, so that the lock is ours before any index job
    claims = Claims(running)
    register(running, remote, [name])
    waits = {"search.index": "indexing", "search.history": "history"}[kind]
    with closing(Held(running, name)) as held:
        remote.hang_seconds = 0
        if kind == "search.history":
            caught(claims, running, name, "search.index", lambda row: row["progress"].get("phase"))
            held.let_one_build()
        _, pid = caught(
            claims, running, name, kind, lambda row: row["progress"].get("phase") == waits
        )
        os.kill(pid, signal.SIGKILL)
    settled(running, [name])
    taken_over(running, name, kind)
    searchable(running, {name: one})


def test_a_worker_that_stood_still_beyond_its_lease_changes_nothing_any_more(running, remote):
    name = "stopped/one"
    one = remote.repository(name)
    one.commit({"a": "1"})
    remote.requests.clear()
    remote.hang_seconds = 120
    claims = Claims(running)
    register(running, remote, [name])
    until("the request", lambda: remote.requests.total())
    row, pid = caught(claims, running, name, "repos.sync", lambda row: True)
    os.kill(pid, signal.SIGSTOP)
    try:
        remote.hang_seconds = 0
        settled(running, [name])
        taken_over(running, name, "repos.sync")
        before = jobs(running, name, "repos.sync")
    finally:
        os.kill(pid, signal.SIGCONT)
    log = running.data / "logs"
    until(
        "the stopped worker's word",
        lambda: any(
            f"Job {row['job_id']} (repos.sync){end}" in (log / f"{worker}.log").read_text()
            for worker in WORKERS
            for end in (" was cancelled or taken over", ": its worker had lost it")
        ),
    )
    assert jobs(running, name, "repos.sync") == before
    searchable(running, {name: one})
