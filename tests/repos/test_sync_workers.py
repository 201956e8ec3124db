"""Syncs beside each other: cancelled while they wait, and two workers on one repository."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from repos import work
from repos.models import Repository
from repos.usecases.cancel_job import CancelJob, cancel_job
from repos.usecases.register_repository import RegisterRepository, register_repository
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.jobs.run import run_next
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.inputs import parse
from tests.support.http_remote import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def in_threads(count: int, fn: Callable[[], object]) -> list[threading.Thread]:
    def run() -> None:
        try:
            fn()
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_a_cancelled_sync_stops_while_the_remote_hangs(http_remote, register):
    http_remote.repository("acme/widgets").commit({"a": "1"})
    repo = register(http_remote.url("acme/widgets"))
    http_remote.hang_seconds = 120
    [worker] = in_threads(1, run_next)
    wait_until(lambda: http_remote.requests)
    job = Job.objects.get()
    assert job.state == "running"

    cancel_job(OPERATOR, CancelJob(repo=repo.name, job_id=job.job_id))

    worker.join(timeout=30)
    assert not worker.is_alive()
    job.refresh_from_db()
    repo.refresh_from_db()
    assert (job.state, job.error) == ("cancelled", "CANCELLED_BY_USER")
    assert (repo.last_error, repo.observed_at) == ("", None)


def test_workers_on_many_repositories_do_each_sync_once(http_remote, register):
    names = [f"acme/r{n}" for n in range(6)]
    for name in names:
        http_remote.repository(name).commit({"a": name})
        register(http_remote.url(name), name)

    def drain() -> None:
        while run_next() is not None:
            pass

    for thread in in_threads(3, drain):
        thread.join()

    syncs = Job.objects.filter(kind=work.SYNC)
    assert set(syncs.values_list("state", "attempt")) == {("succeeded", 1)}
    assert syncs.count() == len(names)
    assert set(Repository.objects.values_list("state", flat=True)) == {"ready"}


def test_one_registration_sent_twice_at_once_is_one(git_remote):
    url = git_remote().url
    answers = []

    def register_once() -> None:
        fields = {"name": "acme/widgets", "url": url, "policy": {"default_branch": True}}
        params = parse(RegisterRepository, fields)
        answers.append(
            register_repository(OPERATOR, params, idempotency_key="the-same-key").jobs[0].job_id
        )

    for thread in in_threads(4, register_once):
        thread.join()

    assert len(answers) == 4
    assert set(answers) == {Job.objects.get().job_id}
