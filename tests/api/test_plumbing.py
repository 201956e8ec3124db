"""What every REST route shares, seen through routes that need no repository."""

import json

import pytest

from sourcegraph_site.accounts.authentication import client_address
from sourcegraph_site.accounts.models import SettingsSection
from sourcegraph_site.api import limits
from sourcegraph_site.kernel.errors import RateLimited

pytestmark = pytest.mark.django_db

CAPABILITIES = "/sourcegraph/v1/capabilities"
ME = "/sourcegraph/auth/me"
LOGOUT = "/sourcegraph/auth/logout"


def code(response) -> str:
    body = response.json()
    return body["Meta"]["Code"] if "Meta" in body else body["error"]


def test_the_root_leads_to_the_prefix(client):
    response = client.get("/")
    assert (response.status_code, response["Location"]) == (307, "/sourcegraph/")


def test_an_answer_carries_a_request_id_and_is_not_stored(client):
    response = client.get(CAPABILITIES)
    assert response.status_code == 200
    assert len(response["X-Request-ID"]) == 32
    assert response["Cache-Control"] == "no-store"
    assert response["Content-Type"] == "application/json"
    assert response.content.endswith(b"\n")


def test_an_unknown_route_is_an_envelope(client):
    response = client.get("/sourcegraph/v1/nothing-here")
    assert response.status_code == 404
    body = response.json()
    assert body["Meta"]["Code"] == "NOT_FOUND"
    assert body["Meta"]["RequestID"] == response["X-Request-ID"]
    assert body["Meta"]["Protocol"] == "zoekt-single-repo-v1"
    assert "Retryable" not in body["Meta"]


def test_a_wrong_method_names_the_right_ones(client):
    response = client.delete(CAPABILITIES)
    assert (response.status_code, code(response)) == (405, "METHOD_NOT_ALLOWED")
    assert "GET" in response["Allow"]


def test_an_unknown_or_repeated_parameter_is_refused(client):
    for query in ("?x=1", "?repo=a/b"):
        response = client.get(CAPABILITIES + query)
        assert (response.status_code, code(response)) == (400, "INVALID_QUERY_PARAMETERS")


def test_an_invalid_bearer_never_becomes_anonymous(client, service_token):
    for header in ("Bearer nonsense", "Bearer", "Basic eDp5", "Bearer " + service_token + "x"):
        response = client.get(CAPABILITIES, headers={"Authorization": header})
        assert (response.status_code, code(response)) == (401, "AUTHENTICATION_REQUIRED"), header
        assert "Bearer" in response["WWW-Authenticate"]


def test_an_invalid_bearer_beats_a_valid_session(client, administrator):
    client.force_login(administrator)
    response = client.get(CAPABILITIES, headers={"Authorization": "Bearer nonsense"})
    assert response.status_code == 401


def test_the_deployment_credential_is_accepted(client, service_token):
    SettingsSection.objects.create(name="access", values={"public_read": False})
    bearer = {"Authorization": f"Bearer {service_token}"}
    assert client.get(CAPABILITIES, headers=bearer).status_code == 200


def test_a_site_without_public_reading_asks_for_a_credential(client):
    SettingsSection.objects.create(name="access", values={"public_read": False})
    response = client.get(CAPABILITIES)
    assert (response.status_code, code(response)) == (401, "AUTHENTICATION_REQUIRED")


def test_a_signed_in_write_needs_origin_and_token(administrator):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(administrator)
    token = client.get(ME).json()["csrf_token"]
    origin = {"Origin": "http://testserver"}
    refused = [
        client.post(LOGOUT),
        client.post(LOGOUT, headers=origin),
        client.post(LOGOUT, headers={"X-CSRF-Token": token}),
        client.post(LOGOUT, headers={"Origin": "http://evil.example", "X-CSRF-Token": token}),
        client.post(LOGOUT, headers={"Origin": "null", "X-CSRF-Token": token}),
    ]
    assert [(r.status_code, code(r)) for r in refused] == [(403, "CSRF_REQUIRED")] * 5
    assert client.post(LOGOUT, headers={**origin, "X-CSRF-Token": token}).status_code == 200


def test_sign_in_routes_answer_a_session_only(client, service_token):
    bearer = {"Authorization": f"Bearer {service_token}"}
    for call in (client.get(ME, headers=bearer), client.post(LOGOUT, headers=bearer)):
        assert (call.status_code, call.json()) == (403, {"error": "ACCESS_DENIED"})
    assert client.get(ME).json() == {"error": "AUTHENTICATION_REQUIRED"}


def test_me_tells_who_is_signed_in(client, administrator):
    assert client.get(ME).status_code == 401
    client.force_login(administrator)
    me = client.get(ME).json()
    assert me["user"]["role"] == "admin"
    assert me["user"]["id"] == administrator.public_id
    assert "password" not in json.dumps(me)


def test_anonymous_callers_are_limited_together_and_apart(client, settings):
    settings.ANONYMOUS_PER_CLIENT = 3
    codes = [client.get(CAPABILITIES).status_code for _ in range(5)]
    assert codes == [200, 200, 200, 429, 429]
    response = client.get(CAPABILITIES)
    assert (code(response), response["Retry-After"]) == ("RATE_LIMITED", "60")
    assert response.json()["Meta"]["RetryAfterSeconds"] == 60
    other = client.get(CAPABILITIES, REMOTE_ADDR="10.9.8.7")
    assert other.status_code == 200
    settings.ANONYMOUS_TOTAL = 4
    limits.reset()
    total = [client.get(CAPABILITIES, REMOTE_ADDR=f"10.0.0.{n}").status_code for n in range(8)]
    assert total.count(200) <= 4 and total[-1] == 429


def test_permits_are_counted_over_processes():
    for _ in range(30):
        limits.spend("client:a", 60)
    limits.reset()  # as another process would see it: nothing leased, the count is shared
    for _ in range(30):
        limits.spend("client:a", 60)
    with pytest.raises(RateLimited):
        for _ in range(4):
            limits.spend("client:a", 60)


@pytest.mark.parametrize(
    ("proxies", "forwarded", "seen"),
    [
        (0, "1.1.1.1", "9.9.9.9"),
        (1, "1.1.1.1", "1.1.1.1"),
        (1, "6.6.6.6, 1.1.1.1", "1.1.1.1"),
        (2, "6.6.6.6, 1.1.1.1, 2.2.2.2", "1.1.1.1"),
        (2, "2.2.2.2", "9.9.9.9"),
        (1, "", "9.9.9.9"),
    ],
)
def test_only_trusted_proxies_name_the_client(rf, settings, proxies, forwarded, seen):
    settings.TRUSTED_PROXIES = proxies
    request = rf.get("/", REMOTE_ADDR="9.9.9.9", HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == seen


def test_both_middleware_chains_give_the_same_answer(live_server, administrator, client):
    """The lean chain serves callers without a cookie, the full one those with."""
    import urllib.request

    from sourcegraph_site.wsgi import application

    def call(headers):
        captured = {}
        environ = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": CAPABILITIES,
            "QUERY_STRING": "",
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.input": urllib.request.io.BytesIO(b""),
            "wsgi.url_scheme": "http",
            "wsgi.errors": None,
            **headers,
        }

        def start(status, sent, exc_info=None):
            captured.update(status=status, headers=dict(sent))

        body = b"".join(application(environ, start))
        return captured["status"], body, captured["headers"]

    client.force_login(administrator)
    cookie = f"sourcegraph_session={client.cookies['sourcegraph_session'].value}"
    lean, full = call({}), call({"HTTP_COOKIE": cookie})
    assert lean[:2] == full[:2] and lean[0] == "200 OK"
    assert "Content-Security-Policy" not in lean[2] and "Content-Security-Policy" in full[2]
