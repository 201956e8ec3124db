"""What is decided before a tool is reached: method, host, origin, credential, size, media."""

import json

import pytest

from sourcegraph_site.accounts import policy
from tests.support.mcp import PATH, Rpc

PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


@pytest.mark.parametrize("method", ["get", "delete", "put", "head", "options"])
def test_only_post_is_offered(rpc, method):
    response = getattr(rpc.client, method)(PATH)
    assert response.status_code == 405
    assert response["Allow"] == "POST"
    if method != "head":
        assert response.json()["code"] == "METHOD_NOT_ALLOWED"


@pytest.mark.parametrize(
    "accept",
    ["application/json", "*/*", "application/json, text/event-stream", "application/*;q=0.5", ""],
)
def test_every_accept_that_allows_json_is_answered(rpc, accept):
    response = rpc.post(PING, Accept=accept)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    assert response.json() == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_a_client_that_takes_no_json_is_refused(rpc):
    assert rpc.post(PING, Accept="text/event-stream").status_code == 406


def test_another_content_type_is_refused(rpc):
    assert rpc.post(json.dumps(PING), content_type="text/plain").status_code == 415


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://testserver:81"])
def test_a_page_of_another_origin_is_refused(rpc, origin):
    response = rpc.post(PING, Origin=origin)
    assert response.status_code == 403
    assert response.json()["code"] == "ACCESS_DENIED"


def test_our_own_origin_is_answered(rpc, settings):
    settings.ORIGIN = "https://code.example"
    assert rpc.post(PING, Origin="https://code.example").status_code == 200
    assert rpc.post(PING, Origin="http://testserver").status_code == 200


def test_a_foreign_host_name_is_refused(rpc, settings):
    settings.MIDDLEWARE = settings.LEAN_MIDDLEWARE  # as for every call without our cookie
    assert rpc.post(PING, Host="evil.example").status_code == 403
    assert rpc.post(PING, Host="localhost:8080").status_code == 200


@pytest.mark.parametrize(
    "header", ["Bearer wrong-wrong-wrong-wrong-wrong-wrong", "Basic YTpi", "Bearer", "token x"]
)
def test_a_wrong_credential_never_becomes_anonymous(rpc, header, service_token):
    response = rpc.post(PING, Authorization=header)
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer ")
    assert response.json()["code"] == "AUTHENTICATION_REQUIRED"


def test_anonymous_callers_need_public_reading(rpc, service, monkeypatch):
    closed = policy.access().model_copy(update={"public_read": False})
    monkeypatch.setattr(policy, "access", lambda: closed)
    assert rpc.post(PING).status_code == 401
    assert service.post(PING).status_code == 200


def test_a_session_cookie_gives_no_rights(rpc, administrator, make_repository):
    make_repository(public_read=False)
    rpc.client.force_login(administrator)
    assert rpc.data("repositories") == {"repositories": []}
    assert rpc.error("read", repo="acme/tools", path="README.md")["code"] == "REPOSITORY_NOT_FOUND"


def test_anonymous_callers_are_limited_by_address(rpc, service, settings):
    settings.ANONYMOUS_PER_CLIENT = 3
    answers = [rpc.post(PING) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1]["Retry-After"] == "60"
    assert service.post(PING).status_code == 200


def test_a_body_over_the_limit_is_refused(rpc):
    padded = json.dumps(PING) + " " * 65_536
    assert rpc.post(padded).status_code == 413
    assert rpc.post(json.dumps(PING).ljust(65_536)).status_code == 200


def test_the_answer_is_never_stored(rpc):
    assert rpc.post(PING)["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("?plugins=", "not a plugin name"),
        ("?plugins=a&plugins=b", "twice"),
        ("?plugins=a,a", "twice"),
        ("?plugins=A", "not a plugin name"),
        ("?plugins=a,,b", "not a plugin name"),
        ("?plugins=auto,a,-b", "not a plugin name"),
        ("?plugins=" + ",".join(f"p{n}" for n in range(17)), "At most 16"),
    ],
)
def test_a_bad_selection_of_plugins_is_refused(db, query, problem):
    response = Rpc(query=query).post(PING)
    assert response.status_code == 400
    assert response.json()["code"] == "INVALID_PLUGINS"
    assert problem in response.json()["message"]


@pytest.mark.parametrize(
    "query",
    ["", "?plugins=auto", "?plugins=off", "?plugins=a,b", "?other=1"]
    + ["?plugins=" + ",".join(f"p{n}" for n in range(16))],
)
def test_a_good_selection_of_plugins_is_taken(db, query):
    assert Rpc(query=query).post(PING).status_code == 200
