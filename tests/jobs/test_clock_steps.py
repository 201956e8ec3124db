"""The wall clock is set forward or back around leases, planned starts and syncs."""

from datetime import timedelta

import pytest

from repos.models import Repository
from repos.usecases.schedule_syncs import schedule_due_syncs
from sourcegraph_site.jobs import queue, sweep
from sourcegraph_site.jobs.errors import StaleWorker
from sourcegraph_site.jobs.handle import JobHandle
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.jobs.run import run_next
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.errors import InsufficientStorage
from tests.support.jobs import run_pending_jobs

pytestmark = pytest.mark.django_db

real_now = clock.now


@pytest.fixture
def step(monkeypatch):
    """Set the clock by so much, from its true time."""

    def to(delta: timedelta) -> None:
        monkeypatch.setattr(clock, "now", lambda: real_now() + delta)

    return to


@pytest.fixture
def claimed(handler):
    def make(**options) -> Job:
        queue.enqueue_once(handler(**options), identity="a", exclusive="a")
        job = queue.claim()
        assert job is not None
        return job

    return make


def test_set_forward_the_job_is_taken_over_and_its_first_worker_writes_nothing(
    claimed, step, broker
):
    first = claimed(time_limit_seconds=7200)
    step(timedelta(hours=1))
    second = queue.claim()
    assert (second.pk, second.fence, second.recovery_reason) == (first.pk, 2, "LEASE_EXPIRED")
    with pytest.raises(StaleWorker):
        JobHandle(first).confirm()
    with pytest.raises(StaleWorker):
        queue.finish(first)
    assert queue.finish(second).state == "succeeded"


def test_set_forward_beyond_its_limit_a_job_ends_and_the_work_can_be_asked_for_again(
    claimed, step, broker
):
    job = claimed(time_limit_seconds=60)
    step(timedelta(days=1))
    assert queue.claim() is None
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "PREPARATION_TIMEOUT")
    again, created = queue.enqueue_once(job.kind, identity="a", exclusive="a")
    assert created and queue.claim().pk == again.pk


def test_set_back_a_worker_that_lives_keeps_its_job(claimed, step, broker):
    job = claimed()
    step(timedelta(days=-1))
    sweep.sweep()
    JobHandle(job).confirm()
    sweep.sweep()
    job.refresh_from_db()
    assert job.lease_until <= clock.now() + queue.lease()
    assert queue.claim() is None
    assert queue.finish(job).state == "succeeded"


def test_set_back_the_job_of_a_vanished_worker_waits_one_lease_and_no_longer(claimed, step, broker):
    job = claimed()
    step(timedelta(days=-1))
    sweep.sweep()
    assert queue.claim() is None
    step(timedelta(days=-1) + 2 * queue.lease())
    sweep.sweep()
    taken = queue.claim()
    assert (taken.pk, taken.fence) == (job.pk, 2)


def test_set_back_queued_jobs_start_at_once_and_not_at_their_old_time(handler, step, broker):
    job, _ = queue.enqueue_once(handler(), identity="a")
    step(timedelta(hours=-3))
    assert queue.claim() is None
    sweep.sweep()
    assert queue.claim().pk == job.pk


def test_set_back_a_job_that_waits_to_be_tried_again_starts_at_once(claimed, step, broker):
    job = claimed()
    queue.finish(job, error=InsufficientStorage("full"))
    step(timedelta(hours=-3))
    sweep.sweep()
    assert queue.claim().pk == job.pk


def test_a_delayed_job_is_not_hurried_while_the_clock_runs_as_it_should(handler, broker):
    queue.enqueue_once(handler(), identity="a", delay_seconds=3600)
    sweep.sweep()
    assert queue.claim() is None


def test_set_back_a_repository_is_synchronised_once_and_then_at_its_interval(make_repository, step):
    repo, _ = make_repository()
    Repository.objects.filter(pk=repo.pk).update(next_sync_at=clock.now() + timedelta(minutes=5))
    assert schedule_due_syncs() == 0
    step(timedelta(days=-2))
    assert schedule_due_syncs() == 1
    assert schedule_due_syncs() == 0
    sweep.settle_clock(clock.now())
    run_pending_jobs()
    repo.refresh_from_db()
    assert repo.last_sync_started_at <= clock.now() < repo.next_sync_at
    assert repo.next_sync_at < clock.now() + timedelta(minutes=10)
    assert schedule_due_syncs() == 0


@pytest.mark.parametrize("days", [-30, 30])
def test_a_job_that_runs_across_a_step_measures_its_time_by_itself(handler, step, broker, days):
    def work(handle: JobHandle) -> None:
        step(timedelta(days=days))
        handle.check_cancelled()
        handle.confirm()

    queue.enqueue_once(handler(work), identity="a")
    assert run_next(watch=False) is not None
    assert Job.objects.get().state == "succeeded"
