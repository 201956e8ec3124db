"""The list of repositories, a repository's tabs, registration, and what forms may do."""

from datetime import timedelta

import pytest
from django.utils import timezone

from repos.models import Repository
from repos.work import SYNC, queue_sync
from sourcegraph_site.accounts.models import SettingsSection
from sourcegraph_site.jobs.models import Job
from tests.web.markup import faults_of
from tests.web.test_search_page import links_of, text_of

pytestmark = pytest.mark.django_db

LIST = "/sourcegraph/repos"
ONE = "/sourcegraph/repo"
NEW = "/sourcegraph/repos/new"


def running(repo: Repository, **progress) -> Job:
    """The repository's sync as it looks while a worker has it."""
    job, _ = queue_sync(repo, source=Job.Source.MANUAL)
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(
        state=Job.State.RUNNING,
        stage="preparing",
        started_at=now - timedelta(seconds=20),
        lease_until=now + timedelta(seconds=60),
        progress=progress,
    )
    job.refresh_from_db()
    return job


# --- The list --------------------------------------------------------------------------------


def test_the_list_names_state_head_and_searchable_commits(client, demo, head):
    response = client.get(LIST)
    words = text_of(response)
    assert "1 repository · 1 ready" in words
    assert head in response.content.decode()
    assert "2 of 2" in words
    assert 'hx-trigger="every 15s"' in response.content.decode()
    assert faults_of(response.content.decode()) == []


def test_a_clone_shows_its_progress_and_is_asked_for_every_two_seconds(client, make_repository):
    repo, _remote = make_repository(run=False)
    running(repo, phase="receiving", done=610, total=1000, bytes=412 << 20)
    response = client.get(LIST)
    words, page = text_of(response), response.content.decode()
    assert "Receiving objects 61 % · 610 of 1,000 · 412 MiB · about 13 s left" in words
    assert 'max="1000" value="610"' in page
    assert 'hx-trigger="every 2s"' in page
    assert "Connected" in words and "Cloning" in words


def test_a_failure_is_a_sentence_with_its_code_and_a_way_to_try_again(admin_client, demo):
    Repository.objects.filter(pk=demo.pk).update(
        last_error="GIT_AUTH_FAILED", consecutive_failures=3
    )
    response = admin_client.get(LIST)
    assert (
        "The code host refused the token. It failed 3 times in a row. GIT_AUTH_FAILED"
        in text_of(response)
    )
    assert 'action="/sourcegraph/repo/sync?repo=acme/tools"' in response.content.decode()


def test_readers_are_not_offered_what_they_may_not_do(client, demo):
    Repository.objects.filter(pk=demo.pk).update(last_error="GIT_FETCH_FAILED")
    page = client.get(LIST).content.decode()
    assert "repo/sync" not in page and "repos/new" not in page


def test_an_empty_and_a_disabled_repository_are_states(client, db):
    fixed = {"remote_url": "https://example.org/x.git", "window_count": 1}
    Repository.objects.create(name="a/empty", state="empty", **fixed)
    Repository.objects.create(name="a/off", enabled=False, **fixed)
    words = text_of(client.get(LIST))
    assert "Empty no commits on the remote yet" in words
    assert "Disabled" in words


def test_the_filter_narrows_and_says_when_nothing_is_left(client, demo):
    assert "acme/tools" in text_of(client.get(LIST, {"q": "TOOL"}))
    response = client.get(LIST, {"q": "zebra"})
    assert "No repository matches “zebra”." in text_of(response)
    assert "Clear filter" in text_of(response)


def test_private_repositories_are_listed_only_for_those_who_see_them(client, demo, administrator):
    Repository.objects.filter(pk=demo.pk).update(public_read=False)
    assert "acme/tools" not in text_of(client.get(LIST))
    client.force_login(administrator, backend="django.contrib.auth.backends.ModelBackend")
    assert "acme/tools Private" in text_of(client.get(LIST))


# --- One repository --------------------------------------------------------------------------


@pytest.mark.parametrize("tab", ["", "versions", "jobs", "nonsense"])
def test_each_tab_is_a_page(client, demo, head, tab):
    response = client.get(ONE, {"repo": "acme/tools", "tab": tab})
    assert response.status_code == 200
    assert head in response.content.decode()
    assert faults_of(response.content.decode()) == []


def test_the_other_address_leads_to_the_page(client, demo):
    response = client.get("/sourcegraph/repos/acme/tools")
    assert response["Location"] == "/sourcegraph/repo?repo=acme/tools"
    assert client.get("/sourcegraph/repos/acme/none").status_code == 404


def test_versions_show_titles_and_lead_to_search_and_files(client, demo, head):
    response = client.get(ONE, {"repo": "acme/tools", "tab": "versions"})
    assert "Say what changed" in text_of(response)
    links = links_of(response)
    assert f"/sourcegraph/?repo=acme/tools&commit={head}" in links
    assert f"/sourcegraph/code?repo=acme/tools&commit={head}" in links


def test_versions_can_be_narrowed_to_those_without_index(client, demo, head):
    demo.versions.filter(commit=head).update(indexed=False)
    response = client.get(ONE, {"repo": "acme/tools", "tab": "versions", "state": "waiting"})
    assert response.content.decode().count("Not indexed") == 1


def test_a_missing_mirror_is_said_and_breaks_no_page(client, demo, data_root):
    (data_root / "repositories").rename(data_root / "elsewhere")
    response = client.get(ONE, {"repo": "acme/tools"})
    assert response.status_code == 200
    assert "REPOSITORY_STORAGE_MISSING" in text_of(response)


def test_the_clone_address_is_shown_to_signed_in_people_alone(client, demo, administrator):
    assert demo.remote_url not in client.get(ONE, {"repo": "acme/tools"}).content.decode()
    client.force_login(administrator, backend="django.contrib.auth.backends.ModelBackend")
    assert demo.remote_url in client.get(ONE, {"repo": "acme/tools"}).content.decode()


def test_hidden_and_absent_repositories_look_alike(client, demo):
    Repository.objects.filter(pk=demo.pk).update(public_read=False)
    hidden, absent = client.get(ONE, {"repo": "acme/tools"}), client.get(ONE, {"repo": "a/b"})
    assert hidden.status_code == absent.status_code == 404
    assert text_of(hidden) == text_of(absent)


# --- Acts ------------------------------------------------------------------------------------


def test_a_manager_checks_for_updates_and_sees_the_job(admin_client, demo):
    response = admin_client.post(f"{ONE}/sync?repo=acme/tools")
    assert response["Location"] == "/sourcegraph/repo?repo=acme/tools&tab=jobs"
    assert Job.objects.filter(kind=SYNC, state=Job.State.QUEUED).count() == 1
    assert "Waiting" in text_of(admin_client.get(response["Location"]))


def test_a_second_check_right_away_is_told_to_wait(admin_client, demo):
    admin_client.post(f"{ONE}/sync?repo=acme/tools")
    Job.objects.filter(state=Job.State.QUEUED).update(
        state=Job.State.SUCCEEDED, finished_at=timezone.now()
    )
    response = admin_client.post(f"{ONE}/sync?repo=acme/tools")
    assert response.status_code == 429
    assert int(response["Retry-After"]) > 0
    assert "RATE_LIMITED" in text_of(response)


@pytest.mark.parametrize("act", ["sync", "index", "cancel"])
def test_who_may_not_manage_is_refused(client, make_user, demo, act):
    client.force_login(make_user(), backend="django.contrib.auth.backends.ModelBackend")
    before = set(Job.objects.values_list("pk", "state"))  # upkeep may be planned
    response = client.post(f"{ONE}/{act}?repo=acme/tools")
    assert response.status_code == 403
    assert set(Job.objects.values_list("pk", "state")) == before


def test_a_form_without_its_token_is_refused(administrator, demo):
    from django.test import Client

    strict = Client(enforce_csrf_checks=True)
    strict.force_login(administrator, backend="django.contrib.auth.backends.ModelBackend")
    response = strict.post(f"{ONE}/sync?repo=acme/tools")
    assert response.status_code == 403
    assert "CSRF_REQUIRED" in text_of(response)


def test_acts_are_not_links(admin_client, demo):
    for act in ("sync", "index", "cancel"):
        assert admin_client.get(f"{ONE}/{act}?repo=acme/tools").status_code == 405


def test_a_manager_cancels_a_job(admin_client, demo):
    job = running(demo)
    jobs = f"{ONE}?repo=acme/tools&tab=jobs"
    assert f'value="{job.job_id}"' in admin_client.get(jobs).content.decode()
    admin_client.post(f"{ONE}/cancel?repo=acme/tools", {"job_id": job.job_id})
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    assert "It was cancelled. CANCELLED_BY_USER" in text_of(admin_client.get(jobs))


# --- Registration ----------------------------------------------------------------------------


def form(**changes):
    fixed = {
        "name": "acme/new",
        "url": "https://example.org/acme/new.git",
        "branches": "",
        "window_kind": "count",
        "window": "5",
        "sync_interval_minutes": "10",
        "public_read": "on",
    }
    return {**fixed, **changes}


def test_an_administrator_registers_a_repository(admin_client):
    response = admin_client.post(NEW, form(branches="main, next"))
    assert response["Location"] == "/sourcegraph/repo?repo=acme/new"
    repo = Repository.objects.get(name="acme/new")
    assert (repo.branches, repo.follows_default, repo.window_count) == (["main", "next"], False, 5)
    assert repo.sync_interval_minutes == 10
    assert Job.objects.filter(kind=SYNC, repository_id=repo.pk).exists()
    assert "Waiting" in text_of(admin_client.get(response["Location"]))


def test_without_branches_the_default_branch_is_followed(admin_client):
    admin_client.post(NEW, form(window_kind="days", window="30"))
    repo = Repository.objects.get(name="acme/new")
    assert (repo.follows_default, repo.window_days) == (True, 30)


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"name": "noslash"}, "id_name", "This is not a repository name."),
        ({"name": ""}, "id_name", "required"),
        ({"url": "ftp://example.org/x.git"}, "id_url", ""),
        ({"branches": "a..b"}, "id_branches", "not an acceptable branch name"),
        ({"branches": ",".join("abcdefghi")}, "id_branches", "Name at most 8 branches."),
        ({"window": "0"}, "id_window", "greater than or equal to 1"),
        ({"window_kind": "days", "window": "400"}, "id_window", "At most 365 days."),
        ({"sync_interval_minutes": "7"}, "id_sync_interval_minutes", "not one of"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_is_lost(
    admin_client, changes, field, words
):
    response = admin_client.post(NEW, form(**changes))
    page = response.content.decode()
    assert response.status_code == 400
    assert f'id="{field}_error"' in page
    assert words in text_of(response)
    assert 'aria-invalid="true"' in page
    if "name" not in changes:
        assert 'value="acme/new"' in page
    assert not Repository.objects.exists()
    assert faults_of(page) == []


def test_a_taken_name_says_who_has_it(admin_client, demo, make_user):
    demo.creator = make_user("carol")
    demo.save()
    response = admin_client.post(NEW, form(name="acme/tools"))
    assert response.status_code == 400
    assert "registered already" in text_of(response)
    assert "carol" in text_of(response)


def test_anonymous_people_are_led_to_the_sign_in(client, db):
    response = client.get(NEW)
    assert response["Location"] == "/sourcegraph/login?next=%2Fsourcegraph%2Frepos%2Fnew"


def test_people_register_only_where_the_site_allows_it(client, make_user):
    client.force_login(make_user(), backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(NEW).status_code == 403
    SettingsSection.objects.create(name="access", values={"allow_user_repositories": True})
    from sourcegraph_site.accounts import policy

    policy.forget()
    response = client.get(NEW)
    assert response.status_code == 200
    assert 'id="id_url"' not in response.content.decode()  # the address is for administrators
