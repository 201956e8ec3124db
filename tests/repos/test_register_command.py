from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from repos.models import Repository
from sourcegraph_site.jobs.models import Job

pytestmark = pytest.mark.django_db


def run(*args: str) -> str:
    out = StringIO()
    call_command("register_repository", *args, stdout=out)
    return out.getvalue()


def test_the_terminal_registers_without_people_and_says_what_comes_next(git_remote):
    out = run("acme/widgets", git_remote().url)

    repo = Repository.objects.get()
    assert (repo.creator, repo.managers.count(), repo.public_read) == (None, 0, True)
    assert (repo.branches, repo.follows_default, repo.window_days) == ([], True, 30)
    assert Job.objects.get().job_id in out
    assert "Registered acme/widgets (public)" in out and "serve" in out


def test_branches_window_and_visibility_are_taken(git_remote):
    run(
        "acme/widgets",
        git_remote().url,
        *("--branch", "main", "--branch", "next", "--count", "7", "--private"),
    )

    repo = Repository.objects.get()
    assert (repo.branches, repo.follows_default) == (["main", "next"], False)
    assert (repo.window_days, repo.window_count, repo.public_read) == (None, 7, False)


def test_following_the_default_branch_beside_others(git_remote):
    run("acme/widgets", git_remote().url, "--branch", "next", "--follow-default", "--days", "3")

    repo = Repository.objects.get()
    assert (repo.branches, repo.follows_default, repo.window_days) == (["next"], True, 3)


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("acme", "https://code.example/a"), "INVALID_REPO"),
        (("acme/widgets", "ext::sh -c id"), "INVALID_REMOTE"),
        (("acme/widgets", "file:///etc"), "INVALID_REMOTE"),
        (("acme/widgets", "https://code.example/a", "--days", "0"), "INVALID_RETENTION"),
        (("acme/widgets", "https://code.example/a", "--branch=-x"), "INVALID_BRANCH"),
    ],
)
def test_a_refusal_names_its_code(args, code):
    with pytest.raises(CommandError, match=f"^{code}: "):
        run(*args)

    assert not Repository.objects.exists()


def test_a_second_registration_is_refused(git_remote):
    run("acme/widgets", git_remote().url)

    with pytest.raises(CommandError, match="^REPOSITORY_EXISTS"):
        run("acme/widgets", git_remote().url)
