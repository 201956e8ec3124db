from datetime import UTC, datetime, timedelta

import pytest

from repos import work
from repos.errors import (
    BranchNotObserved,
    DefaultBranchNotObserved,
    RepositoryStorageMissing,
    RevisionNotEligible,
)
from repos.gitstore import layout
from repos.models import Repository, SyncCheck, Version
from repos.revisions import readable, resolve_commit
from repos.usecases.schedule_syncs import schedule_due_syncs
from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.events import RepositorySynced, _subscribers
from tests.support.git_remote import EPOCH
from tests.support.jobs import run_pending_jobs
from tests.support.syncs import sync_job, sync_now

pytestmark = pytest.mark.django_db


@pytest.fixture
def announced(monkeypatch):
    """Announcements of syncs, instead of what search makes of them."""
    seen: list[RepositorySynced] = []
    monkeypatch.setitem(_subscribers, RepositorySynced, [seen.append])
    return seen


@pytest.fixture
def frozen(monkeypatch):
    """Set the time of all rules."""

    def at(moment: datetime) -> None:
        monkeypatch.setattr(clock, "now", lambda: moment)

    return at


def commits(repo: Repository) -> list[str]:
    return list(repo.versions.values_list("commit", flat=True))


def heads(repo: Repository) -> dict[str, str]:
    return dict(repo.heads.values_list("branch", "commit"))


def test_a_sync_records_heads_versions_and_the_default_branch(http_remote, synced, announced):
    remote = http_remote.repository("acme/widgets")
    first, second = remote.commit({"a": "1"}), remote.commit({"a": "2"})

    repo = synced(http_remote.url("acme/widgets"))

    assert (repo.state, repo.default_branch, repo.last_error) == ("ready", "main", "")
    assert heads(repo) == {"main": second}
    assert commits(repo) == [second, first]
    assert repo.disk_bytes > 0 and repo.next_sync_at > repo.observed_at
    assert announced == [RepositorySynced(repo.pk, changed=True)]


def test_an_empty_remote_is_a_state_without_failures(http_remote, synced):
    http_remote.repository("acme/widgets")

    repo = synced(http_remote.url("acme/widgets"))

    assert (repo.state, repo.consecutive_failures) == ("empty", 0)
    with pytest.raises(DefaultBranchNotObserved):
        readable(OPERATOR, repo.name, None)


def test_an_empty_remote_becomes_ready_with_its_first_commit(http_remote, synced):
    remote = http_remote.repository("acme/widgets")
    repo = synced(http_remote.url("acme/widgets"))
    commit = remote.commit({"a": "1"})

    repo = sync_now(repo)

    assert (repo.state, resolve_commit(repo, None).commit) == ("ready", commit)


def test_commits_that_leave_the_window_are_not_eligible_from_then_on(http_remote, synced):
    remote = http_remote.repository("acme/widgets")
    shas = [remote.commit({"a": str(i)}) for i in range(4)]
    repo = synced(http_remote.url("acme/widgets"), policy={"default_branch": True, "count": 3})
    assert commits(repo) == shas[:0:-1]
    kept = repo.versions.get(commit=shas[3])
    kept.indexed = True
    kept.save()
    shas.append(remote.commit({"a": "9"}))

    repo = sync_now(repo)

    assert commits(repo) == shas[:1:-1]
    assert repo.versions.get(commit=shas[3]).pk == kept.pk
    assert repo.versions.get(commit=shas[3]).indexed
    with pytest.raises(RevisionNotEligible):
        resolve_commit(repo, shas[1])


def test_a_day_passes_and_the_window_of_days_moves_without_a_change(http_remote, synced, frozen):
    remote = http_remote.repository("acme/widgets")
    old, new = remote.commit({"a": "1"}), remote.commit({"a": "2"}, time=EPOCH + 40 * 86400)
    frozen(datetime.fromtimestamp(EPOCH + 41 * 86400, UTC))
    repo = synced(http_remote.url("acme/widgets"), policy={"default_branch": True, "days": 60})
    assert commits(repo) == [new, old]
    frozen(datetime.fromtimestamp(EPOCH + 61 * 86400, UTC))

    assert commits(sync_now(repo)) == [new]


def test_a_force_pushed_away_commit_is_not_eligible(http_remote, synced):
    remote = http_remote.repository("acme/widgets")
    first = remote.commit({"a": "1"})
    gone = remote.commit({"a": "2"})
    repo = synced(http_remote.url("acme/widgets"))
    new = remote.commit({"a": "3"}, start=first)

    repo = sync_now(repo)

    assert commits(repo) == [new, first]
    with pytest.raises(RevisionNotEligible):
        resolve_commit(repo, gone)


def test_a_deleted_branch_keeps_its_place_but_loses_head_and_own_versions(http_remote, synced):
    remote = http_remote.repository("acme/widgets")
    base = remote.commit({"a": "1"})
    own = remote.commit({"a": "2"}, branch="next", start=base)
    repo = synced(
        http_remote.url("acme/widgets"), policy={"branches": ["main", "next"], "count": 9}
    )
    assert set(commits(repo)) == {base, own}
    remote.delete_branch("next")

    repo = sync_now(repo)

    assert commits(repo) == [base]
    with pytest.raises(BranchNotObserved):
        resolve_commit(repo, "next")


def test_a_renamed_default_branch_is_followed(http_remote, synced):
    remote = http_remote.repository("acme/widgets")
    tip = remote.commit({"a": "1"})
    repo = synced(http_remote.url("acme/widgets"))
    remote.set_branch("trunk", tip)
    remote.set_head("trunk")
    remote.delete_branch("main")

    repo = sync_now(repo)

    assert (repo.default_branch, heads(repo)) == ("trunk", {"trunk": tip})


def test_an_unchanged_automatic_sync_leaves_only_a_check(http_remote, synced, announced):
    http_remote.repository("acme/widgets").commit({"a": "1"})
    repo = synced(http_remote.url("acme/widgets"))
    before = Job.objects.count()

    for _ in range(2):
        work.queue_sync(repo)
        run_pending_jobs()

    check = SyncCheck.objects.get(repository=repo)
    assert (check.no_changes, check.unchanged_count) == (True, 2)
    assert Job.objects.count() == before
    assert announced[-1] == RepositorySynced(repo.pk, changed=False)


def test_a_failed_sync_keeps_what_was_and_backs_off(http_remote, synced):
    remote = http_remote.repository("acme/widgets")
    tip = remote.commit({"a": "1"})
    repo = synced(http_remote.url("acme/widgets"), sync_interval_minutes=10)
    http_remote.status = 404

    job = sync_job(repo)

    repo.refresh_from_db()
    assert (job.state, job.error) == ("failed", "GIT_REPOSITORY_UNAVAILABLE")
    assert (repo.last_error, repo.consecutive_failures) == ("GIT_REPOSITORY_UNAVAILABLE", 1)
    assert resolve_commit(repo, None).commit == tip
    assert repo.next_sync_at - clock.now() > timedelta(minutes=19)
    assert SyncCheck.objects.get(repository=repo).error == "GIT_REPOSITORY_UNAVAILABLE"

    http_remote.status = None
    repo = sync_now(repo)
    assert (repo.last_error, repo.consecutive_failures) == ("", 0)


def test_raw_output_of_git_is_nowhere_in_the_job(http_remote, synced):
    http_remote.repository("acme/widgets").commit({"a": "1"})
    http_remote.status = 500

    job = sync_job(synced(http_remote.url("acme/widgets")))

    assert job.error == "GIT_FETCH_FAILED"
    assert "127.0.0.1" not in job.error_message and "fatal" not in job.error_message


def test_a_mirror_that_was_lost_comes_back_with_the_next_sync(http_remote, synced):
    remote = http_remote.repository("acme/widgets")
    tip = remote.commit({"a": "1"})
    repo = synced(http_remote.url("acme/widgets"))
    layout.mirror_path(repo.storage_key).rename(layout.mirror_path(repo.storage_key).parent / "x")
    with pytest.raises(RepositoryStorageMissing):
        readable(OPERATOR, repo.name, None)

    repo = sync_now(repo)

    assert readable(OPERATOR, repo.name, None)[1].commit == tip


def test_a_policy_that_changes_during_a_sync_keeps_it_from_publishing(
    http_remote, register, monkeypatch
):
    http_remote.repository("acme/widgets").commit({"a": "1"})
    repo = register(http_remote.url("acme/widgets"))
    from repos.usecases import sync_repository

    real = sync_repository.eligible

    def meanwhile(*args):
        Repository.objects.filter(pk=repo.pk).update(policy_revision=2)
        return real(*args)

    monkeypatch.setattr(sync_repository, "eligible", meanwhile)

    job = sync_job(repo)

    assert (job.state, job.error) == ("failed", "POLICY_CHANGED")
    assert Version.objects.count() == 0


def test_a_worker_that_lost_its_lease_publishes_nothing(http_remote, register, monkeypatch):
    http_remote.repository("acme/widgets").commit({"a": "1"})
    repo = register(http_remote.url("acme/widgets"))
    from repos.usecases import sync_repository

    real = sync_repository.eligible

    def taken_over(*args):
        Job.objects.filter(repository_id=repo.pk).update(fence=99)
        return real(*args)

    monkeypatch.setattr(sync_repository, "eligible", taken_over)
    job = queue.claim()
    assert job is not None

    from sourcegraph_site.jobs.errors import StaleWorker
    from sourcegraph_site.jobs.handle import JobHandle

    with pytest.raises(StaleWorker):
        sync_repository.sync_repository(JobHandle(job))

    assert Version.objects.count() == 0


def test_only_what_is_due_and_enabled_is_queued_and_once(register, git_remote):
    now = clock.now()
    due, later, off, busy = (
        register(git_remote(f"acme/{name}").url, f"acme/{name}")
        for name in ("due", "later", "off", "busy")
    )
    Job.objects.exclude(repository_id=busy.pk).delete()
    Repository.objects.exclude(pk=later.pk).update(next_sync_at=now - timedelta(seconds=1))
    Repository.objects.filter(pk=off.pk).update(enabled=False)

    assert [schedule_due_syncs(), schedule_due_syncs()] == [1, 0]

    job = Job.objects.get(repository_id=due.pk)
    assert (job.kind, job.source, job.state) == ("repos.sync", "automatic", "queued")
    due.refresh_from_db()
    assert now + timedelta(minutes=5) <= due.next_sync_at <= clock.now() + timedelta(minutes=5.5)
    assert Job.objects.filter(repository_id=busy.pk).count() == 1


def test_a_repository_that_was_switched_off_is_not_synchronised(git_remote, register):
    repo = register(git_remote().url)
    Repository.objects.update(enabled=False)

    job = sync_job(repo)

    assert (job.state, job.error) == ("failed", "REPOSITORY_DISABLED")
    assert not layout.repository_path(repo.storage_key).exists()
