"""500 syncs over 20 repositories in one process, indexing and upkeep included: nothing grows,
and no job is lost or done twice."""

import os
import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from repos import work
from repos.gitstore.disk import size_of
from repos.gitstore.layout import index_path
from repos.models import Repository
from repos.revisions import resolve_commit
from repos.usecases.maintain import housekeep
from repos.usecases.schedule_syncs import schedule_due_syncs
from search.index.verify import verify
from search.serving import generation_of, store_of
from search.usecases.collect_indexes import queue_all_upkeep
from sourcegraph_site.jobs import queue, sweep
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from tests.support.jobs import run_pending_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.long]

ROUNDS, REPOSITORIES, WINDOW = 25, 20, 5


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def resident_kib() -> int:
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0])


@pytest.fixture
def claims(monkeypatch):
    """How often each job was begun, and of which kind it is."""
    begun: Counter[int] = Counter()
    kinds: dict[int, str] = {}
    claim = queue.claim

    def counted() -> Job | None:
        job = claim()
        if job is not None:
            begun[job.pk] += 1
            kinds[job.pk] = job.kind
        return job

    monkeypatch.setattr(queue, "claim", counted)
    return begun, kinds


def age_segments() -> None:
    """A segment stays for an hour of real time, whatever nobody needs of it."""
    for storage_key in Repository.objects.values_list("storage_key", flat=True):
        for path in store_of(storage_key).segment_files():
            os.utime(path, (1, 1))


def text(dice: random.Random) -> str:
    return "".join(f"{dice.getrandbits(64):x}\n" for _ in range(200))


def test_five_hundred_syncs_leave_memory_and_descriptors_flat(
    http_remote, register, monkeypatch, claims
):
    dice = random.Random(4)
    names = [f"acme/r{n}" for n in range(REPOSITORIES)]
    remotes = {name: http_remote.repository(name) for name in names}
    for name, remote in remotes.items():
        remote.commit({f"f{n}": text(dice) for n in range(10)})
        register(http_remote.url(name), name, policy={"default_branch": True, "count": WINDOW})
    run_pending_jobs(1000)
    moment = clock.now()
    marks = []
    for _ in range(ROUNDS):
        moment += timedelta(minutes=10)
        monkeypatch.setattr(clock, "now", lambda at=moment: at)
        for name in dice.sample(names, REPOSITORIES // 2):
            remotes[name].commit({f"f{dice.randrange(10)}": text(dice)})
        assert schedule_due_syncs() == REPOSITORIES
        run_pending_jobs(1000)
        for name in names:  # as the searches of people keep indexes open
            repo = Repository.objects.get(name=name)
            assert len(generation_of(repo, resolve_commit(repo, None)).paths) == 10
        age_segments()
        moment += timedelta(minutes=2)
        monkeypatch.setattr(clock, "now", lambda at=moment: at)
        queue_all_upkeep()
        run_pending_jobs(1000)
        housekeep()
        sweep.sweep()
        sweep.expire()
        repos = Repository.objects.all()
        disk = sum(size_of(index_path(repo.storage_key)) for repo in repos)
        marks.append((descriptors(), resident_kib(), disk))
        print(*marks[-1])

    begun, kinds = claims
    assert set(begun.values()) == {1}
    assert Counter(kinds.values())[work.SYNC] == REPOSITORIES * (ROUNDS + 1)
    assert not Job.objects.filter(state__in=["running", "failed"]).exists()
    assert set(Job.objects.filter(state="queued").values_list("kind", flat=True)) <= {
        "search.upkeep"
    }
    for name, remote in remotes.items():
        repo = Repository.objects.get(name=name)
        assert repo.heads.get().commit == remote.tip("main")
        assert repo.versions.filter(indexed=True).count() == repo.versions.count() <= WINDOW
        assert verify(store_of(repo.storage_key)) == []
    middle, last = marks[ROUNDS // 2], marks[-1]
    assert last[0] <= middle[0] + REPOSITORIES
    assert last[1] <= middle[1] * 1.1 + 4096
    assert last[2] <= middle[2] * 1.5
