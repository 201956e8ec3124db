import os
from datetime import timedelta

import pytest

from repos import idempotency, work
from repos.gitstore import layout, maintenance
from repos.gitstore.process import GitCall, GitFailed, run_git
from repos.models import Receipt, Repository
from repos.usecases import maintain
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import OPERATOR
from tests.support.jobs import run_pending_jobs
from tests.support.syncs import sync_now

pytestmark = pytest.mark.django_db


def has(repo: Repository, commit: str) -> bool:
    mirror = layout.mirror_path(repo.storage_key)
    try:
        run_git(mirror, "cat-file", "-e", commit, call=GitCall(timeout_s=20))
    except GitFailed:
        return False
    return True


def pack(repo: Repository) -> None:
    maintain._queue(repo)
    run_pending_jobs()


def test_objects_that_no_version_needs_are_dropped_and_the_rest_stays(http_remote, synced):
    remote = http_remote.repository("acme/widgets")
    base = remote.commit({"a": "1"})
    gone = remote.commit({"big": os.urandom(200_000)})
    repo = synced(http_remote.url("acme/widgets"))
    tip = remote.commit({"a": "2"}, start=base)
    repo = sync_now(repo)
    assert has(repo, gone)
    size = repo.disk_bytes

    pack(repo)

    repo.refresh_from_db()
    assert [has(repo, commit) for commit in (base, tip, gone)] == [True, True, False]
    assert repo.maintained_at is not None and repo.disk_bytes < size - 150_000
    assert maintenance.pack_count(layout.mirror_path(repo.storage_key)) == 1
    assert not Job.objects.filter(kind=work.MAINTAIN).exists()
    assert sync_now(repo).last_error == ""


def test_a_mirror_ahead_of_the_database_keeps_what_the_database_names(http_remote, synced):
    remote = http_remote.repository("acme/widgets")
    base = remote.commit({"a": "1"})
    old = remote.commit({"a": "2"})
    repo = synced(http_remote.url("acme/widgets"))
    mirror = layout.mirror_path(repo.storage_key)
    run_git(mirror, "update-ref", "refs/heads/main", base, call=GitCall(timeout_s=20))

    pack(repo)

    assert has(repo, old)


def test_retained_commits_are_kept_until_they_are_released(http_remote, synced):
    from repos import retained
    from repos.gitstore.mirror import RETAINED

    remote = http_remote.repository("acme/widgets")
    remote.commit({"a": "1"})
    repo = synced(http_remote.url("acme/widgets"))
    mirror = layout.mirror_path(repo.storage_key)
    tree = run_git(mirror, "rev-parse", "HEAD^{tree}", call=GitCall(timeout_s=20)).decode().strip()
    made = run_git(
        mirror,
        *("-c", "user.name=a", "-c", "user.email=a@example.org"),
        *("commit-tree", tree, "-m", "kept"),
        call=GitCall(timeout_s=20),
    )
    commit = made.decode().strip()
    run_git(mirror, "update-ref", f"{RETAINED}{commit}", commit, call=GitCall(timeout_s=20))
    version = retained.keep(repo, commit, clock.now())

    pack(repo)
    assert has(repo, commit)

    retained.release(repo, [version.pk])
    pack(repo)
    assert not has(repo, commit)


def test_packing_waits_for_a_running_sync(http_remote, synced):
    http_remote.repository("acme/widgets").commit({"a": "1"})
    repo = synced(http_remote.url("acme/widgets"))
    job, _ = work.queue_sync(repo)
    Job.objects.filter(pk=job.pk).update(state="running", lease_until=clock.now() + timedelta(1))

    pack(repo)

    assert Job.objects.get(kind=work.MAINTAIN).state == "queued"


def test_one_repository_with_several_packs_is_queued_a_pass(http_remote, synced):
    remote = http_remote.repository("acme/widgets")
    remote.commit({"a": "1"})
    repo = synced(http_remote.url("acme/widgets"))
    assert maintain.queue_packing() == ""
    remote.commit({"a": "2"})
    sync_now(repo)

    assert maintain.queue_packing() == repo.name
    assert maintain.queue_packing() == ""
    run_pending_jobs()
    remote.commit({"a": "3"})
    sync_now(repo)
    assert maintain.queue_packing() == ""  # packed a moment ago, and not many packs yet


def test_leftovers_go_once_they_are_old(settings, synced, git_remote):
    remote = git_remote()
    remote.commit({"a": "1"})
    repo = synced(remote.url)
    layout.trash_root().mkdir()
    (layout.trash_root() / "x").mkdir()
    for name in ("old", "new"):
        (layout.staging_root() / name).mkdir()
        (layout.repository_path(f"{name}-orphan")).mkdir()
    for path in (layout.staging_root() / "old", layout.repository_path("old-orphan")):
        os.utime(path, (1, 1))
    os.utime(layout.repository_path(repo.storage_key), (1, 1))

    maintain.housekeep()

    assert not (layout.trash_root() / "x").exists()
    assert [p.name for p in layout.staging_root().iterdir()] == ["new"]
    assert not layout.repository_path("old-orphan").exists()
    assert layout.repository_path("new-orphan").exists()
    assert layout.mirror_path(repo.storage_key).is_dir()


def test_receipts_expire(register, git_remote, monkeypatch):
    repo = register(git_remote().url)
    idempotency.keep(OPERATOR, "prepare", "a-key-of-16-bytes", "0" * 64, repo, {})
    maintain.housekeep()
    assert Receipt.objects.count() == 1
    later = clock.now() + timedelta(hours=24, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)

    maintain.housekeep()

    assert Receipt.objects.count() == 0


def test_a_repository_keeps_its_newest_256_receipts(register, git_remote, monkeypatch):
    monkeypatch.setattr(idempotency, "MAX_PER_REPOSITORY", 3)
    repo = register(git_remote().url)
    for n in range(5):
        idempotency.keep(OPERATOR, "prepare", f"key-number-{n}", "0" * 64, repo, {})

    assert set(Receipt.objects.values_list("key", flat=True)) == {
        f"key-number-{n}" for n in (2, 3, 4)
    }
