from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.errors import CancelledByUser, PreparationFailed, StaleWorker
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.errors import InsufficientStorage

pytestmark = pytest.mark.django_db


def lapse(job: Job) -> None:
    """As if the job's worker had vanished a while ago."""
    Job.objects.filter(pk=job.pk).update(lease_until=clock.now() - timedelta(seconds=1))


def test_the_same_work_is_queued_once(handler):
    kind = handler()
    first, created = queue.enqueue_once(kind, identity="sync:1")
    again, created_again = queue.enqueue_once(kind, identity="sync:1")
    assert (created, created_again) == (True, False)
    assert first.pk == again.pk


def test_work_that_is_running_is_queued_again_unless_the_caller_joins_it(handler):
    kind = handler()
    queue.enqueue_once(kind, identity="sync:1")
    running = queue.claim()
    joined, created = queue.enqueue_once(kind, identity="sync:1", join_running=True)
    assert (joined.pk, created) == (running.pk, False)
    fresh, created = queue.enqueue_once(kind, identity="sync:1")
    assert created and fresh.pk != running.pk


def test_a_manual_request_makes_a_waiting_automatic_job_manual_and_immediate(handler):
    kind = handler()
    queue.enqueue_once(kind, identity="sync:1", delay_seconds=600)
    assert queue.claim() is None
    joined, _ = queue.enqueue_once(kind, identity="sync:1", source="manual")
    assert joined.source == "manual"
    assert queue.claim().pk == joined.pk


def test_manual_jobs_run_before_older_automatic_ones(handler):
    kind = handler()
    queue.enqueue_once(kind, identity="a")
    manual, _ = queue.enqueue_once(kind, identity="b", source="manual")
    assert queue.claim().pk == manual.pk


def test_a_bell_rings_only_when_the_transaction_commits(
    handler, broker, django_capture_on_commit_callbacks
):
    kind = handler()
    with django_capture_on_commit_callbacks(execute=True):
        queue.enqueue_once(kind, identity="a")
        assert broker == []
    assert broker == [queue.RUN_TASK]


def test_a_broker_that_is_away_does_not_fail_the_request(handler, monkeypatch):
    from celery import current_app

    def away(*args, **kwargs):
        raise ConnectionRefusedError("nobody listens")

    monkeypatch.setattr(current_app, "send_task", away)
    queue.ring()


def test_jobs_of_one_exclusive_key_do_not_run_side_by_side(handler):
    kind = handler()
    queue.enqueue_once(kind, identity="a", exclusive="repo:1")
    other, _ = queue.enqueue_once(kind, identity="b", exclusive="repo:1")
    queue.enqueue_once(kind, identity="c", exclusive="repo:2")
    first, second = queue.claim(), queue.claim()
    assert {first.identity, second.identity} == {"a", "c"}
    assert queue.claim() is None
    queue.finish(first)
    assert queue.claim().pk == other.pk


def test_the_database_itself_refuses_two_running_jobs_of_one_key(handler):
    kind = handler()
    for name in "ab":
        queue.enqueue_once(kind, identity=name, exclusive="repo:1")
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.update(state="running")


def test_a_job_whose_lease_ran_out_is_taken_over_and_its_old_worker_is_refused(handler):
    queue.enqueue_once(handler(), identity="a")
    old = queue.claim()
    assert queue.claim() is None
    lapse(old)
    new = queue.claim()
    assert (new.pk, new.attempt, new.recovery_reason) == (old.pk, 2, "LEASE_EXPIRED")
    assert not queue.renew(old)
    assert not queue.set_progress(old, phase="late")
    for write in (queue.finish, queue.release, queue.discard):
        with pytest.raises(StaleWorker):
            write(old)
    assert queue.finish(new).state == "succeeded"


def test_a_worker_that_vanishes_three_times_exhausts_the_job(handler):
    queue.enqueue_once(handler(), identity="a")
    for _ in range(3):
        lapse(queue.claim())
    assert queue.claim() is None
    job = Job.objects.get()
    assert (job.state, job.error, job.attempt) == ("failed", "RECOVERY_EXHAUSTED", 3)


def test_a_lease_is_not_renewed_beyond_the_time_limit(handler):
    queue.enqueue_once(handler(time_limit_seconds=5), identity="a")
    job = queue.claim()
    Job.objects.filter(pk=job.pk).update(must_end_at=clock.now())
    job.refresh_from_db()
    queue.renew(job)
    assert queue.claim() is None
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "PREPARATION_TIMEOUT")


def test_a_clean_shutdown_gives_the_job_back_without_spending_an_attempt(handler):
    queue.enqueue_once(handler(), identity="a")
    for _ in range(5):
        job = queue.release(queue.claim())
        assert (job.state, job.stage, job.attempt) == ("queued", "interrupted", 0)
    assert queue.claim().attempt == 1


def test_an_interrupted_job_yields_to_a_newer_one_for_the_same_work(handler):
    kind = handler()
    queue.enqueue_once(kind, identity="a")
    running = queue.claim()
    newer, _ = queue.enqueue_once(kind, identity="a")
    ended = queue.release(running)
    assert (ended.state, ended.error) == ("cancelled", "SUPERSEDED")
    assert queue.claim().pk == newer.pk


def test_a_retryable_error_is_tried_three_times_with_growing_pauses(handler):
    queue.enqueue_once(handler(), identity="a")
    pauses = []
    for _ in range(2):
        job = queue.finish(queue.claim(), error=InsufficientStorage("The disk is full."))
        assert (job.state, job.error) == ("queued", "INSUFFICIENT_STORAGE")
        pauses.append(round((job.not_before - job.updated_at).total_seconds()))
        assert queue.claim() is None
        Job.objects.update(not_before=clock.now())
    assert pauses == [30, 120]
    job = queue.finish(queue.claim(), error=InsufficientStorage("The disk is full."))
    assert (job.state, job.error, job.attempt) == ("failed", "INSUFFICIENT_STORAGE", 3)


def test_other_errors_are_final(handler):
    queue.enqueue_once(handler(), identity="a")
    job = queue.finish(queue.claim(), error=PreparationFailed("It broke."))
    assert (job.state, job.error, job.error_message) == (
        "failed",
        "PREPARATION_FAILED",
        "It broke.",
    )


@pytest.mark.parametrize("running", [False, True])
def test_a_cancelled_job_is_over_and_its_worker_is_refused(handler, running):
    job, _ = queue.enqueue_once(handler(), identity="a")
    if running:
        job = queue.claim()
    assert queue.cancel(Job.objects.filter(pk=job.pk), error=CancelledByUser("By hand.")) == 1
    assert queue.cancel(Job.objects.filter(pk=job.pk), error=CancelledByUser("By hand.")) == 0
    with pytest.raises(StaleWorker):
        queue.finish(job)
    job.refresh_from_db()
    assert (job.state, job.error) == ("cancelled", "CANCELLED_BY_USER")
    assert queue.claim() is None
