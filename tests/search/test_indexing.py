"""From a sync to searchable commits: the jobs of the search app."""

import pytest

from readers.errors import PathNotRegistered
from repos.models import GroupVersion, Version
from repos.revisions import resolve_commit
from repos.work import queue_sync
from search.errors import IndexCorrupt, IndexNotReady, ScopeNotReady
from search.serving import forget, generation_of, store_of
from search.usecases.index_commits import HISTORY
from sourcegraph_site.jobs.models import Job
from tests.support.jobs import run_pending_jobs

pytestmark = pytest.mark.django_db


def paths(repo, revision=None) -> list[bytes]:
    return list(generation_of(repo, resolve_commit(repo, revision)).paths)


def test_a_head_is_searchable_after_its_sync(make_repository):
    repo, _ = make_repository(files={"a.txt": "alpha\n", "b/c.txt": "beta\n"})
    version = Version.objects.get(repository=repo)
    assert (version.indexed, version.files, version.shards) == (True, 2, 1)
    assert repo.last_indexed_at is not None
    assert paths(repo) == [b"a.txt", b"b/c.txt"]


def test_every_kept_commit_is_searchable_by_default(make_repository):
    repo, remote = make_repository(files={"a.txt": "one\n"})
    first = remote.tip("main")
    second = remote.commit({"b.txt": "two\n"})
    remote.commit({"c.txt": "three\n"})
    queue_sync(repo)
    run_pending_jobs()
    assert Version.objects.filter(repository=repo, indexed=True).count() == 3
    assert paths(repo, first) == [b"a.txt"]
    assert paths(repo, second) == [b"a.txt", b"b.txt"]
    assert paths(repo) == [b"a.txt", b"b.txt", b"c.txt"]


def test_with_heads_only_older_commits_are_not_ready(make_repository):
    repo, remote = make_repository(files={"a.txt": "one\n"}, index_history="heads", run=False)
    first = remote.tip("main")
    remote.commit({"b.txt": "two\n"})
    run_pending_jobs()
    repo.refresh_from_db()
    assert paths(repo) == [b"a.txt", b"b.txt"]
    with pytest.raises(IndexNotReady):
        paths(repo, first)
    assert not Job.objects.filter(kind=HISTORY).exists()


def test_an_unchanged_sync_queues_no_index_job(make_repository):
    repo, _ = make_repository()
    queue_sync(repo)
    kinds = [job.kind for job in run_pending_jobs()]
    assert "search.index" not in kinds and HISTORY not in kinds


@pytest.mark.parametrize("damage", ["truncate", "empty", "flip", "remove"])
def test_a_damaged_index_is_an_error_and_is_rebuilt(make_repository, damage):
    repo, _ = make_repository(files={"a.txt": "needle in the haystack\n" * 500})
    (segment,) = (store_of(repo.storage_key).root / "segments").iterdir()
    data = segment.read_bytes()
    forget(repo.storage_key)
    for manifest in (store_of(repo.storage_key).root / "generations").iterdir():
        manifest.unlink()
    if damage == "truncate":
        segment.write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        segment.write_bytes(b"")
    elif damage == "flip":
        segment.write_bytes(data[:-20] + bytes([data[-20] ^ 0xFF]) + data[-19:])
    else:
        segment.unlink()
    with pytest.raises(IndexCorrupt):
        paths(repo)
    run_pending_jobs()
    assert paths(repo) == [b"a.txt"]


def test_a_head_that_failed_three_times_is_left_alone(make_repository, settings):
    settings.MIN_FREE_BYTES = 1 << 60
    repo, _ = make_repository(run=False)
    settings.MIN_FREE_BYTES = 0
    queue_sync(repo)
    for job in range(3):
        Job.objects.create(
            kind="search.index",
            identity=f"old-{job}",
            repository_id=repo.pk,
            commit="",
            state="failed",
            policy_revision=repo.policy_revision,
            not_before=repo.created_at,
            created_at=repo.created_at,
            updated_at=repo.created_at,
            time_limit_seconds=1,
        )
    run_pending_jobs(limit=1)
    head = repo.heads.get().commit
    Job.objects.filter(kind="search.index", state="queued").delete()
    Job.objects.filter(kind="search.index").update(commit=head)
    queue_sync(repo)
    assert "search.index" not in [job.kind for job in run_pending_jobs()]


GROUPS = [{"name": "api", "paths": ["api"]}, {"name": "web", "paths": ["web/app"]}]
MONOREPO = {
    "api/a.txt": "needle api\n",
    "web/app/b.txt": "needle web\n",
    "web/other.txt": "needle elsewhere\n",
    "top.txt": "needle top\n",
}


@pytest.fixture
def monorepo(make_repository):
    return make_repository(files=MONOREPO, index_mode="monorepo", path_groups=GROUPS, run=False)


def test_a_monorepo_indexes_its_groups_and_nothing_else(monorepo):
    repo, remote = monorepo
    first = remote.tip("main")
    remote.commit({"api/a.txt": "needle api again\n"})
    run_pending_jobs()
    repo.refresh_from_db()
    assert paths(repo) == [b"api/a.txt", b"web/app/b.txt"]
    at = resolve_commit(repo, None)
    assert list(generation_of(repo, at, ["web"]).paths) == [b"web/app/b.txt"]
    assert list(generation_of(repo, at, ["api/a.txt"]).paths) == [b"api/a.txt"]
    assert paths(repo, first) == [b"api/a.txt", b"web/app/b.txt"]
    with pytest.raises(PathNotRegistered):
        generation_of(repo, at, ["top.txt"])


def test_a_group_that_lacks_a_commit_says_which_way_it_is_not_ready(monorepo):
    repo, _ = monorepo
    run_pending_jobs(limit=1)  # the sync alone
    repo.refresh_from_db()
    at = resolve_commit(repo, None)
    with pytest.raises(ScopeNotReady):
        generation_of(repo, at, ["api"])
    run_pending_jobs()
    repo.refresh_from_db()
    GroupVersion.objects.filter(group="api", version__commit=at.commit).delete()
    old = Version.objects.create(
        repository=repo, commit="1" * 40, committer_time=at.version.committer_time
    )
    GroupVersion.objects.create(version=old, group="api", indexed_at=at.version.committer_time)
    with pytest.raises(IndexNotReady):
        generation_of(repo, resolve_commit(repo, None), ["api"])
    assert list(generation_of(repo, at, ["web/app"]).paths) == [b"web/app/b.txt"]
