"""Code sources and their tokens over REST: shapes, codes, and that no token ever comes back."""

import json

import pytest

from repos.models import Repository

pytestmark = pytest.mark.django_db

SETTINGS = "/sourcegraph/api/admin/settings"
OWN = "/sourcegraph/auth/code-credentials"
SITE = f"{SETTINGS}/code-credentials"
SOURCES = f"{SETTINGS}/code-sources"
TOKEN = "ghp_0123456789abcdef"


@pytest.fixture
def as_user(client, settings):
    def sign_in(user):
        client.force_login(user)
        token = client.get("/sourcegraph/auth/me").json()["csrf_token"]
        headers = {"Origin": settings.ORIGIN, "X-CSRF-Token": token}

        def call(method, path, body=None, **more):
            data = b"" if body is None else json.dumps(body)
            return client.generic(
                method, path, data, content_type="application/json", headers={**headers, **more}
            )

        return call

    return sign_in


def put(source="github", revision=0, **fields):
    return {"source": source, "revision": revision, "expires_at": None, "clear": False, **fields}


def test_everyone_who_may_read_sees_the_sources(client):
    assert client.get("/sourcegraph/v1/code-sources").json() == [
        {
            "id": "github",
            "name": "GitHub",
            "host": "github.com",
            "username": "oauth2",
            "anonymous": True,
            "editable": True,
            "locked": False,
            "kind": "github",
        },
        {
            "id": "git",
            "name": "Git",
            "host": "",
            "username": "",
            "anonymous": True,
            "editable": False,
            "locked": False,
            "kind": "git",
        },
    ]


def test_a_token_goes_in_and_never_comes_out(as_user, make_user):
    call = as_user(make_user())
    empty = {
        "revision": 0,
        "configured": False,
        "expires_at": None,
        "state": "empty",
        "source": "saved",
    }
    assert call("GET", OWN).json() == {"github": empty}
    saved = call("PUT", OWN, put(token=TOKEN))
    assert saved.json() == {**empty, "revision": 1, "configured": True, "state": "ready"}
    assert call("GET", OWN).json() == {"github": saved.json()}
    assert call("PUT", OWN, put(token=TOKEN)).json() == {"error": "SETTINGS_REVISION_CONFLICT"}
    wrong = call("PUT", OWN, put(revision=1, token="x"))
    assert (wrong.status_code, wrong.json()) == (400, {"error": "INVALID_CREDENTIAL"})
    assert call("PUT", OWN, put("svn", token=TOKEN)).json() == {"error": "INVALID_CREDENTIAL_KIND"}
    # One's own tokens are one's own.
    assert as_user(make_user("bob"))("GET", OWN).json() == {"github": empty}


def test_the_sites_tokens_and_sources_are_for_administrators_on_the_website(
    as_user, make_user, client, service_token
):
    call = as_user(make_user())
    for path in (SITE, SOURCES):
        denied = call("GET", path)
        assert (denied.status_code, denied.json()["Meta"]["Code"]) == (403, "ADMIN_REQUIRED")
        assert denied.json()["Meta"]["Protocol"] == "site-settings-v1"
        bearer = call("GET", path, Authorization=f"Bearer {service_token}")
        assert (bearer.status_code, bearer.json()["Meta"]["Code"]) == (403, "ACCESS_DENIED")
    call = as_user(make_user("root", admin=True))
    assert call("PUT", SITE, put(token=TOKEN)).json()["state"] == "ready"
    conflict = call("PUT", SITE, put(token=TOKEN))
    assert conflict.status_code == 412
    assert conflict.json()["Meta"]["Code"] == "SETTINGS_REVISION_CONFLICT"


def test_an_administrator_edits_the_sources_and_people_register_from_them(as_user, make_user):
    call = as_user(make_user("root", admin=True))
    shown = call("GET", SOURCES).json()
    corp = {"id": "corp", "name": "Corp", "host": "git.example.org:8443", "kind": "gitlab"}
    body = {"revision": shown["revision"], "sources": [*shown["sources"], corp]}
    changed = call("PUT", SOURCES, body).json()
    assert [source["id"] for source in changed["sources"]] == ["github", "corp", "git"]
    assert (changed["revision"], changed["updated_by"]) == (1, "root")
    assert call("PUT", SOURCES, body).status_code == 412
    body["revision"], body["sources"][1]["host"] = 1, "evil"
    assert call("PUT", SOURCES, body).json()["Meta"]["Code"] == "INVALID_SETTINGS"

    made = call(
        "POST",
        "/sourcegraph/api/admin/v1/repos",
        {"name": "team/app", "code_provider": "corp", "policy": {"branches": ["main"]}},
        **{"Idempotency-Key": "a-key-of-16-bytes"},
    )
    assert made.status_code == 202, made.content
    repo = Repository.objects.get(name="team/app")
    assert repo.remote_url == "https://git.example.org:8443/team/app.git"
    assert made.json()["code_provider"] == "corp"
