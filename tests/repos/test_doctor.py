"""`manage.py doctor`: what it says of an instance, and what it makes of it."""

import io
import os
import shutil
from datetime import timedelta

import pytest
from django.core.management import call_command

from repos import work
from repos.gitstore import layout
from repos.models import Receipt, Repository, ResolvedRef, Version
from search.serving import forget, store_of
from sourcegraph_site.audit import retention
from sourcegraph_site.audit.models import AuditEvent
from sourcegraph_site.jobs import queue
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from tests.support.jobs import run_pending_jobs
from tests.support.syncs import sync_now

pytestmark = pytest.mark.django_db


def doctor(*options: str) -> tuple[int, str]:
    """Exit code, and the lines that are not the disk budget."""
    out = io.StringIO()
    code = 0
    try:
        call_command("doctor", *options, stdout=out, stderr=out)
    except SystemExit as exc:
        code = exc.code
    return code, "".join(
        line
        for line in out.getvalue().splitlines(keepends=True)
        if not line.startswith("disk: ") or "reserve:" in line
    )


def repaired(*options: str) -> None:
    """Repair, do what that queued, and find nothing more."""
    assert doctor("--repair", *options)[0] == 0
    run_pending_jobs()
    assert doctor() == (0, "All is well.\n")


def aged(path) -> None:
    path.mkdir(parents=True)
    os.utime(path, (0, 0))


@pytest.fixture
def well(make_repository) -> Repository:
    repo, _ = make_repository("acme/tools")
    Repository.objects.filter(pk=repo.pk).update(next_sync_at=clock.now() + timedelta(hours=1))
    repo.refresh_from_db()
    return repo


def test_a_healthy_instance_is_well_and_shows_its_disk_budget(well):
    out = io.StringIO()
    call_command("doctor", "--deep", stdout=out)
    assert out.getvalue().endswith("All is well.\n")
    assert "disk: acme/tools: " in out.getvalue()
    assert "MiB are the reserve" in out.getvalue()


def test_files_too_short_for_a_trigram_are_no_damage(make_repository):
    repo, _ = make_repository(files={"a": "1", "b": ""})
    assert doctor("--deep", "--repo", repo.name) == (0, "All is well.\n")


def test_a_report_changes_nothing(well):
    aged(layout.repository_path("0" * 32))
    shutil.rmtree(layout.mirror_path(well.storage_key))
    jobs = Job.objects.count()
    code, text = doctor()
    assert code == 1
    assert text.endswith("2 found, 2 left; --repair repairs what can be repaired.\n")
    assert layout.repository_path("0" * 32).is_dir()
    assert Job.objects.count() == jobs


def test_leftovers_of_every_kind_are_found_and_removed(well):
    places = [
        layout.repository_path("0" * 32),
        layout.staging_root() / "a",
        layout.trash_root() / "b",
        layout.scratch_root() / "c",
    ]
    for path in places:
        aged(path)
    note = layout.staging_root().parent / "lookups" / "backoff" / ("0" * 32)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("{}")
    text = doctor()[1]
    for name in ("repositories/0000", "staging/a", "trash/b", "scratch/c", "lookups"):
        assert f"directories: {name}" in text
    repaired()
    assert [path for path in [*places, note] if path.exists()] == []


def test_what_is_in_use_or_has_just_been_made_is_left_alone(well):
    from readers.remote.scratch import scratch

    layout.repository_path("0" * 32).mkdir(parents=True)
    (layout.staging_root() / "a").mkdir(parents=True)
    with scratch(1 << 20) as mine:
        assert doctor("--repair") == (0, "All is well.\n")
        assert mine.git_dir.is_dir()
    assert layout.repository_path("0" * 32).is_dir()


@pytest.mark.parametrize("damage", ["gone", "no pack", "a commit missing"])
def test_a_damaged_mirror_is_cloned_again_and_answers_as_before(well, damage):
    path = layout.mirror_path(well.storage_key)
    if damage == "gone":
        shutil.rmtree(path)
    elif damage == "no pack":
        for pack in (path / "objects" / "pack").glob("*.pack"):
            pack.unlink()
    else:
        Version.objects.create(
            repository=well,
            commit="1" * 40,
            committer_time=clock.now(),
            in_window=False,
            retained_until=clock.now() + timedelta(days=1),
        )
    commits = set(well.versions.filter(in_window=True).values_list("commit", flat=True))
    assert "mirror: acme/tools: " in doctor()[1]
    repaired()
    assert set(well.versions.values_list("commit", flat=True)) == commits
    assert list(layout.repository_path(well.storage_key).glob("mirror.new")) == []
    assert sync_now(well).last_error == ""


def test_a_retained_commit_comes_along_into_the_new_mirror(well, http_remote):
    from repos import retained

    remote = http_remote.repository("acme/other")
    remote.allow_any_commit()
    remote.commit({"a": "1"})
    side = remote.commit({"b": "2"}, branch="topic")
    repo = Repository.objects.create(
        name="acme/other",
        remote_url=http_remote.url("acme/other"),
        window_count=5,
        next_sync_at=clock.now() + timedelta(hours=1),
    )
    sync_now(repo)
    run_pending_jobs()
    retained.remember_resolved(repo, side, "refs/heads/topic")
    work.queue_retain(repo, side, ref="refs/heads/topic", actor="", requested_revision="topic")
    run_pending_jobs()
    assert doctor() == (0, "All is well.\n")
    shutil.rmtree(layout.mirror_path(repo.storage_key))
    repaired()
    assert repo.versions.get(commit=side).retained


def test_while_the_remote_is_away_a_damaged_mirror_stays(well, http_remote):
    path = layout.mirror_path(well.storage_key)
    (path / "refs" / "heads" / "broken").write_text("1" * 40 + "\n")
    http_remote.status = 503
    doctor("--repair")
    run_pending_jobs()
    assert (path / "refs" / "heads" / "broken").exists()
    http_remote.status = None
    Job.objects.filter(kind=work.RESTORE).update(not_before=clock.now())
    run_pending_jobs()
    assert doctor() == (0, "All is well.\n")


def test_a_damaged_index_is_found_and_built_again(well):
    (segment,) = store_of(well.storage_key).segment_files()
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 0xFF
    segment.chmod(0o600)
    segment.write_bytes(data)
    forget(well.storage_key)
    assert "index: acme/tools: " in doctor()[1]
    repaired()


def test_an_index_that_is_gone_although_the_database_has_it_is_built_again(well):
    shutil.rmtree(layout.index_path(well.storage_key))
    forget(well.storage_key)
    assert "cannot be opened (GenerationMissing)" in doctor()[1]
    repaired()


def test_commits_without_an_index_are_found_and_indexed(make_repository):
    repo, remote = make_repository(index_history="all")
    remote.commit({"a": "2"})
    sync_now(repo)
    run_pending_jobs()
    Repository.objects.update(next_sync_at=clock.now() + timedelta(hours=1))
    repo.versions.update(indexed=False)
    text = doctor()[1]
    assert "versions: acme/tools: head " in text
    assert "versions: acme/tools: 1 commits behind the heads are not indexed" in text
    repaired()
    assert not repo.versions.filter(indexed=False).exists()


def test_a_head_that_failed_three_times_is_tried_again(well):
    head = well.heads.get().commit
    well.versions.update(indexed=False)
    for _ in range(3):
        job, _ = work.queue_index(well, head)
        Job.objects.filter(pk=job.pk).update(state="failed", finished_at=clock.now())
    assert f"head {head[:12]} is not indexed, after 3 failures" in doctor()[1]
    repaired()
    assert well.versions.get(commit=head).indexed


def running_sync(repo: Repository, **fields: object) -> Job:
    job, _ = work.queue_sync(repo)
    claimed = queue.claim()
    assert claimed is not None and claimed.pk == job.pk
    Job.objects.filter(pk=job.pk).update(**fields)
    return job


def test_a_job_whose_worker_vanished_is_reported_and_taken_over(well):
    job = running_sync(well, lease_until=clock.now() - timedelta(minutes=5))
    assert f"jobs: repos.sync {job.job_id}: its worker vanished" in doctor()[1]
    repaired()


def test_a_job_that_was_tried_three_times_ends(well):
    past = clock.now() - timedelta(minutes=5)
    job = running_sync(well, lease_until=past, attempt=3)
    repaired()
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "RECOVERY_EXHAUSTED")


def test_a_lease_of_before_the_clock_was_set_back_ends_in_time(well):
    job = running_sync(well, lease_until=clock.now() + timedelta(days=1))
    assert "its lease dates from before the clock was set back" in doctor()[1]
    assert doctor("--repair")[0] == 0
    job.refresh_from_db()
    assert job.lease_until <= clock.now() + queue.lease()


def test_jobs_of_repositories_that_are_gone_are_cancelled(well):
    queue.enqueue_once(work.SYNC, identity="sync:0", repository_id=0)
    assert "its repository is gone or disabled" in doctor()[1]
    repaired()
    assert Job.objects.get(identity="sync:0").state == "cancelled"


def test_a_job_that_waits_although_it_could_run_is_reported(well):
    job, _ = work.queue_sync(well)
    Job.objects.filter(pk=job.pk).update(not_before=clock.now() - timedelta(hours=1))
    assert "is a worker running?" in doctor()[1]
    repaired()


@pytest.mark.parametrize("planned", [None, timedelta(hours=-2)])
def test_a_repository_that_nobody_synchronises_is_synchronised(well, planned):
    when = planned and clock.now() + planned
    Repository.objects.filter(pk=well.pk).update(next_sync_at=when)
    assert "syncs: acme/tools: " in doctor()[1]
    repaired()


def test_rows_beyond_their_time_are_reported_and_removed(well):
    long_ago = clock.now() - timedelta(days=3)
    Receipt.objects.create(
        actor="a", operation="o", key="k" * 8, digest="d", repository=well, created_at=long_ago
    )
    ResolvedRef.objects.create(
        repository=well, commit="2" * 40, ref="refs/tags/v1", resolved_at=long_ago
    )
    event = AuditEvent.objects.create(actor="a", actor_kind="session", action="x", target="y")
    AuditEvent.objects.filter(pk=event.pk).update(at=clock.now() - timedelta(days=400))
    kept = AuditEvent.objects.create(actor="a", actor_kind="session", action="x", target="z")
    text = doctor()[1]
    assert "records: receipts: 1 are kept" in text
    assert "records: promised commits: 1 are kept" in text
    assert "records: audit events: 1 are kept" in text
    repaired()
    assert AuditEvent.objects.filter(pk__in=[event.pk, kept.pk]).get() == kept


def test_housekeeping_ends_audit_events_after_a_year(db, data_root):
    from repos.usecases.maintain import housekeep

    event = AuditEvent.objects.create(actor="a", actor_kind="session", action="x", target="y")
    AuditEvent.objects.filter(pk=event.pk).update(at=clock.now() - retention.KEPT_FOR)
    housekeep()
    assert not AuditEvent.objects.exists()


def test_too_little_disk_space_is_left_to_the_operator(well, settings):
    settings.MIN_FREE_BYTES = 1 << 60
    code, text = doctor("--repair")
    assert code == 1
    assert "below the reserve: nothing is cloned or indexed" in text
    assert text.endswith("1 found, 1 left.\n")


def test_one_repository_alone_leaves_the_others_out(well, make_repository):
    other, _ = make_repository("acme/other")
    shutil.rmtree(layout.mirror_path(other.storage_key))
    assert doctor("--repo", "acme/tools") == (0, "All is well.\n")
    assert doctor("--repo", "acme/other")[0] == 1
