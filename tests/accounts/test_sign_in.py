"""Sign-in by a provider, against a real one over HTTP; and what its settings must be."""

from collections.abc import Iterator

import pytest
import requests
from django.test import Client

from sourcegraph_site.accounts import policy
from sourcegraph_site.accounts.models import User
from sourcegraph_site.accounts.sections import Access
from sourcegraph_site.accounts.usecases.join import public_id_of
from sourcegraph_site.audit.models import AuditEvent
from sourcegraph_site.kernel.sign_in import allauth_settings, read_providers
from tests.support.identity_provider import CLIENT, SECRET, IdentityProvider

pytestmark = pytest.mark.usefixtures("cache_table")
ADA = {"sub": "ada-1", "name": "Ada Lovelace", "email": "ada@example.org", "email_verified": True}


@pytest.fixture
def provider(settings) -> Iterator[IdentityProvider]:
    server = IdentityProvider()
    row = {"kind": "openid", "id": "corp", "name": "Corp", "server": server.url}
    settings.SIGN_IN_PROVIDERS = read_providers(
        [row | {"client_id": CLIENT, "client_secret": SECRET}]
    )
    settings.SOCIALACCOUNT_PROVIDERS = allauth_settings(settings.SIGN_IN_PROVIDERS)
    yield server
    server.close()


@pytest.fixture
def open_site(monkeypatch):
    monkeypatch.setattr(policy, "access", lambda: Access(allow_registration=True))


def sign_in(client: Client, query: str = ""):
    """The browser's way: us, the provider, us."""
    there = client.get(f"/sourcegraph/auth/corp/login{query}")
    assert there.status_code == 302, there.content
    back = requests.get(there["Location"], allow_redirects=False, timeout=5)
    return client.get(back.headers["Location"])


@pytest.mark.django_db
def test_the_first_identity_administers_and_the_next_is_told_that_sign_up_is_closed(
    client, provider
):
    assert b"/sourcegraph/auth/corp/login" in client.get("/sourcegraph/login").content
    provider.person = ADA
    answer = sign_in(client, "?return_to=/sourcegraph/connect")
    assert (answer.status_code, answer["Location"]) == (302, "/sourcegraph/connect")
    me = client.get("/sourcegraph/auth/me").json()["user"]
    assert (me["issuer"], me["subject"], me["role"]) == (provider.url, "ada-1", "admin")
    assert me["id"] == public_id_of(provider.url, "ada-1")
    assert me["name"] == "Ada Lovelace"

    stranger = Client()
    provider.person = ADA | {"sub": "eve-1"}  # the same address: still somebody else
    closed = sign_in(stranger)
    assert closed.status_code == 403 and closed["Refresh"] == "5; url=/sourcegraph/"
    assert "本站暂不开放注册" in closed.content.decode() and b"Sign-up is closed" in closed.content
    assert stranger.get("/sourcegraph/auth/me").status_code == 401
    assert User.objects.count() == 1

    # Closed sign-up refuses new accounts only.
    provider.person = ADA
    again = Client()
    assert sign_in(again)["Location"] == "/sourcegraph/"
    assert again.get("/sourcegraph/auth/me").json()["user"]["id"] == me["id"]
    assert [e.action for e in AuditEvent.objects.all()] == ["user.became_first_administrator"]


@pytest.mark.django_db
def test_equal_addresses_never_merge(client, provider, administrator, open_site):
    administrator.email = ADA["email"]
    administrator.save()
    for subject in ("ada-1", "ada-2"):
        provider.person = ADA | {"sub": subject}
        browser = Client()
        assert sign_in(browser).status_code == 302
        me = browser.get("/sourcegraph/auth/me").json()["user"]
        assert (me["subject"], me["role"]) == (subject, "user")
    assert User.objects.filter(email=ADA["email"]).count() == 3


@pytest.mark.django_db
def test_a_disabled_person_is_refused_and_disabling_does_not_open_the_site(client, provider):
    provider.person = ADA
    sign_in(client)
    User.objects.update(is_active=False)
    assert client.get("/sourcegraph/auth/me").status_code == 401
    refused = sign_in(Client())
    assert refused.status_code == 403 and b"USER_DISABLED" in refused.content
    provider.person = ADA | {"sub": "eve-1"}
    assert sign_in(Client()).status_code == 403
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_what_can_go_wrong_on_the_way(client, provider):
    def code_of(response) -> tuple[int, bool]:
        return response.status_code, b"Traceback" in response.content

    at = "/sourcegraph/auth/corp/login"
    for target in ("https://evil.example/", "//evil.example", "/sourcegraph/auth/me", "/other"):
        answer = client.get(at, {"return_to": target})
        assert answer.status_code == 400 and b"INVALID_RETURN_TO" in answer.content, target
    answer = client.get(at, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403 and b"CROSS_SITE_LOGIN" in answer.content
    assert client.get("/sourcegraph/auth/nobody/login").status_code == 400
    provider.person = None
    assert code_of(sign_in(client)) == (400, False)
    provider.person = ADA
    forged = "/sourcegraph/auth/corp/callback?code=x&state=forged"
    assert code_of(client.get(forged)) == (400, False)
    # A login that somebody else began does not sign this browser in.
    begun = Client().get(at)
    back = requests.get(begun["Location"], allow_redirects=False, timeout=5)
    assert code_of(client.get(back.headers["Location"])) == (400, False)
    assert not User.objects.exists()


@pytest.mark.django_db
def test_passwords_cannot_be_tried_without_end(client, make_user):
    make_user("ada")
    for _ in range(5):
        client.post("/sourcegraph/login", {"login": "ada", "password": "wrong"})
    right = {"login": "ada", "password": "correct horse battery"}
    assert client.post("/sourcegraph/login", right).status_code != 302


GOOD = {"kind": "openid", "id": "corp", "server": "https://id.example", "client_id": "c"}
GOOD |= {"client_secret": "very-secret"}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"kind": "saml"}, "kind is"),
        ({"client_secret": ""}, "not empty"),
        ({"server": "http://id.example"}, "https"),
        ({"server": "https://u@id.example"}, "https"),
        ({"id": "Bad Id"}, "id of"),
        ({"id": "google"}, "belongs"),
        ({"tenant": "x"}, "tenant"),
        ({"extra": "x"}, "unknown field"),
    ],
)
def test_bad_settings_are_named_and_no_secret_is_quoted(change, word):
    with pytest.raises(ValueError, match=word) as caught:
        read_providers([GOOD | change])
    assert "very-secret" not in str(caught.value)


def test_the_kinds_of_providers():
    keys = {"client_id": "c", "client_secret": "s"}
    rows = [{"kind": "google"}, {"kind": "github"}, {"kind": "microsoft", "tenant": "t.example"}]
    found = read_providers([GOOD, *(row | keys for row in rows)])
    assert [p.id for p in found] == ["corp", "google", "github", "microsoft"]
    made = allauth_settings(found)
    assert all(entry["OAUTH_PKCE_ENABLED"] for entry in made.values())
    assert made["microsoft"]["APPS"][0]["settings"] == {"tenant": "t.example"}
    with pytest.raises(ValueError, match="same id"):
        read_providers([GOOD, GOOD])
