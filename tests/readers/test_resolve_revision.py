"""Any branch, tag or SHA → one commit, from what is observed or from a real remote over HTTP."""

import os
import threading
import time

import pytest

from readers.errors import (
    RefAmbiguous,
    RefNotCommit,
    RefNotFound,
    RemoteAccessDenied,
    RemoteUnavailable,
)
from readers.remote import backoff, lookup, scratch
from readers.remote.conversation import target_of
from readers.remote.shared import folder, place
from readers.usecases.resolve_revision import ResolveRevision, resolve_revision
from repos.errors import (
    BranchNotObserved,
    InvalidRevision,
    RepositoryDisabled,
    RepositoryNotFound,
    RevisionNotEligible,
    ShortShaUnsupported,
)
from repos.gitstore.layout import scratch_root
from repos.models import ResolvedRef
from sourcegraph_site.kernel.actor import ANONYMOUS, SYSTEM
from sourcegraph_site.kernel.errors import InsufficientStorage
from tests.support.git_remote import git


@pytest.fixture
def remote(http_remote):
    """The remote of acme/widgets: ahead of what was observed, with tags of all sorts."""
    found = http_remote.repository("acme/widgets")
    git(found.path, "config", "uploadpack.allowFilter", "true")
    found.commit({"a": "1\n"}, message="First")
    return found


@pytest.fixture
def far(make_shelf, remote, http_remote):
    """A registered repository that has observed the first commit only."""
    shelf = make_shelf(remote_url=http_remote.url("acme/widgets"))
    shelf.commit({"a": "1\n"}, message="First")
    return shelf


@pytest.fixture
def resolve(far):
    def call(revision=None, actor=SYSTEM):
        return resolve_revision(actor, ResolveRevision(repo=far.name, revision=revision))

    return call


def no_scratch():
    return not scratch_root().exists() or list(scratch_root().iterdir()) == []


@pytest.mark.parametrize("revision", [None, "", "main", "refs/heads/main"])
def test_a_monitored_branch_is_what_was_observed_and_the_remote_is_not_asked(
    far, remote, http_remote, resolve, revision
):
    remote.commit({"a": "2\n"})
    remote.tag("main", "main")
    found = resolve(revision)
    assert found.commit == far.git.tip("main")
    assert (found.kind, found.source, found.monitored) == ("branch", "observed", True)
    assert (found.ref, found.author, found.title) == ("refs/heads/main", "Ada Example", "First")
    assert not http_remote.requests


def test_a_full_sha_is_a_version_or_not_eligible(far, remote, http_remote, resolve):
    commit = far.git.tip("main")
    found = resolve(commit)
    assert (found.commit, found.kind, found.ref, found.monitored) == (commit, "commit", None, False)
    with pytest.raises(RevisionNotEligible):
        resolve(remote.commit({"a": "2\n"}))
    assert not http_remote.requests


def test_a_branch_is_asked_of_the_remote_and_remembered_for_prepare(far, remote, resolve):
    commit = remote.commit({"b": "x" * 100_000}, branch="feature/x", message="Feature\n\nBody")
    for revision in ("feature/x", "refs/heads/feature/x"):
        found = resolve(revision)
        assert (found.commit, found.kind, found.source) == (commit, "branch", "remote")
        assert (found.ref, found.monitored) == ("refs/heads/feature/x", False)
        assert (found.title, found.author) == ("Feature", "Ada Example")
        assert found.created_at == found.committer_time
        assert found.hint
        assert not found.indexed
    assert ResolvedRef.objects.get(repository=far.repo, commit=commit).ref == "refs/heads/feature/x"
    assert no_scratch()


def test_tags_resolve_to_their_commit_and_describe_themselves(far, remote, resolve):
    commit = remote.commit({"b": "2\n"}, message="Second")
    remote.tag("light", commit)
    remote.tag("v1.0", commit, message="Release one\nwith notes")
    remote.tag("nested", "v1.0", message="Tag of a tag")
    light, annotated, nested = resolve("light"), resolve("refs/tags/v1.0"), resolve("nested")
    assert {light.commit, annotated.commit, nested.commit} == {commit}
    assert (light.kind, light.title) == ("tag", "Second")
    assert (annotated.title, annotated.author) == ("Release one", "Ada Example")
    assert annotated.created_at > annotated.committer_time
    assert annotated.committer_time == light.committer_time
    assert nested.title == "Tag of a tag"


def test_a_tag_that_ends_at_a_tree_or_blob_is_not_a_commit(far, remote, resolve):
    remote.commit({"d/b": "2\n"})
    remote.tag("tree", "main:d", message="A tree")
    remote.tag("blob", "main:d/b")
    remote.tag("bare", "main:d")
    remote.tag("deep", "tree", message="A tag of a tag of a tree")
    for name in ("tree", "blob", "bare", "deep"):
        with pytest.raises(RefNotCommit):
            resolve(name)


def test_a_name_that_is_branch_and_tag_must_be_given_in_full(far, remote, resolve, post):
    branch = remote.commit({"b": "1\n"}, branch="both")
    tag = remote.tag("both", remote.commit({"b": "2\n"}))
    with pytest.raises(RefAmbiguous) as caught:
        resolve("both")
    assert caught.value.details == {"refs": ["refs/heads/both", "refs/tags/both"]}
    assert resolve("refs/heads/both").commit == branch
    assert resolve("refs/tags/both").commit == tag
    answer = post("resolve", far.name, {"Revision": "both"})
    assert answer.status_code == 409
    assert answer.json()["Meta"]["Code"] == "REF_AMBIGUOUS"
    assert answer.json()["refs"] == ["refs/heads/both", "refs/tags/both"]


def test_names_are_exact_and_case_sensitive(far, remote, resolve):
    remote.commit({"b": "1\n"}, branch="topic/one")
    for name in ("topic", "one", "Topic/One", "topic/one2", "refs/tags/topic/one", "abc"):
        with pytest.raises(RefNotFound):
            resolve(name)


@pytest.mark.parametrize(
    ("revision", "error"),
    [
        ("abcd", ShortShaUnsupported),
        ("ABCDEF12", ShortShaUnsupported),
        ("A" * 40, InvalidRevision),
        ("a" * 41, InvalidRevision),
        ("HEAD", InvalidRevision),
        ("v1^{}", InvalidRevision),
        ("main~2", InvalidRevision),
        ("refs/pull/1/head", InvalidRevision),
        ("refs/tags/", InvalidRevision),
        ("refs/tags/a..b", InvalidRevision),
        ("refs/heads/a b", InvalidRevision),
        ("-x", InvalidRevision),
        ("a:b", InvalidRevision),
        ("x" * 1025, InvalidRevision),
    ],
)
def test_what_can_be_no_name_is_refused_without_asking(resolve, http_remote, revision, error):
    with pytest.raises(error):
        resolve(revision)
    assert not http_remote.requests


def test_a_hexadecimal_branch_name_resolves_in_its_full_form(far, remote, resolve):
    commit = remote.commit({"b": "1\n"}, branch="deadbeef")
    assert resolve("refs/heads/deadbeef").commit == commit


def test_a_monitored_branch_that_was_not_there_is_not_looked_up(far, remote, http_remote, resolve):
    far.repo.branches = ["main", "next"]
    far.repo.save()
    remote.commit({"b": "1\n"}, branch="next")
    with pytest.raises(BranchNotObserved):
        resolve("next")
    assert not http_remote.requests


def test_answers_are_remembered_for_30_seconds_also_that_there_is_nothing(
    far, remote, http_remote, resolve, monkeypatch
):
    first = remote.commit({"b": "1\n"}, branch="topic")
    assert resolve("topic").commit == first
    with pytest.raises(RefNotFound):
        resolve("later")
    asked = http_remote.requests.total()
    remote.commit({"b": "2\n"}, branch="topic")
    later = remote.commit({"b": "3\n"}, branch="later")
    assert resolve("topic").commit == first
    with pytest.raises(RefNotFound):
        resolve("later")
    assert http_remote.requests.total() == asked
    monkeypatch.setattr(lookup, "REMEMBER_SECONDS", 0.0)
    assert resolve("later").commit == later


def test_visibility_and_state_come_before_any_remembered_answer(far, remote, resolve):
    remote.commit({"b": "1\n"}, branch="topic")
    assert resolve("topic", ANONYMOUS).hint
    far.repo.enabled = False
    far.repo.save()
    with pytest.raises(RepositoryDisabled):
        resolve("topic", ANONYMOUS)
    far.repo.public_read = False
    far.repo.save()
    with pytest.raises(RepositoryNotFound):
        resolve("topic", ANONYMOUS)


def test_the_same_question_at_the_same_time_is_asked_once(far, remote, http_remote):
    remote.commit({"b": "1\n"}, branch="topic")
    http_remote.hang_seconds = 0.2
    key, target, results = far.repo.storage_key, target_of(far.repo), []

    def ask():
        found = lookup.look_up(key, lambda: target, ["refs/heads/topic"], lookup.Deadline.after(20))
        results.append(found[0].described.commit)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [remote.tip("topic")] * 6
    assert http_remote.requests["refs"] == 1


def test_failures_back_off_longer_each_time_and_success_ends_it(
    far, remote, http_remote, resolve, monkeypatch
):
    now = time.time()
    monkeypatch.setattr("readers.remote.backoff.time.time", lambda: now)
    http_remote.status = 500
    waits = []
    for _ in range(7):
        with pytest.raises(RemoteUnavailable) as caught:
            resolve("topic")
        waits.append(caught.value.retry_after)
        asked = http_remote.requests.total()
        with pytest.raises(RemoteUnavailable) as again:
            resolve("other")
        assert again.value.retry_after == waits[-1]
        assert http_remote.requests.total() == asked
        now += waits[-1]
    assert waits == [10, 20, 40, 80, 160, 300, 300]
    http_remote.status = None
    with pytest.raises(RefNotFound):
        resolve("topic")
    assert not (folder("backoff") / far.repo.storage_key).exists()


@pytest.mark.parametrize(
    ("status", "error", "code", "http_status"),
    [
        (401, RemoteAccessDenied, "REMOTE_ACCESS_DENIED", 502),
        (403, RemoteAccessDenied, "REMOTE_ACCESS_DENIED", 502),
        (404, RemoteAccessDenied, "REMOTE_ACCESS_DENIED", 502),
        (503, RemoteUnavailable, "REMOTE_UNAVAILABLE", 503),
    ],
)
def test_failures_of_the_remote_have_codes_of_their_own(
    far, http_remote, post, status, error, code, http_status
):
    http_remote.status = status
    answer = post("resolve", far.name, {"Revision": "topic"})
    assert (answer.status_code, answer.json()["Meta"]["Code"]) == (http_status, code)
    assert answer["Retry-After"] == "10"
    assert answer.json()["Meta"]["RetryAfterSeconds"] == 10
    assert "127.0.0.1" not in answer.content.decode()


def test_a_look_up_that_grows_over_its_budget_is_stopped(far, remote, resolve, monkeypatch):
    remote.commit({"big": os.urandom(300_000)}, branch="topic")
    git(remote.path, "config", "uploadpack.allowFilter", "false")
    monkeypatch.setattr(lookup, "LOOKUP_BYTES", 200_000)
    with pytest.raises(RemoteUnavailable):
        resolve("topic")
    assert no_scratch()


def test_all_downloads_together_have_a_budget(far, remote, resolve, monkeypatch):
    remote.commit({"a": "2\n"}, branch="topic")
    monkeypatch.setattr(scratch, "TOTAL_BYTES", 1)
    with pytest.raises(RemoteUnavailable):
        resolve("topic")
    assert no_scratch()


def test_the_disk_reserve_stops_look_ups(far, remote, resolve, settings):
    settings.MIN_FREE_BYTES = 1 << 60
    with pytest.raises(InsufficientStorage):
        resolve("topic")


def test_more_than_64_look_ups_are_turned_away_at_once(far, remote, resolve, monkeypatch):
    monkeypatch.setattr(lookup, "RUNNING_OR_WAITING", 1)
    with place("lookups", 1), pytest.raises(RemoteUnavailable) as caught:
        resolve("topic")
    assert caught.value.retry_after == 10
    with pytest.raises(RefNotFound):
        resolve("topic")


def test_places_are_counted_over_threads_and_come_back(db):
    with place("test", 2), place("test", 2), pytest.raises(lookup.NoPlace), place("test", 2):
        pass
    with place("test", 2), place("test", 2):
        pass


def test_the_scratch_of_a_dead_process_is_removed_and_that_of_a_living_one_stays(db):
    with scratch.scratch(1 << 20) as mine:
        left = scratch_root() / ("d" * 32)
        left.mkdir()
        (left / "file").write_text("x")
        left.with_suffix(".lock").write_text("")
        assert scratch.remove_leftovers() == 1
        assert mine.git_dir.is_dir()
        assert not left.exists()
    assert no_scratch()


def test_old_and_surplus_answers_are_removed(db, tmp_path, monkeypatch):
    monkeypatch.setattr(lookup, "MAX_ANSWERS", 3)
    for number in range(5):
        path = tmp_path / str(number)
        path.write_text("{}")
        os.utime(path, (0, time.time() - number))
    (tmp_path / "old").write_text("{}")
    os.utime(tmp_path / "old", (0, time.time() - 31))
    lookup.forget_answers(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2"]


def test_a_damaged_note_counts_as_none(db):
    (folder("backoff") / "key").write_bytes(b'{"unt')
    backoff.check("key")
