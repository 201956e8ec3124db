import threading

import pytest

from sourcegraph_site.jobs import lifeline, queue, sweep
from sourcegraph_site.jobs.errors import CancelledByUser, StaleWorker
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.jobs.run import run_next
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.errors import NotFound
from tests.support.jobs import run_pending_jobs

pytestmark = pytest.mark.django_db


def test_a_job_ends_with_what_its_handler_returned(handler):
    queue.enqueue_once(handler(lambda handle: {"files": 3}), identity="a")
    (job,) = run_pending_jobs()
    assert (job.state, job.result, job.stage) == ("succeeded", {"files": 3}, "complete")
    assert job.finished_at is not None and job.lease_until is None


def test_jobs_that_a_job_queues_are_run_too(handler):
    kind = handler()
    parent = handler(lambda handle: queue.enqueue_once(kind, identity="child")[0] and None)
    queue.enqueue_once(parent, identity="parent")
    assert [job.identity for job in run_pending_jobs()] == ["parent", "child"]


def test_a_known_error_gives_its_code_and_an_unknown_one_gives_none_of_its_text(handler, caplog):
    def known(handle):
        raise NotFound("The remote has no such branch.")

    def unknown(handle):
        raise RuntimeError("secret detail")

    queue.enqueue_once(handler(known), identity="a")
    queue.enqueue_once(handler(unknown), identity="b")
    first, second = run_pending_jobs()
    assert (first.error, first.error_message) == ("NOT_FOUND", "The remote has no such branch.")
    assert second.error == "PREPARATION_FAILED"
    assert "secret" not in second.error_message
    assert "secret detail" in caplog.text


def test_a_kind_that_this_release_does_not_know_fails_the_job(handler):
    queue.enqueue_once("test.gone", identity="a", time_limit_seconds=5)
    (job,) = run_pending_jobs()
    assert job.error == "PREPARATION_FAILED"


def test_progress_is_in_the_row_while_the_handler_runs(handler):
    seen = []

    def work(handle):
        handle.progress("preparing", phase="receiving", done=1, total=2)
        handle.progress("preparing", phase="receiving", done=2, total=2)  # throttled
        handle.progress("indexing", phase="files", done=7, total=9)
        row = Job.objects.get()
        seen.append((row.stage, row.progress))

    queue.enqueue_once(handler(work), identity="a")
    run_pending_jobs()
    assert seen == [("indexing", {"phase": "files", "done": 7, "total": 9})]


def test_a_cancelled_job_stops_its_handler_at_the_next_look(handler, monkeypatch):
    monkeypatch.setattr("sourcegraph_site.jobs.handle.CHECK_SECONDS", 0)
    reached = []

    def work(handle):
        queue.cancel(Job.objects.all(), error=CancelledByUser("By hand."))
        handle.check_cancelled()
        reached.append("after")

    queue.enqueue_once(handler(work), identity="a")
    (job,) = run_pending_jobs()
    assert (job.state, reached) == ("cancelled", [])


def test_a_worker_that_lost_its_job_cannot_confirm_and_changes_nothing(handler):
    def work(handle):
        Job.objects.update(fence=99)
        with pytest.raises(StaleWorker):
            handle.confirm()

    queue.enqueue_once(handler(work), identity="a")
    (job,) = run_pending_jobs()
    assert job.state == "running"


def test_a_job_that_found_nothing_to_do_leaves_no_row(handler):
    queue.enqueue_once(handler(lambda handle: handle.discard_when_done()), identity="a")
    assert run_pending_jobs() == []
    assert not Job.objects.exists()


def test_a_stopping_worker_claims_nothing_and_gives_back_what_it_has(handler, monkeypatch):
    queue.enqueue_once(handler(lambda handle: handle.check_cancelled()), identity="a")
    answers = iter([False, True])
    monkeypatch.setattr(lifeline, "stopping", lambda: next(answers))
    run_next(watch=False)
    job = Job.objects.get()
    assert (job.state, job.stage, job.attempt) == ("queued", "interrupted", 0)
    monkeypatch.setattr(lifeline, "stopping", lambda: True)
    assert run_next(watch=False) is None


@pytest.mark.django_db(transaction=True)
def test_a_handler_that_outstays_its_limit_is_stopped(handler):
    forever = threading.Event()
    queue.enqueue_once(handler(lambda handle: forever.wait(60), time_limit_seconds=1), identity="a")
    run_next()
    job = Job.objects.get()
    assert (job.state, job.error) == ("failed", "PREPARATION_TIMEOUT")


@pytest.mark.django_db(transaction=True)
def test_a_lease_is_renewed_while_its_handler_works(handler, settings):
    settings.JOB_LEASE_SECONDS = 1
    stolen = []

    def work(handle):
        first = handle.job.lease_until
        for _ in range(200):
            if Job.objects.get().lease_until > first + queue.lease():
                break
            threading.Event().wait(0.05)
            stolen.append(queue.claim())

    queue.enqueue_once(handler(work), identity="a")
    run_next()
    assert Job.objects.get().state == "succeeded"
    assert set(stolen) == {None}


@pytest.mark.django_db(transaction=True)
def test_many_workers_at_once_run_every_job_exactly_once(handler):
    from django.db import connection

    ran: list[str] = []
    kind = handler(lambda handle: ran.append(handle.job.identity))
    names = [f"job {n}" for n in range(12)]
    for n, name in enumerate(names):
        queue.enqueue_once(kind, identity=name, exclusive=f"repo:{n % 4}")
    start = threading.Barrier(4)

    def worker():
        start.wait()
        try:
            while Job.objects.filter(state="queued").exists():
                run_next(watch=False)
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ran) == sorted(names)
    assert set(Job.objects.values_list("state", "attempt")) == {("succeeded", 1)}


def test_the_sweep_rings_for_waiting_work_and_not_without(handler, broker, settings):
    sweep.sweep()
    assert broker == []
    for n in range(5):
        queue.enqueue_once(handler(), identity=f"{n}")
    sweep.sweep()
    assert broker == [queue.RUN_TASK] * settings.JOB_PROCESSES


def test_history_keeps_the_newest_automatic_jobs_a_day_of_others_and_failures_longer(handler):
    kind, now = handler(), clock.now()

    def row(n, *, days, state="succeeded", source="automatic"):
        at = now - sweep.KEPT_OTHERS * days
        Job.objects.create(
            kind=kind,
            identity=f"{n}",
            repository_id=1,
            state=state,
            source=source,
            not_before=at,
            created_at=at,
            updated_at=at,
            finished_at=at,
            time_limit_seconds=1,
        )

    for n in range(40):
        row(n, days=3 + n / 100)
    row("old manual", days=1.1, source="manual")
    row("new manual", days=0.9, source="manual")
    row("old failure", days=31, state="failed")
    for n in range(60):
        row(f"failure {n}", days=2 + n / 100, state="failed")
    sweep.expire()
    kept = set(Job.objects.values_list("identity", flat=True))
    assert kept == (
        {f"{n}" for n in range(32)} | {"new manual"} | {f"failure {n}" for n in range(50)}
    )
