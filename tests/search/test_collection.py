"""The upkeep of an index: generations and segments that nobody keeps go, a piece at a time."""

import os
from datetime import timedelta

import pytest

from repos import readiness
from repos.models import Version
from repos.revisions import resolve_commit
from repos.work import queue_index, queue_sync
from search import serving
from search.serving import generation_of, store_of
from search.usecases.collect_indexes import kept_generations, queue_all_upkeep, queue_upkeep
from sourcegraph_site.accounts import policy
from sourcegraph_site.accounts.models import SettingsSection
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.events import RepositoryRemoved, announce
from tests.support.jobs import run_pending_jobs

HOUR = timedelta(hours=1)

pytestmark = pytest.mark.django_db


def upkeep(repo, passes: int = 1) -> None:
    for _ in range(passes):
        Job.objects.filter(kind="search.upkeep", state="queued").delete()
        queue_upkeep(repo.pk, delay_seconds=0)
        run_pending_jobs(limit=1)


def age_segments(repo) -> None:
    for path in (store_of(repo.storage_key).root / "segments").iterdir():
        os.utime(path, (1, 1))


def generations(repo) -> int:
    return len(list((store_of(repo.storage_key).root / "generations").iterdir()))


def segments(repo) -> int:
    return len(list((store_of(repo.storage_key).root / "segments").iterdir()))


def sync(repo) -> None:
    queue_sync(repo)
    run_pending_jobs()
    repo.refresh_from_db()


def test_one_generation_goes_per_pass_and_then_its_segments(make_repository):
    repo, remote = make_repository(files={"a.txt": "one\n"}, window_count=1)
    for number in range(3):
        remote.commit({"a.txt": f"number {number}\n" * 40})
        sync(repo)
    assert Version.objects.filter(repository=repo).count() == 1
    before = generations(repo)
    assert before == 4
    upkeep(repo)
    assert generations(repo) == before - 1
    assert Job.objects.filter(kind="search.upkeep", state="queued").exists()
    age_segments(repo)
    upkeep(repo, passes=3)
    assert generations(repo) == 1
    assert segments(repo) == 1
    assert list(generation_of(repo, resolve_commit(repo, None)).paths) == [b"a.txt"]


def test_many_small_segments_become_few_and_every_commit_still_answers(make_repository):
    repo, remote = make_repository(files={"a.txt": "text 0\n"}, window_count=20)
    commits = [remote.tip("main")]
    for number in range(1, 10):
        commits.append(remote.commit({"a.txt": f"text {number}\n"}))
        sync(repo)
    assert segments(repo) > 4
    age_segments(repo)
    upkeep(repo)
    age_segments(repo)
    upkeep(repo)
    assert segments(repo) <= 4
    for number, commit in enumerate(commits):
        generation = generation_of(repo, resolve_commit(repo, commit))
        (path,) = generation.paths
        segment = generation.segments[int(generation.path_segment[0])]
        assert bytes(segment.text(int(generation.path_document[0]))) == f"text {number}\n".encode()


def test_what_is_kept_survives_any_number_of_passes(make_repository):
    repo, remote = make_repository(files={"a.txt": "one\n"}, window_count=5)
    first = remote.tip("main")
    remote.commit({"b.txt": "two\n"})
    sync(repo)
    age_segments(repo)
    upkeep(repo, passes=4)
    assert kept_generations(repo) == {(first, ""), (remote.tip("main"), "")}
    assert list(generation_of(repo, resolve_commit(repo, first)).paths) == [b"a.txt"]


def test_a_repair_in_progress_leaves_the_segments_it_is_going_to_use(make_repository):
    repo, remote = make_repository(files={"a.txt": "one\n"}, index_history="heads")
    age_segments(repo)
    readiness.mark_none_indexed(repo.pk)
    assert kept_generations(repo) == {(remote.tip("main"), "")}
    upkeep(repo, passes=2)
    assert (generations(repo), segments(repo)) == (1, 1)


def test_what_is_being_indexed_is_kept_before_its_row_says_so(make_repository):
    repo, remote = make_repository(files={"a.txt": "one\n"}, index_history="heads", run=False)
    old = remote.tip("main")
    remote.commit({"a.txt": "two\n"})
    run_pending_jobs()
    repo.refresh_from_db()
    assert (old, "") not in kept_generations(repo)
    queue_index(repo, old)
    store_of(repo.storage_key).index_commit(old)
    age_segments(repo)
    assert (old, "") in kept_generations(repo)


def test_upkeep_gives_way_to_a_running_build_and_comes_back(make_repository):
    repo, remote = make_repository(files={"a.txt": "one\n"})
    job, _ = queue_index(repo, remote.tip("main"))
    Job.objects.filter(pk=job.pk).update(state="running", lease_until=clock.now() + HOUR)
    upkeep(repo)
    assert Job.objects.get(kind="search.upkeep").not_before > clock.now()


def test_upkeep_that_finds_nothing_to_do_leaves_no_row(make_repository):
    repo, _ = make_repository()
    upkeep(repo)
    assert not Job.objects.filter(kind="search.upkeep").exists()


def test_a_changed_option_rebuilds_under_the_old_index(make_repository, settings):
    large = "x" * 3000 + "\n"
    repo, remote = make_repository(files={"small.txt": "s\n", "large.txt": large})
    assert len(generation_of(repo, resolve_commit(repo, None)).paths) == 2
    settings.MAX_INDEXED_FILE_BYTES = 2000
    serving.forget(repo.storage_key)
    at = resolve_commit(repo, None)
    assert len(generation_of(repo, at).paths) == 2  # the old index serves
    upkeep(repo)
    serving.forget(repo.storage_key)
    generation = generation_of(repo, at)
    assert list(generation.paths) == [b"small.txt"]
    assert generation.skipped["too_large"] == 1
    assert Version.objects.get(repository=repo).files == 1
    age_segments(repo)
    upkeep(repo)
    assert segments(repo) == 1


def test_new_options_reach_commits_without_a_manifest_too(make_repository, settings):
    repo, remote = make_repository(files={"large.txt": "x" * 3000 + "\n"}, run=False)
    first = remote.tip("main")
    remote.commit({"large.txt": None, "small.txt": "s\n"})
    run_pending_jobs()
    repo.refresh_from_db()
    assert list(generation_of(repo, resolve_commit(repo, first)).paths) == [b"large.txt"]
    settings.MAX_INDEXED_FILE_BYTES = 2000
    serving.forget(repo.storage_key)
    age_segments(repo)
    upkeep(repo)
    generation = generation_of(repo, resolve_commit(repo, first))
    assert (list(generation.paths), generation.skipped["too_large"]) == ([], 1)
    assert list(generation_of(repo, resolve_commit(repo, None)).paths) == [b"small.txt"]


def test_history_is_indexed_when_the_setting_changes(make_repository):
    repo, remote = make_repository(files={"a.txt": "one\n"}, index_history="heads", run=False)
    remote.commit({"b.txt": "two\n"})
    run_pending_jobs()
    assert Version.objects.filter(repository=repo, indexed=False).count() == 1
    repo.refresh_from_db()
    repo.index_history = "all"
    repo.save()
    queue_all_upkeep()
    run_pending_jobs()
    assert not Version.objects.filter(repository=repo, indexed=False).exists()


def test_the_sites_default_turned_to_all_indexes_histories_at_the_next_sync(make_repository):
    SettingsSection.objects.create(name="repository_defaults", values={"index_history": "heads"})
    policy.forget()
    repo, remote = make_repository(files={"a.txt": "one\n"}, run=False)
    remote.commit({"b.txt": "two\n"})
    run_pending_jobs()
    assert Version.objects.filter(repository=repo, indexed=False).count() == 1
    SettingsSection.objects.update(values={"index_history": "all"})
    policy.forget()
    sync(repo)
    assert not Version.objects.filter(repository=repo, indexed=False).exists()


def test_the_size_of_an_old_commit_is_known_once_it_was_searched(make_repository):
    repo, remote = make_repository(files={"a.txt": "one\n", "b.txt": "two\n"}, run=False)
    first = remote.tip("main")
    remote.commit({"a.txt": "new\n"})
    run_pending_jobs()
    repo.refresh_from_db()
    assert Version.objects.get(repository=repo, commit=first).files == 0
    generation_of(repo, resolve_commit(repo, first))
    assert Version.objects.get(repository=repo, commit=first).files == 2


def test_a_removed_repository_is_forgotten(make_repository):
    repo, _ = make_repository()
    store = store_of(repo.storage_key)
    announce(RepositoryRemoved(repo.pk, repo.storage_key))
    assert store_of(repo.storage_key) is not store
