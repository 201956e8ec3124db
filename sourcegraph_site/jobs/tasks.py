"""The two Celery tasks, and the worker's end."""

import os
import resource
import signal
from typing import Any

from celery import shared_task, signals

from sourcegraph_site.jobs import lifeline
from sourcegraph_site.jobs.queue import RUN_TASK
from sourcegraph_site.jobs.run import run_next
from sourcegraph_site.jobs.ticks import TICK_TASK, run_tick

# A worker that has been larger than this is replaced after its job: memory once used for a
# big repository is rarely given back.
MAX_RESIDENT_KIB = 512 << 10


def run() -> None:
    """A bell: run whatever job is best now. One bell too many does nothing."""
    job = run_next()
    if job is not None and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MAX_RESIDENT_KIB:
        os.kill(os.getpid(), signal.SIGTERM)


def tick(name: str) -> None:
    run_tick(name)


def _worker_stops(**_: Any) -> None:
    lifeline.stop()


shared_task(name=RUN_TASK)(run)
shared_task(name=TICK_TASK)(tick)
signals.worker_shutting_down.connect(_worker_stops)
