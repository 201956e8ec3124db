"""Claim one job, watch it while it runs, record its end."""

import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection

from sourcegraph_site.jobs import lifeline, queue
from sourcegraph_site.jobs.errors import PreparationFailed, PreparationTimeout, StaleWorker
from sourcegraph_site.jobs.handle import JobCancelled, JobHandle, JobInterrupted, JobTimeout
from sourcegraph_site.jobs.handlers import handler_of
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel.errors import AppError

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0


def run_next(*, watch: bool = True) -> Job | None:
    """Run the best job that may run now, in this thread; None if there is none.

    `watch=False` renews no lease and sets no alarm: for a caller inside a transaction.
    """
    if lifeline.stopping():
        return None
    job = queue.claim()
    if job is not None:
        try:
            _run(job, watch)
        except StaleWorker:
            log.warning("Job %s (%s): its worker had lost it.", job.job_id, job.kind)
    return job


def _run(job: Job, watch: bool) -> None:
    handle = JobHandle(job)
    result: dict[str, Any] | None = None
    error: AppError | None = None
    log.info("Job %s (%s) starts, attempt %d.", job.job_id, job.kind, job.attempt)
    try:
        with _watched(handle) if watch else contextlib.nullcontext():
            result = handler_of(job.kind).fn(handle)
    except JobInterrupted:
        _fresh_connection()
        queue.release(job)
        return
    except JobCancelled:
        log.info("Job %s (%s) was cancelled or taken over.", job.job_id, job.kind)
        return
    except JobTimeout:
        _fresh_connection()
        error = PreparationTimeout(f"The job ran longer than {job.time_limit_seconds} seconds.")
    except AppError as exc:
        error = exc
    except Exception:
        log.exception("Job %s (%s) failed.", job.job_id, job.kind)
        error = PreparationFailed("The job stopped on an unexpected fault; the log has it.")
    if handle.discard and error is None:
        queue.discard(job)
        return
    ended = queue.finish(job, result=result, error=error)
    log.info("Job %s (%s): %s %s", job.job_id, job.kind, ended.state, ended.error)


def _fresh_connection() -> None:
    """The handler was stopped anywhere, perhaps in the middle of a query."""
    if not connection.in_atomic_block:
        connection.close()


@contextlib.contextmanager
def _watched(handle: JobHandle) -> Iterator[None]:
    """Renew the lease, notice a cancellation and keep the time limit meanwhile."""
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(handle, done), name="job-watch", daemon=True)
    watch.start()
    try:
        with _time_limit(handle.job.time_limit_seconds):
            yield
    finally:
        done.set()


def _watch(handle: JobHandle, done: threading.Event) -> None:
    """Runs beside the handler, in a thread with its own connection to the database."""
    job = handle.job
    renew_every = settings.JOB_LEASE_SECONDS / 4
    renewed = started = time.monotonic()
    try:
        while not done.wait(min(LOOK_SECONDS, renew_every)):
            now = time.monotonic()
            if now - started > job.time_limit_seconds + queue.GRACE_SECONDS:
                log.error("Job %s (%s) does not stop; its process ends.", job.job_id, job.kind)
                os._exit(1)
            try:
                if now - renewed >= renew_every:
                    handle.lost = handle.lost or not queue.renew(job)
                    renewed = now
                elif not queue.held(job).exists():
                    handle.lost = True
            except DatabaseError as exc:
                # A lease outlives several renewals that fail.
                log.warning("Job %s: no renewal (%s).", job.job_id, exc)
                connection.close()
    finally:
        connection.close()


@contextlib.contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    """Raise JobTimeout in this thread after so long; only a main thread can be reached."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def expired(_signal: int, _frame: FrameType | None) -> None:
        raise JobTimeout

    before = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
