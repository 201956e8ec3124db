from datetime import UTC, datetime

import pytest

from repos.models import BranchHead, Repository, Version
from repos.revisions import resolve_commit
from sourcegraph_site.kernel.errors import AppError

pytestmark = pytest.mark.django_db

MAIN, OLD, NEXT = "a" * 40, "b" * 40, "c" * 40


@pytest.fixture
def repo(db):
    row = Repository.objects.create(
        name="acme/widgets",
        remote_url="https://example.org/a.git",
        branches=["main", "release/1", "deadbeef", "gone"],
        follows_default=False,
        window_count=9,
        observed_policy_revision=1,
    )
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for branch, commit in (("main", MAIN), ("release/1", NEXT), ("deadbeef", OLD)):
        BranchHead.objects.create(repository=row, branch=branch, commit=commit, observed_at=now)
    for commit in (MAIN, OLD, NEXT):
        Version.objects.create(repository=row, commit=commit, committer_time=now)
    return row


@pytest.mark.parametrize(
    ("revision", "commit", "branch"),
    [
        (None, MAIN, "main"),
        ("", MAIN, "main"),
        ("main", MAIN, "main"),
        ("refs/heads/main", MAIN, "main"),
        ("release/1", NEXT, "release/1"),
        ("deadbeef", OLD, "deadbeef"),  # monitored branches win over SHA-shaped names
        (OLD, OLD, None),
    ],
)
def test_a_revision_is_exactly_one_commit(repo, revision, commit, branch):
    found = resolve_commit(repo, revision)

    assert (found.commit, found.branch, found.version.commit) == (commit, branch, commit)


@pytest.mark.parametrize(
    ("revision", "code"),
    [
        ("d" * 40, "REVISION_NOT_ELIGIBLE"),
        ("abcd", "SHORT_SHA_UNSUPPORTED"),
        ("ABCD", "SHORT_SHA_UNSUPPORTED"),
        ("a" * 39, "SHORT_SHA_UNSUPPORTED"),
        ("A" * 40, "INVALID_REVISION"),
        ("a" * 41, "INVALID_REVISION"),
        ("a" * 64, "INVALID_REVISION"),
        ("abc", "BRANCH_NOT_MONITORED"),
        ("HEAD", "INVALID_REVISION"),
        ("refs/tags/v1", "INVALID_REVISION"),
        ("refs/remotes/origin/main", "INVALID_REVISION"),
        ("refs/heads/HEAD", "INVALID_REVISION"),
        ("main~1", "INVALID_REVISION"),
        ("main^", "INVALID_REVISION"),
        ("main@{1}", "INVALID_REVISION"),
        ("-main", "INVALID_REVISION"),
        ("--upload-pack=id", "INVALID_REVISION"),
        ("a..b", "INVALID_REVISION"),
        ("a//b", "INVALID_REVISION"),
        ("a/", "INVALID_REVISION"),
        ("a.", "INVALID_REVISION"),
        ("a/.b", "INVALID_REVISION"),
        ("a.lock", "INVALID_REVISION"),
        ("a b", "INVALID_REVISION"),
        ("ünïcode", "INVALID_REVISION"),
        ("main\n", "INVALID_REVISION"),
        ("x" * 1025, "INVALID_REVISION"),
        ("v1.0", "BRANCH_NOT_MONITORED"),
        ("other", "BRANCH_NOT_MONITORED"),
        ("refs/heads/other", "BRANCH_NOT_MONITORED"),
        ("gone", "BRANCH_NOT_OBSERVED"),
    ],
)
def test_a_revision_that_is_refused_has_its_code(repo, revision, code):
    with pytest.raises(AppError) as refusal:
        resolve_commit(repo, revision)

    assert refusal.value.code == code


@pytest.mark.parametrize("branches", [["next"], ["main", "master"]])
def test_without_a_single_usual_branch_the_default_is_undetermined(repo, branches):
    repo.branches = branches

    with pytest.raises(AppError) as refusal:
        resolve_commit(repo, "")

    assert refusal.value.code == "DEFAULT_BRANCH_UNDETERMINED"


def test_a_default_branch_that_was_never_seen_is_not_observed(repo):
    repo.branches = ["master"]
    for repo.follows_default in (True, False):
        with pytest.raises(AppError) as refusal:
            resolve_commit(repo, None)

        assert refusal.value.code == "DEFAULT_BRANCH_NOT_OBSERVED"


def test_the_followed_default_branch_is_monitored(repo):
    repo.follows_default, repo.default_branch, repo.branches = True, "trunk", []
    BranchHead.objects.create(
        repository=repo, branch="trunk", commit=NEXT, observed_at=datetime.now(UTC)
    )

    assert resolve_commit(repo, None).commit == resolve_commit(repo, "trunk").commit == NEXT


def test_branches_of_the_old_policy_answer_until_the_new_one_is_in_force(repo):
    repo.branches, repo.policy_revision = ["main"], 2

    assert resolve_commit(repo, "release/1").commit == NEXT
    repo.observed_policy_revision = 2
    with pytest.raises(AppError) as refusal:
        resolve_commit(repo, "release/1")
    assert refusal.value.code == "BRANCH_NOT_MONITORED"


def test_a_head_outside_the_window_has_no_substitute(repo):
    Version.objects.filter(commit=MAIN).delete()

    with pytest.raises(AppError) as refusal:
        resolve_commit(repo, "main")

    assert refusal.value.code == "REVISION_NOT_ELIGIBLE"


def test_resolution_takes_at_most_two_queries(repo, django_assert_max_num_queries):
    with django_assert_max_num_queries(2):
        resolve_commit(repo, "main")
