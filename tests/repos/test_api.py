"""Management over REST, as the deployment credential, a signed-in person and nobody."""

import json
from datetime import timedelta

import pytest

from repos import preparing
from repos.models import Repository, RepositoryManager
from sourcegraph_site.accounts import policy
from sourcegraph_site.accounts.models import SettingsSection
from sourcegraph_site.audit.models import AuditEvent
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from tests.support.jobs import run_pending_jobs
from tests.support.syncs import sync_now

pytestmark = pytest.mark.django_db

ADMIN = "/sourcegraph/api/admin/v1"
POLICY = {"default_branch": True, "count": 5}
KEY = "a-key-of-16-bytes"


class Api:
    """JSON requests with one credential."""

    def __init__(self, client, **headers):
        self.client = client
        self.headers = headers

    def __call__(self, method, path, body=None, **headers):
        return self.client.generic(
            method,
            path if path.startswith("/sourcegraph") else f"{ADMIN}{path}",
            b"" if body is None else json.dumps(body),
            content_type="application/json",
            headers={**self.headers, **headers},
        )

    def get(self, path):
        return self("GET", path)

    def post(self, path, body=None, **headers):
        return self("POST", path, {} if body is None else body, **headers)


@pytest.fixture
def service(client, service_token):
    return Api(client, Authorization=f"Bearer {service_token}")


@pytest.fixture
def signed_in(client, settings):
    """A browser session that sends its Origin and CSRF token."""

    def sign_in(user):
        client.force_login(user)
        token = client.get("/sourcegraph/auth/me").json()["csrf_token"]
        return Api(client, Origin=settings.ORIGIN, **{"X-CSRF-Token": token})

    return sign_in


@pytest.fixture
def remote(http_remote):
    made = http_remote.repository("acme/widgets")
    made.commit({"a": "1"})
    made.address = http_remote.url("acme/widgets")
    return made


def code(response):
    return response.status_code, response.json()["Meta"]["Code"]


def body_for(remote, **fields):
    return {"name": "acme/widgets", "url": remote.address, "policy": POLICY, **fields}


def register(api, remote, key=KEY, **fields):
    return api.post("/repos", body_for(remote, **fields), **{"Idempotency-Key": key})


def match(revision):
    return {"If-Match": f'"{revision}"'}


# --- Registration ------------------------------------------------------------------------
def test_registration_queues_the_first_sync_and_shows_the_record(service, remote):
    response = register(service, remote)

    record = response.json()
    assert response.status_code == 202
    assert response["ETag"] == '"1"'
    assert [(job["kind"], job["state"]) for job in record["jobs"]] == [("sync", "queued")]
    assert "creator" not in record and record["managers"] == []
    assert record["policy"] == {"branches": [], "default_branch": True, "count": 5}
    assert remote.address not in response.content.decode()
    assert AuditEvent.objects.get().action == "repository.registered"


def test_the_same_key_and_content_give_the_first_answer_again(service, remote):
    first, again = register(service, remote), register(service, remote)

    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["jobs"][0]["job_id"] == again.json()["jobs"][0]["job_id"]
    assert Job.objects.count() == 1


def test_the_same_key_with_other_content_is_a_conflict(service, remote):
    register(service, remote)

    assert code(register(service, remote, public_read=False)) == (409, "IDEMPOTENCY_CONFLICT")


def test_a_receipt_counts_for_a_day(service, remote, monkeypatch):
    register(service, remote)
    later = clock.now() + timedelta(hours=24, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)

    assert code(register(service, remote)) == (409, "REPOSITORY_EXISTS")


@pytest.mark.parametrize("key", [None, "short", "x" * 129])
def test_registration_needs_a_proper_key(service, remote, key):
    headers = {} if key is None else {"Idempotency-Key": key}

    response = service.post("/repos", body_for(remote), **headers)

    assert code(response) == (400, "INVALID_IDEMPOTENCY_KEY")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": "acme"}, "INVALID_REPO"),
        ({"url": "ext::sh -c id"}, "INVALID_REMOTE"),
        ({"url": "http://169.254.169.254/x"}, "INVALID_REMOTE"),
        ({"url": "https://user:secret@github.com/a/b"}, "INVALID_REMOTE"),
        ({"code_provider": "svn"}, "INVALID_CODE_PROVIDER"),
        ({"index_mode": "partial"}, "INVALID_INDEX_MODE"),
        ({"sync_interval_minutes": 2}, "INVALID_SYNC_INTERVAL"),
        ({"git_timeout_minutes": 20}, "INVALID_POLICY"),
        ({"policy": {}}, "INVALID_BRANCHES"),
        ({"policy": {"branches": [f"b{i}" for i in range(9)]}}, "INVALID_BRANCHES"),
        ({"policy": {"branches": ["a", "a"]}}, "INVALID_BRANCHES"),
        ({"policy": {"branches": ["refs/heads/a"]}}, "INVALID_BRANCH"),
        ({"policy": {"branches": ["snapshot"]}}, "INVALID_BRANCH"),
        ({"policy": {"branches": ["-x"]}}, "INVALID_BRANCH"),
        ({"policy": {"branches": ["a b"]}}, "INVALID_BRANCH"),
        ({"policy": {"branches": ["a"], "days": 1, "count": 1}}, "INVALID_RETENTION"),
        ({"policy": {"branches": ["a"], "days": 0}}, "INVALID_RETENTION"),
        ({"policy": {"branches": ["a"], "days": 366}}, "INVALID_RETENTION"),
        ({"policy": {"branches": ["a"], "count": 4097}}, "INVALID_RETENTION"),
        ({"path_groups": [{"name": "a", "paths": ["a"]}]}, "INVALID_PATH_GROUPS"),
        ({"index_mode": "monorepo"}, "INVALID_PATH_GROUPS"),
        ({"unknown": 1}, "INVALID_REQUEST"),
        ({"index_symlinks": True}, "INVALID_REQUEST"),
        ({"policy": None}, "INVALID_REQUEST"),
        ({"public_read": "yes"}, "INVALID_REQUEST"),
    ],
)
def test_what_is_refused_at_registration_has_its_code(service, remote, change, expected):
    response = register(service, remote, **change)

    assert code(response) == (400, expected)
    assert "secret" not in response.content.decode()
    assert Repository.objects.count() == 0


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([{"name": "a b", "paths": ["x"]}], "INVALID_PATH_GROUP"),
        ([{"name": "a", "paths": []}], "INVALID_PATH_GROUP"),
        ([{"name": "a", "paths": ["../x"]}], "INVALID_PATH_GROUP"),
        ([{"name": "a", "paths": ["/x"]}], "INVALID_PATH_GROUP"),
        ([{"name": "a", "paths": ["x/.git"]}], "INVALID_PATH_GROUP"),
        ([{"name": "a", "paths": ["x/*"]}], "INVALID_PATH_GROUP"),
        (
            [{"name": "a", "paths": ["x"]}, {"name": "a", "paths": ["y"]}],
            "INVALID_PATH_GROUPS",
        ),
        (
            [{"name": "a", "paths": ["x"]}, {"name": "b", "paths": ["x/y"]}],
            "OVERLAPPING_PATH_GROUPS",
        ),
        ([{"name": f"g{i}", "paths": [f"d{i}"]} for i in range(17)], "INVALID_PATH_GROUPS"),
        ([{"name": "a", "paths": [f"d{i}" for i in range(65)]}], "INVALID_PATH_GROUPS"),
    ],
)
def test_path_groups_are_plain_distinct_directories(service, remote, groups, expected):
    response = register(service, remote, index_mode="monorepo", path_groups=groups)

    assert code(response) == (400, expected)


def test_path_groups_are_kept_sorted_and_compacted(service, remote):
    groups = [{"name": "web", "paths": ["src/web/", "src/web/css"]}, {"paths": ["api"]}]

    record = register(service, remote, index_mode="monorepo", path_groups=groups).json()

    assert record["path_groups"] == [
        {"name": "default", "paths": ["api"]},
        {"name": "web", "paths": ["src/web"]},
    ]
    assert set(record["scopes"]) == {"default", "web"}


def test_without_a_window_the_site_default_is_taken(service, remote):
    SettingsSection.objects.create(
        name="repository_defaults", values={"retention_mode": "count", "retention_count": 7}
    )
    policy.forget()

    record = register(service, remote, policy={"branches": ["main"]}).json()

    assert record["policy"]["count"] == 7


def test_an_address_is_made_of_code_host_and_name(service, settings):
    settings.CODE_HOST = "https://code.example"

    service.post("/repos", {"name": "a/b", "policy": POLICY}, **{"Idempotency-Key": KEY})

    assert Repository.objects.get().remote_url == "https://code.example/a/b.git"


def test_a_taken_name_tells_whom_to_ask(service, remote, make_user):
    register(service, remote)
    ada = make_user("ada", department="Tools")
    Repository.objects.update(creator=ada, public_read=False)

    response = register(service, remote, key="another-key")

    assert code(response) == (409, "REPOSITORY_EXISTS")
    assert response.json()["creator"] == {
        "id": ada.public_id,
        "name": "ada",
        "email": "ada@example.org",
        "department": "Tools",
    }


def test_people_register_only_when_the_site_allows_it(signed_in, make_user, settings):
    settings.CODE_HOST = "https://code.example"
    ada = make_user("ada")
    api = signed_in(ada)
    body = {"name": "a/b", "policy": POLICY}
    refused = api.post("/repos", body, **{"Idempotency-Key": KEY})
    assert code(refused) == (403, "REGISTRATION_DISABLED")
    SettingsSection.objects.create(name="access", values={"allow_user_repositories": True})
    policy.forget()

    done = api.post("/repos", body, **{"Idempotency-Key": KEY})

    record = done.json()
    assert done.status_code == 202
    assert record["creator"]["id"] == ada.public_id
    assert [manager["id"] for manager in record["managers"]] == [ada.public_id]
    assert record["can_manage"] is True
    with_url = api.post(
        "/repos", {**body, "name": "a/c", "url": "https://x.example/a"}, **{"Idempotency-Key": KEY}
    )
    assert code(with_url) == (400, "INVALID_REMOTE")


def test_anonymous_callers_register_nothing(client, remote):
    assert code(register(Api(client), remote)) == (401, "AUTHENTICATION_REQUIRED")


# --- Reading -----------------------------------------------------------------------------
def test_the_record_shows_heads_versions_and_checks(service, remote):
    register(service, remote)
    run_pending_jobs(1)

    response = service.get("/sourcegraph/v1/repo/availability?repo=acme/widgets")

    record = response.json()
    assert record["state"] == "ready"
    assert record["heads"] == {"main": remote.tip("main")}
    assert [version["commit"] for version in record["versions"]] == [remote.tip("main")]
    assert record["sync_checks"][""]["no_changes"] is False
    assert record["git_timeout_minutes"] == 0
    for alias in ("/sourcegraph/v1/repo/commits", f"{ADMIN}/repo"):
        assert service.get(f"{alias}?repo=acme/widgets").json()["repo_id"] == record["repo_id"]


def test_anonymous_readers_see_no_people(service, remote, client):
    register(service, remote)

    record = Api(client).get("/repo?repo=acme/widgets").json()
    row = Api(client).get("/sourcegraph/v1/repos").json()[0]

    assert "managers" not in record and "creator" not in record and "managers" not in row
    assert record["can_manage"] is False


def test_the_catalog_pages_by_id_and_hides_what_is_hidden(service, client, remote):
    for n in range(104):
        Repository.objects.create(
            name=f"acme/r{n}",
            remote_url=remote.address,
            window_count=1,
            public_read=n != 50,
        )
    api = Api(client)

    first = api.get("/repos").json()
    second = api.get(f"/repos?after={first[-1]['repo_id']}").json()

    assert (len(first), len(second)) == (100, 3)
    ids = [row["repo_id"] for row in first + second]
    assert ids == sorted(ids)
    assert "acme/r50" not in {row["name"] for row in first + second}
    assert code(api.get("/repos?after=x")) == (400, "INVALID_CURSOR")


def test_a_catalog_page_takes_a_fixed_number_of_queries(remote, django_assert_max_num_queries):
    from repos.usecases.list_repositories import ListRepositories, list_repositories
    from sourcegraph_site.kernel.actor import OPERATOR

    for n in range(20):
        Repository.objects.create(name=f"a/r{n}", remote_url="https://x.example/a", window_count=1)
    with django_assert_max_num_queries(3):
        assert len(list_repositories(OPERATOR, ListRepositories())) == 20


# --- Settings ----------------------------------------------------------------------------
@pytest.fixture
def registered(service, remote):
    for n in range(4):
        remote.commit({"a": f"{n}"})
    register(service, remote)
    return sync_now(Repository.objects.get())


def change(**fields):
    return {"policy": POLICY, "enabled": True, **fields}


def patch(api, settings, revision=1, preview=None):
    if preview is None:
        preview = api.post("/repo/preview?repo=acme/widgets", settings).json()["preview"]
    return api(
        "PATCH", "/repo?repo=acme/widgets", {**settings, "preview": preview}, **match(revision)
    )


def test_a_preview_counts_what_the_policy_would_keep(service, registered):
    settings = change(policy={"default_branch": True, "count": 2})

    preview = service.post("/repo/preview?repo=acme/widgets", settings).json()

    assert (preview["retained_versions"], preview["revision"]) == (2, 1)
    assert registered.versions.count() == 5


def test_a_new_policy_keeps_the_old_versions_until_the_sync(service, registered):
    response = patch(service, change(policy={"default_branch": True, "count": 2}))

    record = response.json()
    assert response.status_code == 200
    assert (record["revision"], record["policy_revision"], response["ETag"]) == (2, 2, '"2"')
    assert registered.versions.count() == 5
    assert record["jobs"][0]["kind"] == "sync" and record["jobs"][0]["state"] == "queued"
    run_pending_jobs(1)
    assert registered.versions.count() == 2


def test_new_path_groups_come_into_force_with_the_next_sync(service, remote):
    from repos.models import GroupVersion

    old = [{"name": "a", "paths": ["a"]}, {"name": "b", "paths": ["b"]}]
    new = [{"name": "a", "paths": ["a"]}, {"name": "b", "paths": ["c"]}]
    register(service, remote, index_mode="monorepo", path_groups=old)
    repo = sync_now(Repository.objects.get())
    version = repo.versions.get()
    for group in ("a", "b"):
        GroupVersion.objects.update_or_create(
            version=version, group=group, defaults={"indexed_at": clock.now()}
        )
    repo.versions.update(indexed=True)

    record = patch(service, change(path_groups=new)).json()

    repo.refresh_from_db()
    assert (record["path_groups"], repo.path_groups) == (new, old)
    assert GroupVersion.objects.count() == 2
    run_pending_jobs(1)
    repo.refresh_from_db()
    assert (repo.path_groups, repo.pending_path_groups) == (new, None)
    assert list(GroupVersion.objects.values_list("group", flat=True)) == ["a"]
    assert not repo.versions.get().indexed


def test_a_policy_change_cancels_what_is_queued(service, registered):
    service.post(
        "/repo/prepare?repo=acme/widgets", {"kind": "sync"}, **{"Idempotency-Key": "12345678"}
    )

    patch(service, change(policy={"default_branch": True, "count": 2}))

    cancelled = Job.objects.filter(state="cancelled")
    assert cancelled.exists()
    assert set(cancelled.values_list("error", flat=True)) == {"POLICY_CHANGED"}
    assert Job.objects.filter(state="queued", kind="repos.sync").count() == 1


def test_settings_without_a_match_or_with_an_old_one_change_nothing(service, registered):
    settings = change(public_read=False)
    bare = service("PATCH", "/repo?repo=acme/widgets", {**settings, "preview": "x"})
    assert code(bare) == (428, "PRECONDITION_REQUIRED")
    assert code(patch(service, settings, revision=7)) == (412, "REVISION_CONFLICT")
    assert code(patch(service, settings, preview="0" * 64)) == (412, "REVISION_CONFLICT")
    registered.refresh_from_db()
    assert (registered.public_read, registered.revision) == (True, 1)


def test_a_timeout_or_visibility_does_not_touch_the_policy_revision(service, registered):
    record = patch(service, change(git_timeout_minutes=30, public_read=False)).json()

    assert (record["git_timeout_minutes"], record["public_read"]) == (30, False)
    assert (record["revision"], record["policy_revision"]) == (2, 1)


def test_omitted_enabled_means_false_and_cancels(service, registered):
    from repos import work

    work.queue_sync(registered)

    record = patch(service, {"policy": POLICY}).json()

    assert record["enabled"] is False
    assert Job.objects.filter(kind="repos.sync").latest("pk").error == "REPOSITORY_DISABLED"
    response = service.post("/sourcegraph/v1/repo/resolve?repo=acme/widgets", {})
    assert code(response) == (403, "REPOSITORY_DISABLED")


def test_a_new_interval_cancels_the_waiting_automatic_sync(service, registered):
    from repos import work

    work.queue_sync(registered)

    record = patch(service, change(sync_interval_minutes=60)).json()

    assert record["sync_interval_minutes"] == 60
    assert Job.objects.filter(kind="repos.sync").latest("pk").error == "SYNC_INTERVAL_CHANGED"


def test_a_deleted_repository_cannot_be_revived_by_settings(service, registered):
    assert patch(service, change(deleted=True)).json()["deleted"] is True

    response = service.post("/repo/preview?repo=acme/widgets", change())

    assert code(response) == (409, "REPOSITORY_DELETED")


# --- Managers ----------------------------------------------------------------------------
def test_managers_are_added_and_removed_by_compare_and_set(service, registered, make_user):
    ada = make_user("ada")
    path = "/repo/managers?repo=acme/widgets"

    added = service.post(path, {"add": ada.public_id}, **match(1))
    again = service.post(path, {"add": ada.public_id}, **match(2))

    assert [m["id"] for m in added.json()["managers"]] == [ada.public_id]
    assert (added["ETag"], again["ETag"]) == ('"2"', '"2"')
    assert code(service.post(path, {"remove": ada.public_id}, **match(1)))[0] == 412
    assert service.post(path, {"remove": ada.public_id}, **match(2)).json()["managers"] == []
    assert code(service.post(path, {"add": "nobody"}, **match(3))) == (404, "USER_NOT_FOUND")
    assert code(service.post(path, {}, **match(3))) == (400, "INVALID_REQUEST")
    assert code(service.post(path, {"add": "x"})) == (428, "PRECONDITION_REQUIRED")


def test_disabled_people_cannot_become_managers(service, registered, make_user):
    gone = make_user("gone", is_active=False)

    response = service.post("/repo/managers?repo=acme/widgets", {"add": gone.public_id}, **match(1))

    assert code(response) == (404, "USER_NOT_FOUND")


def test_the_fifty_first_manager_is_refused(service, registered, make_user):
    for n in range(50):
        RepositoryManager.objects.create(repository=registered, user=make_user(f"m{n}"))

    response = service.post(
        "/repo/managers?repo=acme/widgets", {"add": make_user("late").public_id}, **match(1)
    )

    assert code(response) == (409, "MANAGER_LIMIT_REACHED")


def test_a_manager_manages_and_a_stranger_does_not(signed_in, registered, make_user):
    ada, bob = make_user("ada"), make_user("bob")
    RepositoryManager.objects.create(repository=registered, user=ada)

    assert signed_in(ada).post("/repo/preview?repo=acme/widgets", change()).status_code == 200
    denied = signed_in(bob).post("/repo/preview?repo=acme/widgets", change())
    assert code(denied) == (403, "REPOSITORY_MANAGEMENT_DENIED")


# --- Preparation -------------------------------------------------------------------------
def ask(api, kind="sync", key="prepare-key-1", **fields):
    return api.post(
        "/repo/prepare?repo=acme/widgets",
        {"kind": kind, "commit": "", **fields},
        **{"Idempotency-Key": key},
    )


@pytest.fixture
def idle(registered):
    Job.objects.all().delete()
    return registered


def test_an_identical_request_joins_and_is_not_paced(service, idle):
    first, joined = ask(service), ask(service, key="prepare-key-2")

    assert (first.status_code, joined.status_code) == (202, 202)
    assert first.json()["job_id"] == joined.json()["job_id"]
    assert (first.json()["kind"], first.json()["source"]) == ("sync", "manual")


def test_another_request_within_thirty_seconds_is_paced(service, idle, monkeypatch):
    ask(service)
    other = ask(service, kind="index", key="prepare-key-2")

    assert code(other) == (429, "RATE_LIMITED")
    assert 0 < int(other["Retry-After"]) <= 30
    assert other.json()["Meta"]["RetryAfterSeconds"] == int(other["Retry-After"])
    later = clock.now() + timedelta(seconds=30)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert ask(service, kind="index", key="prepare-key-3").status_code == 202


def test_a_clock_that_was_set_back_does_not_lock_the_repository(service, idle, monkeypatch):
    ask(service)
    earlier = clock.now() - timedelta(days=1)
    monkeypatch.setattr(clock, "now", lambda: earlier)

    assert ask(service, kind="index", key="prepare-key-2").status_code == 202


def test_a_replay_is_answered_after_the_job_has_ended(service, idle):
    first = ask(service)
    run_pending_jobs()

    again = ask(service)

    assert again.json()["job_id"] == first.json()["job_id"]
    assert again.json()["state"] == "succeeded"
    assert code(ask(service, kind="index")) == (409, "IDEMPOTENCY_CONFLICT")


def test_preparing_an_index_names_the_commit(service, idle, remote):
    answer = ask(service, kind="index", commit="main").json()

    assert (answer["kind"], answer["commit"]) == ("index", remote.tip("main"))
    assert answer["requested_revision"] == "main"


def test_what_is_indexed_already_needs_no_job(service, idle):
    idle.versions.update(indexed=True)

    response = ask(service, kind="index", commit="main")

    assert (response.status_code, response.json()) == (202, {"jobs": [], "status": "accepted"})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"kind": "build"}, (400, "INVALID_ACTION")),
        ({"kind": "index", "commit": "other"}, (404, "BRANCH_NOT_MONITORED")),
        ({"kind": "index", "commit": "abcdef"}, (400, "SHORT_SHA_UNSUPPORTED")),
        ({"kind": "index", "commit": "0" * 40}, (404, "REVISION_NOT_ELIGIBLE")),
        ({"kind": "index", "group": "x"}, (400, "INVALID_GROUP")),
    ],
)
def test_what_prepare_refuses_has_its_code(service, idle, fields, expected):
    assert code(ask(service, **fields)) == expected


def test_a_monorepo_queues_each_group_that_lacks_the_commit_as_one_request(service, remote):
    groups = [{"name": "a", "paths": ["a"]}, {"name": "b", "paths": ["b"]}]
    register(service, remote, index_mode="monorepo", path_groups=groups)
    repo = sync_now(Repository.objects.get())
    Job.objects.all().delete()

    both = ask(service, kind="index").json()
    one = ask(service, kind="index", group="a", key="prepare-key-2").json()

    assert both["status"] == "accepted"
    assert [job["group"] for job in both["jobs"]] == ["a", "b"]
    assert one["job_id"] == both["jobs"][0]["job_id"]
    assert code(ask(service, kind="index", group="c", key="prepare-key-3")) == (
        404,
        "UNKNOWN_PATH_GROUP",
    )
    assert repo.monorepo


def test_too_many_waiting_requests_are_refused(service, idle, monkeypatch):
    monkeypatch.setattr(preparing, "PACE", timedelta(0))
    commits = list(idle.versions.values_list("commit", flat=True))
    monkeypatch.setattr("repos.work.MAX_ACTIVE", 2)
    for n, commit in enumerate(commits[:2]):
        assert ask(service, kind="index", commit=commit, key=f"prepare-{n}").status_code == 202

    refused = ask(service, kind="index", commit=commits[2], key="prepare-9")

    assert code(refused) == (503, "QUEUE_FULL")


def test_anonymous_callers_prepare_nothing(client, idle):
    assert code(ask(Api(client))) == (403, "PREPARATION_NOT_ALLOWED")


def test_a_key_prepares_ten_times_a_minute(idle, make_user):
    from sourcegraph_site.api import limits
    from sourcegraph_site.kernel.actor import Actor, ActorKind
    from sourcegraph_site.kernel.errors import RateLimited

    key = Actor(ActorKind.KEY, "ada", user_id=make_user("ada").pk, key_id=7)
    for _ in range(10):
        limits.preparation(key)

    with pytest.raises(RateLimited):
        limits.preparation(key)


# --- Choosing a commit -------------------------------------------------------------------
def test_commit_options_are_the_newest_of_the_branch(service, idle, remote):
    newest = remote.tip("main")
    idle.versions.filter(commit=newest).update(indexed=True)

    options = service.get("/repo/commit-options?repo=acme/widgets").json()

    assert (options["branch"], options["head"]) == ("main", newest)
    first = options["commits"][0]
    assert (first["commit"], first["subject"]) == (newest, "Change")
    assert (first["eligible"], first["indexed"]) == (True, True)
    assert [c["indexed"] for c in options["commits"][1:]] == [False] * 4
    other = service.get("/repo/commit-options?repo=acme/widgets&branch=other")
    assert code(other) == (404, "BRANCH_NOT_MONITORED")


def choose(api, commit, branch="main", revision=1, key="index-key-1", preview=None):
    body = {"branch": branch, "commit": commit}
    if preview is None:
        preview = api.post("/repo/index/preview?repo=acme/widgets", body).json()["preview"]
    return api.post(
        "/repo/index?repo=acme/widgets",
        {**body, "preview": preview},
        **match(revision),
        **{"Idempotency-Key": key},
    )


def test_a_chosen_commit_is_indexed_and_a_replay_needs_no_fresh_preview(service, idle):
    commit = idle.versions.last().commit

    first = choose(service, commit)
    Repository.objects.update(revision=9)
    again = choose(service, commit, preview="stale", key="index-key-1")

    assert (first.status_code, first.json()["commit"]) == (202, commit)
    assert code(again) == (409, "IDEMPOTENCY_CONFLICT")
    assert code(choose(service, commit, key="index-key-2", preview="stale"))[0] == 412


def test_a_chosen_commit_must_be_kept_and_on_the_branch(service, idle, remote):
    body = {"branch": "main", "commit": "0" * 40}
    absent = service.post("/repo/index/preview?repo=acme/widgets", body)
    side = remote.commit({"x": "1"}, branch="side", orphan=True)
    Repository.objects.update(branches=["side"])
    sync_now(idle)
    elsewhere = service.post("/repo/index/preview?repo=acme/widgets", {**body, "commit": side})

    assert code(absent) == (404, "REVISION_NOT_ELIGIBLE")
    assert code(elsewhere) == (422, "REVISION_NOT_ON_BRANCH")


def test_choosing_in_a_switched_off_repository_is_a_conflict(service, idle):
    Repository.objects.update(enabled=False)
    body = {"branch": "main", "commit": idle.heads.get().commit}

    response = service.post("/repo/index/preview?repo=acme/widgets", body)

    assert code(response) == (409, "REPOSITORY_DISABLED")


# --- Jobs --------------------------------------------------------------------------------
def test_a_cancelled_job_says_by_whom_and_a_finished_one_stays(service, idle):
    job_id = ask(service).json()["job_id"]
    path = "/repo/jobs/cancel?repo=acme/widgets"

    cancelled = service.post(path, {"job_id": job_id}).json()

    assert (cancelled["state"], cancelled["error"]) == ("cancelled", "CANCELLED_BY_USER")
    assert service.post(path, {"job_id": job_id}).json() == cancelled
    assert code(service.post(path, {"job_id": "0" * 32})) == (404, "JOB_NOT_FOUND")


def test_failures_outlive_the_job_list(service, registered, http_remote):
    http_remote.status = 404
    Job.objects.all().delete()
    ask(service)
    run_pending_jobs()

    record = service.get("/repo?repo=acme/widgets").json()

    assert record["job_failures"][0]["error"] == "GIT_REPOSITORY_UNAVAILABLE"
    assert record["last_error"] == "GIT_REPOSITORY_UNAVAILABLE"


# --- Removal -----------------------------------------------------------------------------
def removal(api, operation, revision=1):
    preview = api.post(f"/repo/{operation}/preview?repo=acme/widgets").json()
    return api.post(
        f"/repo/{operation}?repo=acme/widgets", {"preview": preview["preview"]}, **match(revision)
    )


def test_cleanup_keeps_the_heads_when_only_heads_are_kept(service, idle):
    Repository.objects.update(index_history="heads")
    idle.versions.update(indexed=True, shards=2)
    head = idle.heads.get().commit

    done = removal(service, "cleanup").json()

    assert (done["cleaned"], done["deleted"]) == (True, False)
    assert done["removed_generations"] == 4
    assert done["keep"] == [{"group": "", "branch": "main", "commit": head}]
    assert list(idle.versions.filter(indexed=True).values_list("commit", flat=True)) == [head]


def test_cleanup_keeps_all_when_all_are_kept(service, idle):
    idle.versions.update(indexed=True)

    assert removal(service, "cleanup").json()["removed_generations"] == 0
    assert idle.versions.filter(indexed=True).count() == 5


def test_cleanup_waits_for_the_index_of_every_head(service, idle):
    response = service.post("/repo/cleanup/preview?repo=acme/widgets")

    assert code(response) == (409, "LATEST_INDEX_NOT_READY")


def test_nothing_is_removed_while_a_job_runs(service, idle):
    ask(service)
    Job.objects.update(state="running")

    assert code(removal(service, "delete")) == (409, "REPOSITORY_BUSY")


def test_delete_then_purge_frees_name_and_disk(service, idle, monkeypatch, remote):
    from repos.gitstore import layout

    path = layout.repository_path(idle.storage_key)
    early = service.post("/repo/purge?repo=acme/widgets", **match(1))
    assert code(early) == (409, "CLEANUP_NOT_READY")
    deleted = removal(service, "delete").json()
    assert (deleted["deleted"], deleted["keep"]) == (True, [])
    response = service.post("/sourcegraph/v1/repo/resolve?repo=acme/widgets", {})
    assert code(response) == (403, "REPOSITORY_DISABLED")
    assert code(service.post("/repo/purge?repo=acme/widgets", **match(2)))[0] == 409
    later = clock.now() + timedelta(minutes=1)
    monkeypatch.setattr(clock, "now", lambda: later)

    purged = service.post("/repo/purge?repo=acme/widgets", **match(2))

    assert purged.json() == {"purged": True}
    assert code(service.get("/repo?repo=acme/widgets")) == (404, "REPOSITORY_NOT_FOUND")
    assert register(service, remote, key="once-more-please").status_code == 202
    assert path.exists()  # until the transaction of this test would commit
