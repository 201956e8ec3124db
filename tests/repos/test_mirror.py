import subprocess
import time

import pytest

from repos.errors import (
    GitAccessDenied,
    GitAuthFailed,
    GitFetchFailed,
    GitRepositoryUnavailable,
    UnsupportedRepositoryFormat,
)
from repos.gitstore import layout, mirror
from repos.gitstore.history import first_parent_history, time_of
from repos.gitstore.mirror import DETACHED, Watch
from repos.gitstore.process import GitCall, run_git
from repos.gitstore.remote_url import Route, check_remote, route_to
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import InsufficientStorage
from tests.support.git_remote import EPOCH, git

KEY = "0123456789abcdef0123456789abcdef"


def watch(seconds: float = 60.0, **options) -> Watch:
    return Watch(Deadline.after(seconds), **options)


def sync(url: str, *branches: str, follow: bool = True, seconds: float = 60.0):
    route = route_to(check_remote(url))
    listing = mirror.look(route, branches, follow_default=follow, watch=watch(seconds))
    path = mirror.ensure_mirror(KEY)
    mirror.fetch(path, route, listing, watch(seconds))
    return listing, mirror.heads(path)


def refs(path) -> list[str]:
    return git(path, "for-each-ref", "--format=%(refname)").decode().split()


def test_only_the_monitored_branches_are_mirrored_and_never_a_tag(http_remote):
    remote = http_remote.repository("acme/widgets")
    main = remote.commit({"a": "1"})
    release = remote.commit({"a": "2"}, branch="release/1")
    remote.commit({"b": "1"}, branch="other")
    remote.tag("v1", main)
    remote.tag("v2", release, "annotated")

    listing, heads = sync(http_remote.url("acme/widgets"), "release/1", "absent")

    assert listing.default_branch == "main"
    assert heads == {"main": main, "release/1": release}
    assert refs(layout.mirror_path(KEY)) == ["refs/heads/main", "refs/heads/release/1"]


def test_a_mirror_is_bare_and_never_collects_by_itself(git_remote):
    remote = git_remote()
    remote.commit({"a": "1"})
    sync(remote.url)

    config = git(layout.mirror_path(KEY), "config", "--list", "--local").decode()

    assert "core.bare=true" in config
    assert list(layout.staging_root().iterdir()) == []


def test_force_push_replaces_the_head(http_remote):
    remote = http_remote.repository("a/b")
    first = remote.commit({"a": "1"})
    remote.commit({"a": "2"})
    sync(http_remote.url("a/b"))
    rewritten = remote.commit({"a": "3"}, start=first)

    assert sync(http_remote.url("a/b"))[1] == {"main": rewritten}


def test_a_deleted_branch_loses_its_head(http_remote):
    remote = http_remote.repository("a/b")
    main = remote.commit({"a": "1"})
    remote.commit({"a": "2"}, branch="next")
    sync(http_remote.url("a/b"), "next")
    remote.delete_branch("next")

    assert sync(http_remote.url("a/b"), "next")[1] == {"main": main}


def test_a_branch_that_became_a_directory_of_branches_is_followed(http_remote):
    remote = http_remote.repository("a/b")
    remote.commit({"a": "1"})
    remote.commit({"a": "2"}, branch="foo")
    sync(http_remote.url("a/b"), "foo", "foo/bar")
    remote.delete_branch("foo")
    below = remote.commit({"a": "3"}, branch="foo/bar")

    _, heads = sync(http_remote.url("a/b"), "foo", "foo/bar")
    assert heads["foo/bar"] == below and "foo" not in heads

    remote.delete_branch("foo/bar")
    back = remote.commit({"a": "4"}, branch="foo")
    _, heads = sync(http_remote.url("a/b"), "foo", "foo/bar")
    assert heads["foo"] == back and "foo/bar" not in heads


def test_a_renamed_default_branch_is_read_each_time(http_remote):
    remote = http_remote.repository("a/b")
    tip = remote.commit({"a": "1"})
    sync(http_remote.url("a/b"))
    remote.set_branch("trunk", tip)
    remote.set_head("trunk")
    remote.delete_branch("main")

    listing, heads = sync(http_remote.url("a/b"))

    assert listing.default_branch == "trunk"
    assert heads == {"trunk": tip}


def test_an_empty_remote_is_empty_and_not_an_error(http_remote):
    http_remote.repository("a/b")

    listing, heads = sync(http_remote.url("a/b"))

    assert (listing.empty, listing.default_branch, heads) == (True, "", {})


def test_a_remote_without_the_asked_branches_is_not_empty(http_remote):
    remote = http_remote.repository("a/b")
    remote.commit({"a": "1"}, branch="other")

    listing, heads = sync(http_remote.url("a/b"), "absent")

    assert (listing.empty, listing.default_branch, heads) == (False, "", {})


def test_a_head_on_no_branch_is_mirrored_under_a_name_of_its_own(git_remote):
    remote = git_remote()
    first = remote.commit({"a": "1"})
    remote.commit({"a": "2"})
    remote.detach_head(first)

    listing, heads = sync(remote.url)

    assert listing.default_branch == DETACHED
    assert heads == {DETACHED: first}


def test_a_shallow_local_clone_can_be_a_remote(git_remote, tmp_path):
    origin = git_remote()
    origin.commit({"a": "1"})
    tip = origin.commit({"a": "2"})
    clone = origin.path.parent / "clone"
    subprocess.run(["git", "clone", "-q", "--depth=1", origin.url, str(clone)], check=True)

    _, heads = sync(clone.as_uri())

    assert heads == {"main": tip}
    assert len(first_parent_history(layout.mirror_path(KEY), tip, 10)) == 1


@pytest.mark.parametrize("empty", [False, True])
def test_a_sha256_remote_is_refused_once_it_has_commits(http_remote, empty):
    remote = http_remote.repository("a/b", object_format="sha256")
    if empty:
        assert sync(http_remote.url("a/b"))[0].empty
        return
    tree = git(remote.path, "mktree").decode().strip()
    commit = git(
        remote.path,
        *("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree, "-m", "x"),
    ).decode()
    remote.set_branch("main", commit.strip())

    with pytest.raises(UnsupportedRepositoryFormat):
        sync(http_remote.url("a/b"))


def test_a_missing_repository_is_unavailable(http_remote):
    with pytest.raises(GitRepositoryUnavailable):
        sync(http_remote.url("a/missing"))


def test_a_missing_local_repository_is_unavailable(git_remote):
    remote = git_remote()

    with pytest.raises(GitRepositoryUnavailable):
        sync(remote.url.replace("widgets", "missing"))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, GitAuthFailed),
        (403, GitAccessDenied),
        (404, GitRepositoryUnavailable),
        (410, GitRepositoryUnavailable),
        (429, GitFetchFailed),
        (500, GitFetchFailed),
        (503, GitFetchFailed),
    ],
)
def test_answers_of_the_remote_become_codes(http_remote, status, error):
    http_remote.status = status

    with pytest.raises(error) as failure:
        sync(http_remote.url("a/b"))

    assert "127.0.0.1" not in failure.value.message


def test_a_remote_that_wants_a_password_is_not_asked_twice(http_remote):
    http_remote.repository("a/b").commit({"a": "1"})
    http_remote.credentials = ("ada", "secret")

    with pytest.raises(GitAuthFailed):
        sync(http_remote.url("a/b"))


def test_redirects_are_not_followed(http_remote):
    http_remote.repository("a/b").commit({"a": "1"})
    http_remote.redirect_to = "http://169.254.169.254/a/b.git/info/refs?service=git-upload-pack"

    with pytest.raises(GitFetchFailed) as failure:
        sync(http_remote.url("a/b"))

    assert "redirect" in failure.value.message


def test_a_remote_that_hangs_is_given_up_in_time(http_remote):
    http_remote.repository("a/b").commit({"a": "1"})
    http_remote.hang_seconds = 60

    started = time.monotonic()
    with pytest.raises(GitFetchFailed):
        sync(http_remote.url("a/b"), seconds=1.0)

    assert time.monotonic() - started < 30


def test_a_fetch_that_breaks_off_leaves_the_old_state_and_nothing_behind(http_remote):
    remote = http_remote.repository("a/b")
    first = remote.commit({"a": "1"})
    sync(http_remote.url("a/b"))
    tip = remote.commit({f"f{i}": bytes(range(256)) * 40 for i in range(40)})
    http_remote.cut_after = 700

    with pytest.raises(GitFetchFailed):
        sync(http_remote.url("a/b"))

    path = layout.mirror_path(KEY)
    assert mirror.heads(path) == {"main": first}
    assert [p.name for p in (path / "objects" / "pack").iterdir() if "tmp" in p.name] == []
    http_remote.cut_after = None
    assert sync(http_remote.url("a/b"))[1] == {"main": tip}


def test_no_fetch_is_made_when_the_heads_are_the_same(http_remote):
    http_remote.repository("a/b").commit({"a": "1"})
    sync(http_remote.url("a/b"))
    http_remote.requests.clear()

    sync(http_remote.url("a/b"))

    assert http_remote.requests == {"refs": 1, "git-upload-pack": 1}  # ls-remote alone


def test_a_full_disk_stops_before_the_fetch(http_remote, settings):
    http_remote.repository("a/b").commit({"a": "1"})
    settings.MIN_FREE_BYTES = 1 << 60

    with pytest.raises(InsufficientStorage):
        sync(http_remote.url("a/b"))


def test_what_a_killed_git_left_is_removed(git_remote):
    remote = git_remote()
    remote.commit({"a": "1"})
    sync(remote.url)
    path = layout.mirror_path(KEY)
    for name in (
        "refs/heads/main.lock",
        "packed-refs.lock",
        "config.lock",
        "shallow.lock",
        "objects/pack/tmp_pack_x1",
        "objects/pack/pack-1.keep",
    ):
        (path / name).write_text("")
    tip = remote.commit({"a": "2"})

    removed = mirror.repair(path)

    assert len(removed) == 6
    assert sync(remote.url)[1] == {"main": tip}


def test_progress_of_a_fetch_is_reported(http_remote):
    http_remote.repository("a/b").commit({f"f{i}": f"{i}" for i in range(300)})
    route = route_to(check_remote(http_remote.url("a/b")))
    seen = []
    listening = watch(progress=lambda *args: seen.append(args))
    listing = mirror.look(route, [], follow_default=True, watch=listening)

    mirror.fetch(mirror.ensure_mirror(KEY), route, listing, listening)

    assert ("receiving", 302, 302) in [(phase, done, total) for phase, done, total, _ in seen]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Receiving objects: 100% (3/3), 12 bytes | 12.00 KiB/s, done.", ("receiving", 3, 3, 12)),
        ("remote: Counting objects:  50% (1/2)", ("counting", 1, 2, 0)),
        ("Resolving deltas:   0% (0/7)", ("resolving", 0, 7, 0)),
        ("remote: Total 3 (delta 0), reused 0", None),
        ("Receiving objects", None),
    ],
)
def test_progress_lines(line, expected):
    assert mirror.parse_progress(line) == expected


def test_history_follows_first_parents_only(git_remote):
    remote = git_remote()
    base = remote.commit({"a": "1"})
    side = remote.commit({"b": "1"}, branch="side", start=base)
    merge = remote.commit({"c": "1"}, merge=[side])

    history = first_parent_history(remote.path, merge, 10)

    assert [commit.sha for commit in history] == [merge, base]
    assert history[-1].time.timestamp() == EPOCH + 60


@pytest.mark.parametrize("seconds", ["-5", "", "99999999999999", "x"])
def test_impossible_times_are_moved_into_the_calendar(seconds):
    assert 1970 <= time_of(seconds).year <= 9999


def test_one_commit_is_fetched_by_its_id_or_by_its_ref_and_retained(http_remote):
    remote = http_remote.repository("a/b")
    remote.commit({"a": "1"})
    tagged = remote.commit({"a": "2"}, branch="side")
    remote.tag("v1", tagged, "first")
    remote.delete_branch("side")
    sync(http_remote.url("a/b"))
    route = route_to(check_remote(http_remote.url("a/b")))
    path = layout.mirror_path(KEY)

    assert mirror.fetch_commit(path, route, tagged, "refs/tags/v1", watch())

    assert refs(path) == ["refs/heads/main", f"refs/retained/{tagged}"]


def test_a_ref_that_moved_on_retains_nothing(http_remote):
    remote = http_remote.repository("a/b")
    first = remote.commit({"a": "1"}, branch="side")
    remote.commit({"a": "2"}, branch="side", orphan=True)
    git(remote.path, "repack", "-adq")
    git(remote.path, "prune", "--expire=now")
    route = route_to(check_remote(http_remote.url("a/b")))
    path = mirror.ensure_mirror(KEY)

    assert not mirror.fetch_commit(path, route, first, "refs/heads/side", watch())
    assert refs(path) == []


def test_pinned_address_is_where_git_connects(http_remote):
    http_remote.repository("a/b").commit({"a": "1"})
    port = http_remote.origin.rpartition(":")[2]
    route = Route(
        f"http://code.example:{port}/a/b.git",
        "http",
        (f"http.curloptResolve=code.example:{port}:127.0.0.1",),
    )

    assert mirror.look(route, [], follow_default=True, watch=watch()).default_branch == "main"


def test_replace_refs_do_not_change_what_an_id_means(git_remote):
    remote = git_remote()
    first = remote.commit({"a": "1"})
    second = remote.commit({"a": "2"})
    git(remote.path, "replace", first, second)

    out = run_git(remote.path, "cat-file", "-p", f"{first}:a", call=GitCall(timeout_s=20))

    assert out == b"1"
