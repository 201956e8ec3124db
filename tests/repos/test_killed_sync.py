"""A sync is killed with SIGKILL before each of its writes; the next run completes it.

The sync runs in a forked child. Before every Git command, rename and SQL write the child
counts, and kills itself at one number; every number up to the last is tried.
"""

import os
import signal
from collections.abc import Callable

import pytest
from django.db import connection, connections

from repos import work
from repos.gitstore import layout, mirror
from repos.models import Repository
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.jobs.run import run_next

pytestmark = pytest.mark.django_db(transaction=True)


class Fuse:
    """Kills this process at the `limit`-th counted step."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(self, fn: Callable) -> Callable:
        def counted(*args, **kwargs):
            self.step()
            return fn(*args, **kwargs)

        return counted

    def sql(self, execute, sql, params, many, context):
        if not sql.lstrip().upper().startswith(("SELECT", "PRAGMA", "BEGIN")):
            self.step()
        return execute(sql, params, many, context)


def in_child(work_to_do: Callable[[], None]) -> int:
    """Run in a forked child with its own database connection; its wait status."""
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            connections.close_all()
            work_to_do()
            connections.close_all()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]


def killed_at(limit: int) -> bool:
    """Run the queued sync in a child that dies at this step; False if it got to its end."""

    def run() -> None:
        fuse = Fuse(limit)
        mirror.run_git = fuse.before(mirror.run_git)
        os.rename = fuse.before(os.rename)
        with connection.execute_wrapper(fuse.sql):
            run_next()

    status = in_child(run)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WIFSIGNALED(status)


def lease_runs_out() -> None:
    Job.objects.filter(state=Job.State.RUNNING).update(lease_until="2000-01-01T00:00:00Z")


def state_of(repo: Repository) -> tuple:
    repo.refresh_from_db()
    return (
        repo.state,
        dict(repo.heads.values_list("branch", "commit")),
        list(repo.versions.values_list("commit", flat=True)),
    )


@pytest.mark.parametrize("first", [True, False], ids=["first sync", "later sync"])
def test_killed_at_any_step_shows_old_or_new_and_completes(git_remote, register, first):
    remote = git_remote()
    base = remote.commit({"a": "1"})
    remote.commit({"a": "2"}, branch="foo", start=base)
    repo = register(
        remote.url, policy={"branches": ["foo", "foo/bar"], "default_branch": True, "count": 2}
    )
    if not first:
        run_next(watch=False)
        Job.objects.all().delete()
        work.queue_sync(repo)
        remote.delete_branch("foo")
        remote.commit({"a": "3"}, branch="foo/bar", start=base)
    tip = remote.commit({"a": "4"})
    before = state_of(repo)
    job = Job.objects.get(kind=work.SYNC)
    steps = 0

    while killed_at(steps):
        seen = state_of(repo)
        if seen != before:
            break  # killed after the swap was committed: that is the new state
        steps += 1
        lease_runs_out()
        # Each kill is a fresh first attempt, or three of them would end the job.
        Job.objects.filter(pk=job.pk).update(attempt=0)
        assert steps < 200

    after = state_of(repo)
    assert steps > 10
    assert after[0] == "ready" and after[1]["main"] == tip
    assert ("foo/bar" in after[1]) != first and ("foo" in after[1]) == first
    path = layout.mirror_path(repo.storage_key)
    assert mirror.repair(path) == []
    assert mirror.heads(path) == after[1]
    lease_runs_out()
    while run_next(watch=False) is not None:
        pass
    assert state_of(repo) == after
