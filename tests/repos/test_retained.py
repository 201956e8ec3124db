from datetime import timedelta

import pytest

from repos import retained
from repos.models import Repository, ResolvedRef
from repos.revisions import resolve_commit
from repos.usecases.prepare import Prepare, prepare
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.errors import AppError
from tests.support.git_remote import git
from tests.support.jobs import run_pending_jobs
from tests.support.syncs import sync_now

pytestmark = pytest.mark.django_db


@pytest.fixture
def tagged(http_remote, synced):
    """A repository whose tag v1 lies outside its window."""
    remote = http_remote.repository("acme/widgets")
    commit = remote.commit({"a": "1"}, branch="side")
    remote.tag("v1", commit, "one")
    remote.delete_branch("side")
    remote.commit({"b": "1"})
    return synced(http_remote.url("acme/widgets")), commit, remote


def ask(repo: Repository, commit: str):
    return prepare(OPERATOR, Prepare(repo=repo.name, kind="index", commit=commit))


def test_a_commit_that_resolve_never_returned_is_not_eligible(tagged):
    repo, commit, _ = tagged

    with pytest.raises(AppError) as refusal:
        ask(repo, commit)

    assert refusal.value.code == "REVISION_NOT_ELIGIBLE"


def test_a_resolved_commit_is_fetched_kept_and_readable(tagged):
    repo, commit, _ = tagged
    retained.remember_resolved(repo, commit, "refs/tags/v1")

    [job] = ask(repo, commit).jobs
    run_pending_jobs()

    assert (job.kind, job.commit) == ("prepare", commit)
    assert Job.objects.get(job_id=job.job_id).state == "succeeded"
    version = resolve_commit(repo, commit).version
    assert version.retained and not version.in_window
    assert timedelta(days=29) < version.retained_until - clock.now() <= timedelta(days=30)
    assert Job.objects.filter(kind="search.index", commit=commit).exists()


def test_a_kept_commit_survives_syncs_and_goes_after_thirty_days(tagged, monkeypatch):
    repo, commit, remote = tagged
    retained.remember_resolved(repo, commit, "refs/tags/v1")
    ask(repo, commit)
    run_pending_jobs()
    remote.commit({"b": "2"})
    repo = sync_now(repo)
    assert resolve_commit(repo, commit).commit == commit
    later = clock.now() + timedelta(days=30, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)

    repo = sync_now(repo)

    with pytest.raises(AppError) as refusal:
        resolve_commit(repo, commit)
    assert refusal.value.code == "REVISION_NOT_ELIGIBLE"


def test_a_promise_ends_after_a_day(tagged, monkeypatch):
    repo, commit, _ = tagged
    retained.remember_resolved(repo, commit, "refs/tags/v1")
    later = clock.now() + timedelta(hours=24, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)

    with pytest.raises(AppError) as refusal:
        ask(repo, commit)

    assert refusal.value.code == "REVISION_NOT_ELIGIBLE"


def test_a_commit_that_the_remote_no_longer_has_fails_the_job(tagged):
    repo, commit, remote = tagged
    retained.remember_resolved(repo, commit, "refs/tags/v1")
    git(remote.path, "update-ref", "-d", "refs/tags/v1")
    git(remote.path, "repack", "-adq")
    git(remote.path, "prune", "--expire=now")

    [job] = ask(repo, commit).jobs
    run_pending_jobs()

    ended = Job.objects.get(job_id=job.job_id)
    assert (ended.state, ended.error) == ("failed", "REVISION_NOT_ELIGIBLE")


def test_at_most_sixty_four_are_kept_and_the_oldest_goes(tagged, monkeypatch):
    repo, _, _ = tagged
    monkeypatch.setattr(retained, "MAX_KEPT", 2)
    now = clock.now()
    for n in range(3):
        monkeypatch.setattr(clock, "now", lambda n=n: now + timedelta(minutes=n))
        retained.keep(repo, f"{n}" * 40, now)

    kept = repo.versions.filter(retained_until__isnull=False)

    assert set(kept.values_list("commit", flat=True)) == {"1" * 40, "2" * 40}


def test_a_version_needs_no_promise(tagged):
    repo, _, _ = tagged

    retained.remember_resolved(repo, repo.heads.get().commit, "refs/heads/main")

    assert not ResolvedRef.objects.exists()


def test_a_retained_commit_that_enters_the_window_outlives_its_retention(tagged):
    repo, _, _ = tagged
    head = repo.heads.get().commit
    retained.keep(repo, head, clock.now())

    retained.expire(clock.now() + timedelta(days=31))

    version = resolve_commit(repo, head).version
    assert version.in_window and not version.retained
