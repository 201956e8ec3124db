"""What a handler sees of its job: progress out, "stop" in, and the fence.

The three ways to be stopped are `BaseException`s, like `asyncio.CancelledError`, so that a
handler's `except Exception` round one file does not swallow them.
"""

import time
from typing import Any

from sourcegraph_site.jobs import lifeline, queue
from sourcegraph_site.jobs.errors import StaleWorker
from sourcegraph_site.jobs.models import Job

CHECK_SECONDS = 1.0
PROGRESS_SECONDS = 0.5


class JobStopped(BaseException):
    """The handler must undo or leave what it has in hand, and return."""


class JobCancelled(JobStopped):
    """Cancelled, or taken over by another worker: nothing may be written any more."""


class JobInterrupted(JobStopped):
    """The worker is told to stop; the job goes back to the queue."""


class JobTimeout(JobStopped):
    """The time limit has come."""


class JobHandle:
    """A claim, in the hands of the handler. Used by one thread."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.lost = False  # set by the watch
        self.discard = False
        self._checked = time.monotonic()
        self._shown = 0.0
        self._shown_as: tuple[Any, ...] = ()

    def check_cancelled(self) -> None:
        """Call it between pieces of work of about a second; it costs next to nothing.

        Raises:
            JobCancelled, JobInterrupted: let them pass.
        """
        if self.lost:
            raise JobCancelled
        if lifeline.stopping():
            raise JobInterrupted
        now = time.monotonic()
        if now - self._checked >= CHECK_SECONDS:
            self._checked = now
            if not queue.held(self.job).exists():
                self.lost = True
                raise JobCancelled

    heartbeat = check_cancelled

    def confirm(self) -> None:
        """Call it first in the transaction that publishes the work: until its commit nobody
        can take the job over or cancel it.

        Raises:
            StaleWorker: somebody already did; the transaction must not commit.
        """
        if not queue.renew(self.job):
            self.lost = True
            raise StaleWorker("The job was taken over or cancelled.")

    def progress(self, stage: str | None = None, **progress: Any) -> None:
        """Show how far the job is, at most twice a second unless stage or phase change.

        By convention: phase (a word), done, total (numbers of the same unit), bytes.
        """
        now, shown_as = time.monotonic(), (stage, progress.get("phase"))
        if shown_as == self._shown_as and now - self._shown < PROGRESS_SECONDS:
            return
        self._shown, self._shown_as = now, shown_as
        if not queue.set_progress(self.job, stage=stage, **progress):
            self.lost = True

    def discard_when_done(self) -> None:
        """There was nothing to do: leave no row behind."""
        self.discard = True
