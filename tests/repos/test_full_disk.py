"""A disk that fills up during a sync or while a commit is indexed. As root on a real file
system of a few megabytes; otherwise by a reserve that the sync runs into."""

import os
import random
import subprocess

import pytest

from repos import work
from repos.gitstore import layout, mirror
from repos.models import Repository
from repos.revisions import resolve_commit
from search.index.verify import verify
from search.serving import generation_of, store_of
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from tests.support.jobs import run_pending_jobs
from tests.support.syncs import sync_job, sync_now

pytestmark = pytest.mark.django_db


@pytest.fixture
def small_disk(tmp_path, settings):
    """A data root of 3 MiB; yields a function that gives it plenty of room."""
    root = tmp_path / "small"
    root.mkdir()
    options = ["-t", "tmpfs", "-o", "size=3m", "none", str(root)]
    mounted = os.geteuid() == 0 and subprocess.run(["mount", *options]).returncode == 0
    settings.DATA_ROOT = root

    def make_room() -> None:
        settings.MIN_FREE_BYTES = 0
        if mounted:
            subprocess.run(["mount", "-o", "remount,size=64m", str(root)], check=True)

    def use_up() -> None:
        if not mounted:
            settings.MIN_FREE_BYTES = 1 << 60

    yield use_up, make_room
    if mounted:
        subprocess.run(["umount", "-l", str(root)], check=True)


def test_a_full_disk_fails_the_sync_keeps_what_was_and_heals_with_room(
    small_disk, http_remote, synced
):
    use_up, make_room = small_disk
    remote = http_remote.repository("acme/widgets")
    first = remote.commit({"a": "1"})
    repo = synced(http_remote.url("acme/widgets"))
    tip = remote.commit({f"f{n}": os.urandom(500_000) for n in range(12)})
    use_up()

    job = sync_job(repo)

    repo = Repository.objects.get()
    assert job.error == "INSUFFICIENT_STORAGE"
    assert (repo.last_error, resolve_commit(repo, None).commit) == ("INSUFFICIENT_STORAGE", first)
    packs = layout.mirror_path(repo.storage_key) / "objects" / "pack"
    assert [path.name for path in packs.iterdir() if path.name.startswith("tmp_")] == []
    make_room()
    job.delete()
    repo = sync_now(repo)
    assert (repo.last_error, resolve_commit(repo, None).commit) == ("", tip)
    assert mirror.heads(layout.mirror_path(repo.storage_key)) == {"main": tip}


def test_a_full_disk_fails_the_indexing_and_room_heals_it(small_disk, http_remote, synced):
    use_up, make_room = small_disk
    remote = http_remote.repository("acme/widgets")
    first = remote.commit({"a": "one\n"})
    repo = synced(http_remote.url("acme/widgets"))
    run_pending_jobs()
    # Small in the mirror, because it repeats itself; large in the index.
    line = "".join(random.Random(1).choices("abcdefghij \n", k=2_000))
    tip = remote.commit({f"f{n}": f"{n}\n" + line * 500 for n in range(8)})
    repo = sync_now(repo)
    assert repo.last_error == ""
    use_up()

    run_pending_jobs()

    job = Job.objects.get(kind=work.INDEX, commit=tip)
    assert (job.state, job.error) == ("queued", "INSUFFICIENT_STORAGE")
    index = layout.index_path(repo.storage_key)
    assert list((index / "staging").glob("*")) == []
    assert not repo.versions.get(commit=tip).indexed
    assert list(generation_of(repo, resolve_commit(repo, first)).paths) == [b"a"]
    make_room()
    Job.objects.filter(pk=job.pk).update(not_before=clock.now())
    run_pending_jobs()
    assert len(generation_of(repo, resolve_commit(repo, tip)).paths) == 9
    assert verify(store_of(repo.storage_key)) == []
