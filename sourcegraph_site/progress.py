"""What the terminal shows of the work in the background, from the job rows alone."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import DatabaseError

from repos.models import Repository
from repos.work import INDEX, KINDS
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock

LOOK_SECONDS = 1.0
REPEAT_SECONDS = 5.0  # a phase that goes on is said again so often
RECENT = 50

# Automatic syncs of a quiet instance come every few minutes and are nobody's news.
WORDS = {"repos.sync": "sync", INDEX: "index", "repos.retain": "fetch"}


@dataclass
class Seen:
    state: str
    phase: str
    said_at: float


class Progress:
    """Says each change of each job in one line; remembers the jobs of this run alone."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.since: datetime = clock.now()
        self.seen: dict[int, Seen] = {}
        self.looked_at = 0.0
        self.names: dict[int, str] = {}

    def look(self) -> list[Job]:
        """Say what has changed; the jobs that have ended since the last look."""
        now = time.monotonic()
        if now - self.looked_at < LOOK_SECONDS:
            return []
        self.looked_at = now
        try:
            jobs = list(
                Job.objects.filter(kind__in=KINDS, updated_at__gte=self.since)
                .exclude(state=Job.State.QUEUED, attempt=0)
                .order_by("pk")[:RECENT]
            )
            self._learn_names(jobs)
        except DatabaseError:
            return []  # the children complain about it, with more detail
        self.seen = {job.pk: self.seen[job.pk] for job in jobs if job.pk in self.seen}
        ended = [job for job in jobs if self._say(job, now) and job.over]
        over = [job.updated_at for job in jobs if job.over]
        if len(jobs) == RECENT and over:
            self.since = max(over)
        return ended

    def _learn_names(self, jobs: list[Job]) -> None:
        wanted = {job.repository_id for job in jobs if job.repository_id is not None}
        if missing := wanted - self.names.keys():
            rows = Repository.objects.filter(pk__in=missing)
            self.names.update(rows.values_list("pk", "name"))

    def _say(self, job: Job, now: float) -> bool:
        """Whether this job's state is another than it was at the last look."""
        phase = str(job.progress.get("phase", ""))
        before = self.seen.get(job.pk)
        if before is not None and before.state == job.state:
            same = before.phase == phase
            if job.over or (same and now - before.said_at < REPEAT_SECONDS):
                return False
        self.seen[job.pk] = Seen(job.state, phase, now)
        self.say(f"{self.names.get(job.repository_id or 0, '')}  {line_of(job)}")
        return before is None or before.state != job.state


def line_of(job: Job) -> str:
    """`sync: receiving 120 of 400`, `index: done in 2.1 s`, `sync: failed, GIT_FETCH_FAILED`."""
    word = WORDS.get(job.kind, job.kind)
    if job.commit:
        word += f" {job.commit[:8]}"
    if job.state == Job.State.SUCCEEDED:
        assert job.started_at is not None and job.finished_at is not None
        return f"{word}: done in {(job.finished_at - job.started_at).total_seconds():.1f} s"
    if job.state == Job.State.FAILED:
        return f"{word}: failed, {job.error}. {job.error_message}"
    if job.state == Job.State.CANCELLED:
        return f"{word}: cancelled"
    if job.state == Job.State.QUEUED:
        return f"{word}: waits, after {job.error or job.stage}"
    phase, total = str(job.progress.get("phase") or job.stage), job.progress.get("total")
    return f"{word}: {phase}" + (f" {job.progress.get('done', 0)} of {total}" if total else "")
