"""Personal keys: making and ending them, what is stored, and what they may do over REST and MCP."""

import json
import re
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.test import Client

from repos import preparers, preparing
from repos.models import Repository
from sourcegraph_site.accounts import keys, policy
from sourcegraph_site.accounts.authentication import bearer_or_anonymous
from sourcegraph_site.accounts.models import ApiKey, SettingsSection, User
from sourcegraph_site.accounts.usecases.api_keys import CreateApiKey, create_api_key
from sourcegraph_site.audit.models import AuditEvent
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.errors import AccessDenied, AuthenticationRequired
from tests.support.mcp import Rpc
from tests.web.markup import faults_of

pytestmark = pytest.mark.django_db

KEYS = "/sourcegraph/auth/api-keys"
PREPARE = "/sourcegraph/api/admin/v1/repo/prepare?repo="
ABSENT = "acme/absent"


class Api:
    """JSON requests with one credential, or as a browser."""

    def __init__(self, **headers: str) -> None:
        self.client, self.headers = Client(enforce_csrf_checks=True), headers

    def __call__(self, method, path, body=None, **headers):
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body)
        return self.client.generic(
            method,
            path,
            data,
            content_type="application/json",
            headers={**self.headers, **headers},
        )


@pytest.fixture
def browser(settings):
    """A signed-in person, with Origin and CSRF token."""

    def sign_in(user: User) -> Api:
        api = Api()
        api.client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        token = api("GET", "/sourcegraph/auth/me").json()["csrf_token"]
        api.headers = {"Origin": settings.ORIGIN, "X-CSRF-Token": token}
        return api

    return sign_in


@pytest.fixture
def make_key(actor_for):
    def make(user: User, **fields) -> str:
        return create_api_key(actor_for(user), CreateApiKey(name="laptop", **fields)).key

    return make


def with_key(key: str) -> Api:
    return Api(Authorization=f"Bearer {key}")


def refusal(response) -> tuple[int, str]:
    body = response.json()
    return response.status_code, body["Meta"]["Code"] if "Meta" in body else body["error"]


def me(key: str) -> int:
    return with_key(key)("GET", "/sourcegraph/v1/repos").status_code


# --- Making, listing, revoking -----------------------------------------------------------
def test_a_key_is_shown_once_and_lists_only_its_beginning(browser, make_user):
    ada = browser(make_user("ada"))
    made = ada("POST", KEYS, {"name": " laptop "})
    assert made.status_code == 201 and made["Cache-Control"] == "no-store"
    record = made.json()
    key = record.pop("key")
    assert re.fullmatch(r"sgk_[A-Za-z0-9_-]{43}", key)
    assert record == {
        "id": record["id"],
        "name": "laptop",
        "key_prefix": key[:12],
        "created_at": record["created_at"],
        "expires_at": None,
        "last_used_at": None,
        "repositories": None,
        "no_prepare": False,
    }
    listed = ada("GET", KEYS)
    assert listed.json() == {"items": [record], "next_cursor": None}
    assert key.encode() not in listed.content
    assert me(key) == 200


def test_the_record_says_how_a_key_is_narrowed(browser, make_user):
    body = {
        "name": "ci",
        "expires_at": "2999-12-31T23:59:59.5+08:00",
        "repositories": ["b/b", "a/a", "b/b"],
        "no_prepare": True,
    }
    record = browser(make_user())("POST", KEYS, body).json()
    assert record["expires_at"] == "2999-12-31T15:59:59.500000Z"
    assert record["repositories"] == ["a/a", "b/b"]
    assert record["no_prepare"] is True


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": " "},
        {"name": "é" * 65},
        {"name": "a\nb"},
        {"name": "a", "expires_at": ""},
        {"name": "a", "expires_at": "2020-01-01T00:00:00Z"},
        {"name": "a", "expires_at": "2999-01-01"},
        {"name": "a", "expires_at": "2999-01-01T00:00:00"},
        {"name": "a", "expires_at": "2999-02-30T00:00:00Z"},
        {"name": "a", "expires_at": "9999-12-31T23:59:59-23:00"},
        {"name": "a", "repositories": []},
        {"name": "a", "repositories": [""]},
        {"name": "a", "repositories": ["a/\0"]},
        {"name": "a", "repositories": ["a/" + "b" * 511]},
        {"name": "a", "repositories": [f"a/b{n}" for n in range(101)]},
    ],
)
def test_a_key_with_a_wrong_field_is_not_made(browser, make_user, body):
    assert refusal(browser(make_user())("POST", KEYS, body)) == (400, "INVALID_API_KEY_INPUT")
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize(
    "body",
    [b"[]", b'{"name":"a","name":"b"}', b'{"name":"a","allow_prepare":true}', b'{"name":5}'],
)
def test_a_body_that_is_not_this_object_is_an_invalid_request(browser, make_user, body):
    assert refusal(browser(make_user())("POST", KEYS, body)) == (400, "INVALID_REQUEST")


def test_pages_of_keys_cover_all_of_ones_own_once(browser, make_user, make_key):
    user, other = make_user("ada"), make_user("eve")
    prefixes = [make_key(user)[:12] for _ in range(5)][::-1]
    make_key(other)
    ada, found, after = browser(user), [], ""
    while True:
        page = ada("GET", f"{KEYS}?limit=2" + (f"&after={after}" if after else "")).json()
        found += [item["key_prefix"] for item in page["items"]]
        after = page["next_cursor"]
        if after is None:
            break
    assert found == prefixes
    stolen = ada("GET", f"{KEYS}?limit=2").json()["next_cursor"]
    for query in ("limit=0", "limit=101", "limit=x", "limit=", "limit=٣", "after=x"):
        assert refusal(ada("GET", f"{KEYS}?{query}")) == (400, "INVALID_PAGINATION"), query
    assert refusal(browser(other)("GET", f"{KEYS}?after={stolen}")) == (400, "INVALID_PAGINATION")
    assert refusal(ada("GET", f"{KEYS}?x=1")) == (400, "INVALID_QUERY_PARAMETERS")


def test_a_revoked_key_stops_at_once_and_leaves_the_list(browser, make_user):
    ada = browser(make_user())
    made = ada("POST", KEYS, {"name": "a"}).json()
    assert me(made["key"]) == 200
    path = f"{KEYS}/{made['id']}"
    assert ada("DELETE", path).json() == {"deleted": True}
    assert me(made["key"]) == 401
    assert ada("DELETE", path).json() == {"deleted": False}
    assert ada("GET", KEYS).json()["items"] == []


def test_a_foreign_key_and_a_missing_one_look_alike(browser, make_user):
    made = browser(make_user("ada"))("POST", KEYS, {"name": "a"}).json()
    eve = browser(make_user("eve"))
    for path in (made["id"], "0" * 32, "%00", "é"):
        response = eve("DELETE", f"{KEYS}/{path}")
        assert (response.status_code, response.json()) == (200, {"deleted": False})
    assert me(made["key"]) == 200


def test_making_and_revoking_are_audited_without_the_key(browser, make_user):
    ada = browser(make_user("ada"))
    made = ada("POST", KEYS, {"name": "a"}).json()
    ada("DELETE", f"{KEYS}/{made['id']}")
    revoked, created = AuditEvent.objects.values_list("actor", "action", "target")
    assert created == ("ada", "api_key.created", f"api_key:{made['key_prefix']}")
    assert revoked == ("ada", "api_key.revoked", f"api_key:{made['key_prefix']}")
    assert made["key"] not in str(list(AuditEvent.objects.values()))


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("POST", ""), ("DELETE", "/x")])
def test_only_a_browser_session_manages_keys(make_user, make_key, service_token, method, path):
    body = {"name": "a"} if method == "POST" else None
    assert refusal(Api()(method, KEYS + path, body)) == (401, "AUTHENTICATION_REQUIRED")
    for token in (make_key(make_user()), service_token):
        assert refusal(with_key(token)(method, KEYS + path, body)) == (403, "ACCESS_DENIED")
    assert ApiKey.objects.count() == 1


def test_the_use_case_itself_refuses_other_callers(make_user):
    user = make_user()
    for kind in (ActorKind.KEY, ActorKind.OAUTH, ActorKind.SERVICE, ActorKind.OPERATOR):
        with pytest.raises(AccessDenied):
            create_api_key(Actor(kind, "x", user_id=user.pk), CreateApiKey(name="a"))
    with pytest.raises(AuthenticationRequired):
        create_api_key(Actor(ActorKind.ANONYMOUS, "x"), CreateApiKey(name="a"))


@pytest.mark.parametrize("missing", ["Origin", "X-CSRF-Token"])
def test_a_write_without_origin_or_token_changes_nothing(browser, make_user, missing):
    ada = browser(make_user())
    made = ada("POST", KEYS, {"name": "a"}).json()
    del ada.headers[missing]
    assert refusal(ada("POST", KEYS, {"name": "b"})) == (403, "CSRF_REQUIRED")
    assert refusal(ada("DELETE", f"{KEYS}/{made['id']}")) == (403, "CSRF_REQUIRED")
    assert ApiKey.objects.get().revoked_at is None


# --- What is stored, and who is let in ---------------------------------------------------
def test_the_database_holds_neither_the_key_nor_a_digest_that_can_be_tested(
    make_user, make_key, settings
):
    key = make_key(make_user())
    secret = key[12:]
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM accounts_apikey")
        assert secret not in str(cursor.fetchall())
    settings.SECRET_KEY = "another-secret-another-secret-another"
    assert keys.digest_of(key) != ApiKey.objects.get().digest
    assert me(key) == 401


def wrong_tokens(key: str) -> list[str]:
    last = "A" if key[-1] != "A" else "B"
    return [
        key[:-1] + last,
        key[:-1],
        key + "A",
        key.upper(),
        "sgk_",
        "sgk_" + "A" * 43,
        key[:20] + "\u00e9" + key[21:],
        keys.digest_of(key),
    ]


def test_a_wrong_key_is_never_anonymous_nor_the_session_beside_it(make_user, make_key, browser):
    user = make_user()
    key = make_key(user)
    for token in wrong_tokens(key):
        header = {"Authorization": f"Bearer {token}"}
        for api in (Api(), browser(user)):
            response = api("GET", "/sourcegraph/v1/repos", **header)
            assert refusal(response) == (401, "AUTHENTICATION_REQUIRED"), token
            assert response["WWW-Authenticate"].startswith("Bearer")
        assert Rpc(token=token).send("tools/list").status_code == 401
    assert refusal(Api(Authorization=key)("GET", "/sourcegraph/v1/repos"))[0] == 401
    assert refusal(Api(Authorization=f"Basic {key}")("GET", "/sourcegraph/v1/repos"))[0] == 401


def test_an_expired_key_is_refused_and_stays_listed(make_user, make_key, browser, monkeypatch):
    user = make_user()
    soon = clock.now() + timedelta(minutes=5)
    key = make_key(user, expires_at=soon.isoformat())
    assert me(key) == 200
    monkeypatch.setattr(clock, "now", lambda: soon)
    assert me(key) == 401
    assert Rpc(token=key).send("tools/list").status_code == 401
    assert len(browser(user)("GET", KEYS).json()["items"]) == 1


def test_disabling_or_removing_the_owner_ends_the_key_at_once(make_user, make_key):
    user = make_user()
    key = make_key(user)
    User.objects.update(is_active=False)
    assert me(key) == 401
    User.objects.update(is_active=True)
    assert me(key) == 200
    user.delete()
    assert me(key) == 401


def test_closed_sign_up_leaves_keys_of_existing_people_alone(make_user, make_key):
    SettingsSection.objects.create(name="access", values={"allow_registration": False})
    policy.forget()
    assert me(make_key(make_user())) == 200


def test_a_site_that_is_closed_to_anonymous_readers_is_open_to_keys(make_user, make_key):
    SettingsSection.objects.create(name="access", values={"public_read": False})
    policy.forget()
    assert Api()("GET", "/sourcegraph/v1/repos").status_code == 401
    assert me(make_key(make_user())) == 200


def test_the_actor_is_the_owner_as_he_is_now(make_user, make_key, rf):
    user = make_user("ada", admin=True)
    key = make_key(user, repositories=["a/b"], no_prepare=True)
    request = rf.get("/", headers={"Authorization": f"Bearer {key}"})
    actor = bearer_or_anonymous(request)
    assert actor == Actor(
        ActorKind.KEY,
        f"ada {key[:12]}",
        user_id=user.pk,
        site_admin=True,
        key_id=ApiKey.objects.get().pk,
        repositories=frozenset({"a/b"}),
        no_prepare=True,
    )
    assert not actor.unrestricted
    User.objects.update(is_superuser=False)
    assert not bearer_or_anonymous(request).site_admin


def test_recognising_a_key_asks_the_database_twice(
    make_user, make_key, rf, django_assert_num_queries
):
    key = make_key(make_user())
    request = rf.get("/", headers={"Authorization": f"Bearer {key}"})
    with django_assert_num_queries(3):  # and once a minute notes the use
        bearer_or_anonymous(request)
    with django_assert_num_queries(2):
        bearer_or_anonymous(request)


def test_the_last_use_is_written_at_most_once_a_minute(make_user, make_key, monkeypatch):
    key = make_key(make_user())
    start = clock.now()
    for seconds, noted in ((0, 0), (59, 0), (60, 60), (119, 60), (121, 121)):
        monkeypatch.setattr(clock, "now", lambda s=seconds: start + timedelta(seconds=s))
        assert me(key) == 200
        assert ApiKey.objects.get().last_used_at == start + timedelta(seconds=noted)


def test_a_read_succeeds_although_its_use_cannot_be_noted(make_user, make_key, rf, caplog):
    key = make_key(make_user())

    def busy(execute, sql, params, many, context):
        if sql.startswith("UPDATE"):
            raise OperationalError("database is locked")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(busy):
        actor = bearer_or_anonymous(rf.get("/", headers={"Authorization": f"Bearer {key}"}))
    assert actor.kind is ActorKind.KEY
    assert key[:12] in caplog.text and key not in caplog.text


# --- What a key reads --------------------------------------------------------------------
@pytest.fixture
def cast(make_repository, make_user):
    """One public repository, and a private one for each reason to see it."""
    people = {name: make_user(name) for name in ("owner", "creator", "other")}
    people["admin"] = make_user("admin", admin=True)
    make_repository("acme/public")
    make_repository("acme/managed", public_read=False)[0].managers.add(people["owner"])
    make_repository("acme/created", public_read=False, creator=people["owner"])
    make_repository("acme/foreign", public_read=False, creator=people["other"])
    return people


def head_of(name: str) -> str:
    found = Repository.objects.filter(name=name).values_list("heads__commit", flat=True).first()
    return found or "0" * 40


def rest_calls(name: str):
    """(method, path, body) of every route that reads one repository."""
    commit = head_of(name)
    for route, body in (
        ("api/search", {"Pattern": "hello"}),
        ("v1/repo/read", {"Path": "README.md", "StartLine": 1, "EndLine": 1}),
        ("v1/repo/read_many", {"Files": [{"Path": "README.md"}]}),
        ("v1/repo/list", {"First": 10}),
        ("v1/repo/diff", {"Base": commit, "Head": commit, "First": 1}),
        ("v1/repo/resolve", {}),
        ("v1/repo/find", {"Query": "*.md"}),
        ("v1/repo/log", {}),
        ("v1/repo/blame", {"Path": "README.md", "StartLine": 1, "EndLine": 1}),
    ):
        yield "POST", f"/sourcegraph/{route}?repo={name}", body
    for route in ("v1/repo/availability", "v1/repo/commits", "api/admin/v1/repo"):
        yield "GET", f"/sourcegraph/{route}?repo={name}", None


def refs_of(api: Api, rpc: Rpc, name: str):
    """Apart, because a first listing may answer that it is being prepared."""
    response = api("GET", f"/sourcegraph/v1/repo/refs?repo={name}&kind=all")
    return comparable(response, name), rpc.call("refs", repo=name)


def mcp_calls(name: str):
    commit = head_of(name)
    yield "search", {"repo": name, "pattern": "hello"}
    yield "read", {"repo": name, "path": "README.md"}
    yield "read_many", {"repo": name, "files": [{"path": "README.md"}]}
    yield "list", {"repo": name, "first": 10}
    yield "diff", {"repo": name, "base": commit, "head": commit, "first": 1}
    yield "resolve", {"repo": name}
    yield "find", {"repo": name, "query": "*.md"}
    yield "log", {"repo": name}
    yield "blame", {"repo": name, "path": "README.md", "start_line": 1, "end_line": 1}
    yield "availability", {"repo": name}


def comparable(response, name: str) -> tuple[int, str]:
    text = response.content.decode().replace(name, "NAME")
    return response.status_code, re.sub(r'"RequestID":"[0-9a-f]*"', "", text)


def shown(key: str) -> set[str]:
    """Names in the catalogs and in the search over everything, which must agree."""
    api, rpc = with_key(key), Rpc(token=key)
    rows = {row["name"] for row in api("GET", "/sourcegraph/v1/repos").json()}
    assert rows == {row["name"] for row in api("GET", "/sourcegraph/api/admin/v1/repos").json()}
    assert rows == {row["repo"] for row in rpc.data("repositories")["repositories"]}
    found = api("POST", "/sourcegraph/api/search", {"Pattern": "hello"}).json()
    assert rows == {row["Repository"] for row in found["Meta"]["Repositories"]}
    assert rows == {file["Repository"] for file in found["Result"]["Files"]}
    return rows


ALL = ("acme/public", "acme/managed", "acme/created", "acme/foreign")


@pytest.mark.parametrize(
    ("who", "narrowed", "expected"),
    [
        ("owner", None, {"acme/public", "acme/managed", "acme/created"}),
        ("owner", [*ALL, ABSENT], {"acme/public", "acme/managed", "acme/created"}),
        ("owner", ["acme/managed"], {"acme/managed"}),
        ("owner", ["acme/foreign"], set()),
        ("creator", None, {"acme/public"}),
        ("admin", None, {"acme/public"}),
        ("admin", ["acme/managed", "acme/public"], {"acme/public"}),
    ],
)
def test_a_key_reads_as_its_owner_within_its_list_on_every_route_and_tool(
    cast, make_key, who, narrowed, expected
):
    key = make_key(cast[who], repositories=narrowed)
    api, rpc = with_key(key), Rpc(token=key)
    assert shown(key) == expected
    absent = [comparable(api(*call), ABSENT) for call in rest_calls(ABSENT)]
    nothing = [rpc.call(tool, **given) for tool, given in mcp_calls(ABSENT)]
    for name in ALL:
        if name in expected:
            for call in rest_calls(name):
                assert api(*call).status_code == 200, call
            for tool, given in mcp_calls(name):
                rpc.texts(tool, **given)
        else:
            assert [comparable(api(*call), name) for call in rest_calls(name)] == absent
            assert [rpc.call(tool, **given) for tool, given in mcp_calls(name)] == nothing
            assert refs_of(api, rpc, name) == refs_of(api, rpc, ABSENT)
    assert all('"REPOSITORY_NOT_FOUND"' in body for _, body in absent)


def test_the_administrator_on_the_website_sees_what_his_key_does_not(cast, browser, make_key):
    signed_in = browser(cast["admin"])("GET", "/sourcegraph/v1/repos").json()
    assert {row["name"] for row in signed_in} == set(ALL)
    assert shown(make_key(cast["admin"])) == {"acme/public"}


# --- Where a key may go ------------------------------------------------------------------
MANAGEMENT = [
    ("POST", "api/admin/v1/repos"),
    ("PATCH", "api/admin/v1/repo"),
    ("POST", "api/admin/v1/repo/preview"),
    ("GET", "api/admin/v1/repo/commit-options"),
    ("POST", "api/admin/v1/repo/index/preview"),
    ("POST", "api/admin/v1/repo/index"),
    ("POST", "api/admin/v1/repo/jobs/cancel"),
    ("POST", "api/admin/v1/repo/managers"),
    ("GET", "api/admin/v1/repo/webhooks"),
    ("POST", "api/admin/v1/repo/webhooks/revoke"),
    ("POST", "api/admin/v1/repo/cleanup/preview"),
    ("POST", "api/admin/v1/repo/cleanup"),
    ("POST", "api/admin/v1/repo/delete/preview"),
    ("POST", "api/admin/v1/repo/delete"),
    ("POST", "api/admin/v1/repo/purge"),
    ("GET", "auth/me"),
    ("POST", "auth/logout"),
]


@pytest.mark.parametrize(("method", "path"), MANAGEMENT)
def test_a_key_manages_nothing(make_user, make_key, method, path):
    key = make_key(make_user(admin=True))
    response = with_key(key)(method, f"/sourcegraph/{path}", {} if method != "GET" else None)
    assert refusal(response) == (403, "ACCESS_DENIED")


@pytest.mark.parametrize("path", ["", "repos", "repo?repo=a/b", "code?repo=a/b", "user-settings"])
def test_pages_refuse_keys(make_user, make_key, path):
    response = with_key(make_key(make_user()))("GET", f"/sourcegraph/{path}")
    assert response.status_code == 403
    assert b"ACCESS_DENIED" in response.content


# --- Preparing ---------------------------------------------------------------------------
@pytest.fixture
def unpaced(monkeypatch):
    """Without the clock of each repository, so that only the key's own limit is left."""
    monkeypatch.setattr(preparing, "PACE", timedelta(0))
    preparers.forget()


def prepare(key: str, name: str, n: int = 0):
    headers = {"Idempotency-Key": f"prepare-{n:04}"}
    return with_key(key)("POST", PREPARE + name, {"kind": "sync", "commit": ""}, **headers)


def test_a_key_prepares_what_its_owner_manages_or_an_administrator_sees(cast, make_key, unpaced):
    denied = (403, "REPOSITORY_MANAGEMENT_DENIED")
    owner, admin, other = (make_key(cast[name]) for name in ("owner", "admin", "other"))
    assert prepare(owner, "acme/managed").status_code == 202
    assert prepare(admin, "acme/public").status_code == 202
    assert refusal(prepare(owner, "acme/public")) == denied
    assert refusal(prepare(other, "acme/public")) == denied
    for hidden in ("acme/managed", "acme/foreign", ABSENT):
        assert refusal(prepare(admin, hidden)) == (404, "REPOSITORY_NOT_FOUND")
    Repository.objects.get(name="acme/managed").managers.remove(cast["owner"])
    assert prepare(owner, "acme/managed", 1).status_code == 404


def test_a_key_without_prepare_prepares_nothing(cast, make_key, unpaced):
    key = make_key(cast["owner"], no_prepare=True)
    refused = prepare(key, "acme/managed")
    assert refusal(refused) == (403, "REPOSITORY_MANAGEMENT_DENIED")
    rpc = Rpc(token=key)
    assert "prepare" not in rpc.tools()
    given = {"repo": "acme/managed", "idempotency_key": "12345678"}
    unknown = rpc.send("tools/call", {"name": "prepare", "arguments": given}).json()
    assert unknown["error"]["message"] == "Unknown tool: prepare"


def test_mcp_offers_prepare_to_keys_that_can_use_it(cast, make_key, unpaced):
    assert "prepare" in Rpc(token=make_key(cast["owner"])).tools()
    assert "prepare" in Rpc(token=make_key(cast["admin"])).tools()
    assert "prepare" not in Rpc(token=make_key(cast["other"])).tools()
    rpc = Rpc(token=make_key(cast["owner"]))
    given = {"idempotency_key": "12345678"}
    assert rpc.error("prepare", repo="acme/public", **given)["code"] == (
        "REPOSITORY_MANAGEMENT_DENIED"
    )
    assert not rpc.call("prepare", repo="acme/managed", **given).get("isError")


def test_a_key_has_ten_prepare_calls_a_minute_over_rest_and_mcp_together(
    cast, make_key, unpaced, monkeypatch
):
    monkeypatch.setattr("sourcegraph_site.api.limits.time.time", lambda: 1_800_000_000.0)
    key, second = make_key(cast["owner"]), make_key(cast["owner"])
    rpc = Rpc(token=key)
    for n in range(5):
        assert prepare(key, "acme/managed", n).status_code == 202
        rpc.call("prepare", repo="acme/managed", idempotency_key=f"over-mcp-{n}")
    refused = prepare(key, "acme/managed", 9)
    assert refusal(refused) == (429, "RATE_LIMITED")
    assert refused["Retry-After"] == "60"
    error = rpc.error("prepare", repo="acme/managed", idempotency_key="over-mcp-9")
    assert (error["code"], error["retry_after_seconds"]) == ("RATE_LIMITED", 60)
    assert prepare(second, "acme/managed", 10).status_code == 202
    assert me(key) == 200
    monkeypatch.setattr("sourcegraph_site.api.limits.time.time", lambda: 1_800_000_060.0)
    assert prepare(key, "acme/managed", 11).status_code == 202


# --- The page ----------------------------------------------------------------------------
PAGE = "/sourcegraph/user-settings"
FORM = {"name": "laptop", "days": "90", "repositories": "", "no_prepare": ""}


@pytest.fixture
def visitor(client, make_user):
    client.force_login(make_user("ada"), backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_page_shows_a_new_key_once(visitor, language):
    visitor.cookies["cs.lang"] = language
    assert faults_of(visitor.get(PAGE).content.decode()) == []
    made = visitor.post(PAGE, {**FORM, "repositories": "b/b, a/a,", "no_prepare": "on"})
    assert (made.status_code, made["Cache-Control"]) == (200, "no-store")
    page = made.content.decode()
    assert faults_of(page) == []
    (key,) = set(re.findall(r"sgk_[A-Za-z0-9_-]{43}", page))
    assert me(key) == 200
    row = ApiKey.objects.get()
    assert (row.repositories, row.no_prepare) == (["a/a", "b/b"], True)
    assert timedelta(days=89) < row.expires_at - clock.now() <= timedelta(days=90)
    again = visitor.get(PAGE).content.decode()
    assert key not in again and key[:12] in again
    assert faults_of(again) == []
    assert key not in str(visitor.session.items())


def test_the_page_makes_a_key_that_works_until_it_is_revoked_there(visitor):
    page = visitor.post(PAGE, {**FORM, "days": ""}).content.decode()
    key = re.search(r"sgk_[A-Za-z0-9_-]{43}", page)[0]
    row = ApiKey.objects.get()
    assert (row.expires_at, row.repositories, row.no_prepare) == (None, None, False)
    revoked = visitor.post(f"{PAGE}/revoke-key", {"id": row.public_id})
    assert (revoked.status_code, revoked["Location"]) == (302, PAGE)
    assert me(key) == 401
    assert key[:12] not in visitor.get(PAGE).content.decode()


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "é" * 65},
        {"name": "a\x85b"},
        {"days": "1"},
        {"repositories": " , "},
        {"repositories": ",".join(f"a/b{n}" for n in range(101))},
        {"repositories": "a/" + "b" * 511},
    ],
)
def test_the_page_says_what_is_wrong_and_makes_no_key(visitor, wrong):
    response = visitor.post(PAGE, {**FORM, **wrong})
    assert response.status_code == 400
    assert b'role="alert"' in response.content
    assert faults_of(response.content.decode()) == []
    assert not ApiKey.objects.exists()


def test_the_page_lists_all_keys_by_pages_and_marks_expired_ones(visitor, make_key):
    user = User.objects.get()
    made = [make_key(user)[:12] for _ in range(51)]
    ApiKey.objects.filter(prefix=made[-1]).update(expires_at=clock.now())
    first = visitor.get(PAGE).content.decode()
    assert made[-1] in first and made[0] not in first and "Expired" in first
    after = re.search(r'href="(\?after=[^"]+)"', first)[1]
    assert made[0] in visitor.get(PAGE + after).content.decode()


def test_the_page_is_for_people_who_signed_in(client, service_token, visitor):
    assert 'href="/sourcegraph/user-settings"' in visitor.get("/sourcegraph/").content.decode()
    anonymous = Client()
    for response in (anonymous.get(PAGE), anonymous.post(f"{PAGE}/revoke-key")):
        assert response.status_code == 302
        assert response["Location"].startswith("/sourcegraph/login?next=")
    assert with_key(service_token)("GET", PAGE).status_code == 403
    forged = Client(enforce_csrf_checks=True)
    forged.cookies = visitor.cookies
    assert forged.post(PAGE, FORM).status_code == 403
    assert not ApiKey.objects.exists()


def test_the_former_address_leads_to_the_page(client):
    response = client.get("/sourcegraph/api-tokens")
    assert (response.status_code, response["Location"]) == (308, PAGE)
