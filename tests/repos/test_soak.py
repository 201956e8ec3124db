"""500 syncs over 20 repositories in one process: nothing grows and no job is lost.

Indexing has a soak of its own; here nobody listens to the syncs.
"""

import os
import random
from datetime import timedelta
from pathlib import Path

import pytest

from repos import work
from repos.models import Repository
from repos.usecases.maintain import housekeep
from repos.usecases.schedule_syncs import schedule_due_syncs
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.events import RepositorySynced, _subscribers
from tests.support.jobs import run_pending_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.long]

ROUNDS, REPOSITORIES = 25, 20


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def resident_kib() -> int:
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0])


def test_five_hundred_syncs_leave_memory_and_descriptors_flat(http_remote, register, monkeypatch):
    monkeypatch.setitem(_subscribers, RepositorySynced, [])
    names = [f"acme/r{n}" for n in range(REPOSITORIES)]
    remotes = {name: http_remote.repository(name) for name in names}
    for name, remote in remotes.items():
        remote.commit({"a": name})
        register(http_remote.url(name), name, policy={"default_branch": True, "count": 5})
    run_pending_jobs(1000)
    dice = random.Random(4)
    moment = clock.now()
    marks = []
    for _ in range(ROUNDS):
        moment += timedelta(minutes=10)
        monkeypatch.setattr(clock, "now", lambda at=moment: at)
        for name in dice.sample(names, 10):
            remotes[name].commit({"a": f"{dice.random()}"})
        assert schedule_due_syncs() == REPOSITORIES
        run_pending_jobs(1000)
        housekeep()
        marks.append((descriptors(), resident_kib()))

    assert not Job.objects.filter(state__in=["queued", "running", "failed"]).exists()
    for name, remote in remotes.items():
        repo = Repository.objects.get(name=name)
        assert repo.heads.get().commit == remote.tip("main")
        assert repo.versions.count() <= 5
    middle, last = marks[ROUNDS // 2], marks[-1]
    assert last[0] <= middle[0] + 3
    assert last[1] <= middle[1] * 1.1 + 4096
    assert work.active_jobs(repo.pk).count() == 0
