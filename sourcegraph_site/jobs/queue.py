"""The only writer of the job table. Every change of state is one conditional UPDATE, and its
row count is the verdict.

    queued ──claim──▶ running ──finish──▶ succeeded | failed
      ▲                 │ ├────cancel───▶ cancelled            (also from queued)
      └──retry, release─┘ └─lease over──▶ running again, by another worker (attempt + 1)
"""

import logging
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When

from sourcegraph_site.jobs import errors
from sourcegraph_site.jobs.handlers import handler_of
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.errors import AppError, DependencyUnavailable

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
RETRY_SECONDS = (30, 120)  # before the second and the third attempt
# A handler is told to stop at its limit and is killed this much later.
GRACE_SECONDS = 15
MAX_RACES = 20
RUN_TASK = "jobs.run"


def lease() -> timedelta:
    return timedelta(seconds=settings.JOB_LEASE_SECONDS)


# --- Asking for work ---------------------------------------------------------------------
def enqueue_once(
    kind: str,
    *,
    identity: str,
    exclusive: str = "",
    repository_id: int | None = None,
    source: str = Job.Source.AUTOMATIC,
    delay_seconds: float = 0,
    join_running: bool = False,
    time_limit_seconds: int | None = None,
    **fields: Any,
) -> tuple[Job, bool]:
    """The job that will do this work, and whether it is new.

    A queued job of the same identity is joined: it becomes manual if this request is, and
    starts as early as the more impatient of the two wants. `join_running` also joins a job
    that is already at work; leave it off when the work must see what was just written.

    `fields` are group, commit, requested_revision, policy_revision, params and actor.
    Called inside the caller's transaction; the bell rings when that commits.
    """
    now = clock.now()
    start = now + timedelta(seconds=delay_seconds)
    live = [Job.State.QUEUED, Job.State.RUNNING] if join_running else [Job.State.QUEUED]
    for _ in range(MAX_RACES):
        # Queued first, should one be running as well.
        found = Job.objects.filter(identity=identity, state__in=live).order_by("state").first()
        if found is not None:
            if _join(found, source, start, now):
                job, created = Job.objects.get(pk=found.pk), False
                break
            continue  # it changed state meanwhile
        try:
            with transaction.atomic():
                job = Job.objects.create(
                    kind=kind,
                    identity=identity,
                    exclusive=exclusive,
                    repository_id=repository_id,
                    source=source,
                    not_before=start,
                    time_limit_seconds=time_limit_seconds or handler_of(kind).time_limit_seconds,
                    created_at=now,
                    updated_at=now,
                    **fields,
                )
        except IntegrityError:
            continue  # somebody queued the same at the same time: join that one
        created = True
        break
    else:
        raise DependencyUnavailable("The job queue is too busy; try again.")
    if job.state == Job.State.QUEUED and job.not_before <= now:
        transaction.on_commit(ring)
    return job, created


def _join(job: Job, source: str, start: datetime, now: datetime) -> bool:
    """Make `job` as urgent as this request; False if it changed state meanwhile."""
    same = Job.objects.filter(pk=job.pk, state=job.state)
    sooner: dict[str, Any] = {}
    if source == Job.Source.MANUAL and job.source != Job.Source.MANUAL:
        sooner["source"] = source
    if job.state == Job.State.QUEUED and start < job.not_before:
        sooner["not_before"] = start
    if not sooner:
        return True
    return bool(same.update(**sooner, updated_at=now))


def ring(times: int = 1, *, expires: float | None = None) -> None:
    """Wake workers. A broker that does not answer costs time only: the sweep rings again."""
    try:
        for _ in range(times):
            current_app.send_task(RUN_TASK, ignore_result=True, retry=False, expires=expires)
    except Exception as exc:  # kombu raises the errors of whichever client it drives
        log.warning("The broker did not take a message (%s); the sweep will ring again.", exc)


# --- Doing it ----------------------------------------------------------------------------
def claimable(now: datetime) -> QuerySet[Job]:
    """Jobs that may run now, best first: manual before automatic, then the oldest.

    Queued ones whose time has come, and running ones whose worker vanished; neither while
    another job of the same exclusive key is running.
    """
    beside = Job.objects.filter(
        ~Q(exclusive=""), state=Job.State.RUNNING, exclusive=OuterRef("exclusive")
    ).exclude(pk=OuterRef("pk"))
    waiting = Q(state=Job.State.QUEUED, not_before__lte=now)
    abandoned = Q(state=Job.State.RUNNING, lease_until__lt=now)
    rank = Case(When(source=Job.Source.MANUAL, then=Value(0)), default=Value(1))
    return Job.objects.filter(waiting | abandoned, ~Exists(beside)).order_by(
        rank, "not_before", "pk"
    )


def claim() -> Job | None:
    """Take the best job that may run now; None if there is none.

    Of two workers that try the same job one wins, because the UPDATE names the fence that
    was read. The winner's `fence` admits its later writes.
    """
    now = clock.now()
    for job in claimable(now)[:16]:
        abandoned = job.state == Job.State.RUNNING
        if abandoned and give_up(job, now):
            continue
        try:
            with transaction.atomic():
                won = _exactly(job).update(
                    state=Job.State.RUNNING,
                    stage="recovery" if abandoned else "starting",
                    recovery_reason=errors.LeaseExpired.code if abandoned else job.recovery_reason,
                    fence=F("fence") + 1,
                    attempt=F("attempt") + 1,
                    lease_until=now + lease(),
                    must_end_at=now + timedelta(seconds=job.time_limit_seconds + GRACE_SECONDS),
                    started_at=now,
                    updated_at=now,
                )
        except IntegrityError:
            continue  # another job of this exclusive key was faster; its end rings again
        if won:
            return Job.objects.get(pk=job.pk)
    return None


def give_up(job: Job, now: datetime) -> bool:
    """Fail an abandoned job that had its three attempts or its whole time."""
    error: type[AppError]
    if job.attempt >= MAX_ATTEMPTS:
        error = errors.RecoveryExhausted
    elif job.must_end_at is not None and job.must_end_at <= now:
        error = errors.PreparationTimeout
    else:
        return False
    won = _exactly(job).update(
        state=Job.State.FAILED,
        stage="complete",
        error=error.code,
        error_message=error.__doc__ or "",
        recovery_reason=errors.LeaseExpired.code,
        lease_until=None,
        updated_at=now,
        finished_at=now,
    )
    if won:
        log.error("Job %s (%s) failed: %s.", job.job_id, job.kind, error.code)
    return True


def _exactly(job: Job) -> QuerySet[Job]:
    """The row, if nobody changed its state or owner since `job` was read."""
    return Job.objects.filter(
        pk=job.pk, state=job.state, fence=job.fence, lease_until=job.lease_until
    )


def held(job: Job) -> QuerySet[Job]:
    """The row, while `job`'s claim is in force."""
    return Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, fence=job.fence)


def renew(job: Job) -> bool:
    """Prolong the claim, up to the attempt's time limit; False once it is lost."""
    now = clock.now()
    until = now + lease()
    if job.must_end_at is not None:
        until = min(until, job.must_end_at)
    return bool(held(job).update(lease_until=until, updated_at=now))


def set_progress(job: Job, *, stage: str | None = None, **progress: Any) -> bool:
    """Show how far the job is, e.g. phase="receiving", done=1, total=2; False once it is
    lost. `JobHandle.progress` is the throttled way."""
    change: dict[str, Any] = {"progress": progress, "updated_at": clock.now()}
    if stage is not None:
        change["stage"] = stage
    return bool(held(job).update(**change))


# --- Ending it ---------------------------------------------------------------------------
def finish(job: Job, *, result: dict[str, Any] | None = None, error: AppError | None = None) -> Job:
    """Record the end of a claim. A retryable error queues the job again, with back-off.

    Raises:
        StaleWorker: the claim is no longer in force; nothing was written.
    """
    now = clock.now()
    if error is not None and error.retryable and job.attempt < MAX_ATTEMPTS:
        wait = error.retry_after or RETRY_SECONDS[job.attempt - 1]
        return _requeue(
            job,
            stage="queued",
            error=error.code,
            error_message=error.message,
            not_before=now + timedelta(seconds=wait),
        )
    _end(
        job,
        state=Job.State.FAILED if error else Job.State.SUCCEEDED,
        stage="complete",
        error=error.code if error else "",
        error_message=error.message if error else "",
        result=result,
        finished_at=now,
    )
    return Job.objects.get(pk=job.pk)


def release(job: Job) -> Job:
    """Give a job back unfinished, because its worker is told to stop; costs no attempt.

    Raises:
        StaleWorker: as `finish`.
    """
    return _requeue(job, stage="interrupted", attempt=F("attempt") - 1)


def discard(job: Job) -> None:
    """Remove a finished job that found nothing to do, so that the history stays useful.

    Raises:
        StaleWorker: as `finish`.
    """
    if not held(job).delete()[0]:
        raise errors.StaleWorker("The job was taken over or cancelled.")
    transaction.on_commit(ring_waiting)


def _requeue(job: Job, **changes: Any) -> Job:
    try:
        with transaction.atomic():
            _end(job, state=Job.State.QUEUED, **changes)
    except IntegrityError:
        # The same work was queued again meanwhile. That job does it.
        _end(
            job,
            state=Job.State.CANCELLED,
            stage="complete",
            error=errors.Superseded.code,
            error_message=errors.Superseded.__doc__,
            finished_at=clock.now(),
        )
    return Job.objects.get(pk=job.pk)


def _end(job: Job, **changes: Any) -> None:
    if not held(job).update(**changes, lease_until=None, must_end_at=None, updated_at=clock.now()):
        raise errors.StaleWorker("The job was taken over or cancelled.")
    transaction.on_commit(ring_waiting)


def ring_waiting() -> None:
    """Ring once if a job can run now: one that could not while another was running used
    its own bell up."""
    if claimable(clock.now()).exists():
        ring()


def cancel(jobs: QuerySet[Job], *, error: AppError) -> int:
    """End all queued and running jobs among `jobs` with this code; how many there were.

    A running worker notices at its next look at its handle, and can write nothing more.
    """
    now = clock.now()
    count = jobs.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING]).update(
        state=Job.State.CANCELLED,
        stage="complete",
        error=error.code,
        error_message=error.message,
        lease_until=None,
        must_end_at=None,
        updated_at=now,
        finished_at=now,
    )
    if count:
        transaction.on_commit(ring_waiting)
    return count
