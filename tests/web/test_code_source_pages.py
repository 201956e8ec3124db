"""Pages of code sources and tokens, without a script: what is saved, refused and never shown."""

import re
from datetime import timedelta
from html import unescape

import pytest

from repos.models import CodeToken, Repository
from repos.sources.listing import sources
from repos.sources.tokens import usable_token
from sourcegraph_site.kernel import clock

pytestmark = pytest.mark.django_db

OWN = "/sourcegraph/user-settings/code-tokens"
SITE = "/sourcegraph/settings/code-sources"
TOKEN = "ghp_0123456789abcdef"


def test_a_person_saves_and_removes_a_token(client, make_user):
    client.force_login(make_user())
    page = client.get(OWN).content.decode()
    assert "github.com" in page and "No token" in page
    fields = {"source": "github", "revision": "0", "token": TOKEN, "until": "2099-01-31"}
    assert client.post(OWN, fields).status_code == 302
    page = client.get(OWN).content.decode()
    assert "Saved" in page and "2099-01-31" in page and TOKEN not in page
    for wrong in ({"token": "short"}, {"until": "2001-01-01"}, {"revision": "7"}, {"until": "x"}):
        answer = client.post(OWN, {**fields, "revision": "1", **wrong})
        assert answer.status_code in (400, 412), wrong
        assert 'role="alert"' in answer.content.decode()
        assert TOKEN not in answer.content.decode()
    only_date = {**fields, "revision": "1", "token": "", "until": ""}
    assert client.post(OWN, only_date).status_code == 302
    assert client.post(OWN, {**fields, "revision": "2", "clear": "1"}).status_code == 302
    assert not CodeToken.objects.exclude(sealed=b"").exists()


def test_an_administrator_adds_orders_and_removes_sources(admin_client):
    source = {
        "revision": "0",
        "id": "corp",
        "name": "Corp <b>",
        "host": "git.example.org",
        "kind": "gitlab",
    }
    edit = f"{SITE}/edit"
    refused = admin_client.post(edit, {**source, "host": "127.0.0.1"})
    assert refused.status_code == 400 and "This host cannot be used" in refused.content.decode()
    assert admin_client.post(edit, source).status_code == 302
    page = admin_client.get(SITE).content.decode()
    assert "Corp &lt;b&gt;" in page and "Corp <b>" not in page
    assert [(s.id, s.anonymous) for s in sources()] == [
        ("github", True),
        ("corp", False),
        ("git", True),
    ]
    late = admin_client.post(f"{edit}?id=corp", {**source, "name": "Late"})
    assert late.status_code == 400 and "Someone changed this" in late.content.decode()
    changed = {**source, "revision": "1", "name": "Corp", "anonymous": "on"}
    assert admin_client.post(f"{edit}?id=corp", changed).status_code == 302
    act = f"{SITE}/arrange"
    assert admin_client.post(act, {"id": "corp", "revision": "2", "up": "1"}).status_code == 302
    assert [s.id for s in sources()] == ["corp", "github", "git"]
    token = {"source": "corp", "revision": "0", "token": TOKEN}
    assert admin_client.post(f"{SITE}/token", token).status_code == 302
    assert usable_token(sources()[0], None)[0].token == TOKEN
    shown = admin_client.get(f"{edit}?id=corp").content.decode()
    assert "Corp" in shown and TOKEN not in shown
    bad = admin_client.post(f"{SITE}/token", {**token, "token": "x"})
    assert bad.status_code == 400 and "INVALID_CREDENTIAL" in bad.content.decode()
    assert admin_client.post(act, {"id": "corp", "revision": "3", "remove": "1"}).status_code == 302
    assert [s.id for s in sources()] == ["github", "git"]
    assert admin_client.post(act, {"id": "corp", "revision": "4"}).status_code == 404


def test_what_the_operator_sets_can_be_seen_but_not_changed(admin_client, settings):
    settings.CODE_SOURCES = [{"id": "corp", "name": "Corp", "host": "git.example.org"}]
    settings.GIT_TOKEN = TOKEN
    page = admin_client.get(SITE).content.decode()
    assert page.count("set by the operator") == 2 and TOKEN not in page
    shown = admin_client.get(f"{SITE}/edit?id=corp").content.decode()
    assert "changes only there" in shown and 'name="host"' not in shown
    fields = {"revision": "0", "id": "corp", "name": "x", "host": "evil.org", "kind": "git"}
    assert admin_client.post(f"{SITE}/edit?id=corp", fields).status_code == 400
    assert 'name="token"' not in admin_client.get(f"{SITE}/edit?id=github").content.decode()


@pytest.mark.parametrize("path", ["", "/edit", "/edit?id=github"])
def test_the_sites_sources_are_for_administrators(client, make_user, path):
    assert client.get(SITE + path).status_code == 302  # to the sign-in
    client.force_login(make_user())
    assert client.get(SITE + path).status_code == 403
    assert client.post(f"{SITE}/token", {"source": "github"}).status_code == 403
    assert client.post(f"{SITE}/arrange", {"id": "github", "remove": "1"}).status_code == 403
    assert [s.id for s in sources()] == ["github", "git"]


def test_a_person_registers_from_a_chosen_source(admin_client, client, make_user):
    edit = {"revision": "0", "id": "corp", "name": "Corp", "host": "git.example.org", "kind": "git"}
    admin_client.post(f"{SITE}/edit", edit)
    page = admin_client.get("/sourcegraph/repos/new").content.decode()
    assert "Corp (git.example.org)" in page
    fields = {
        "name": "team/app",
        "source": "corp",
        "window_kind": "count",
        "window": "5",
        "sync_interval_minutes": "60",
    }
    assert admin_client.post("/sourcegraph/repos/new", fields).status_code == 302
    repo = Repository.objects.get()
    assert (repo.code_provider, repo.remote_url) == ("corp", "https://git.example.org/team/app.git")


def test_a_failed_fetch_leads_to_the_tokens(admin_client, make_repository):
    repo, _ = make_repository(run=False)
    Repository.objects.update(last_error="GIT_AUTH_FAILED", consecutive_failures=1)
    from sourcegraph_site.jobs.models import Job

    Job.objects.all().delete()
    page = admin_client.get("/sourcegraph/repo?repo=acme/tools").content.decode()
    assert f'href="{SITE}"' in page and "Change token" in page


def test_tokens_that_end_are_announced_to_those_who_can_change_them(client, make_user):
    now = clock.now()
    alice, root = make_user("alice"), make_user("root", admin=True)
    fields = {"source": "github", "sealed": b"x"}
    CodeToken.objects.create(
        record_id="1", owner=alice, expires_at=now + timedelta(days=6), **fields
    )
    CodeToken.objects.create(record_id="2", expires_at=now - timedelta(days=1), **fields)
    CodeToken.objects.create(record_id="3", owner=root, refused_at=now, **fields)
    CodeToken.objects.create(record_id="4", owner=alice, source="git", refused_at=now)  # cleared

    def said(user) -> set[str]:
        client.force_login(user)
        page = unescape(client.get("/sourcegraph/repos").content.decode())
        return set(re.findall(r"<b>([^<]*token for[^<]*)</b>", page))

    assert said(alice) == {"Your token for github expires within a week."}
    assert said(root) == {
        "The site's token for github has expired.",
        "The code host refused your token for github.",
    }
    assert said(make_user("bob")) == set()
    client.logout()
    assert "token for" not in client.get("/sourcegraph/repos").content.decode()


def test_the_admin_site_lists_tokens_without_them(admin_client, administrator, actor_for):
    fields = {"source": "github", "revision": "0", "token": TOKEN}
    assert admin_client.post(OWN, fields).status_code == 302
    row = CodeToken.objects.get()
    for path in ("", f"{row.pk}/change/"):
        page = admin_client.get(f"/sourcegraph/admin/repos/codetoken/{path}")
        assert page.status_code == 200
        assert bytes(row.sealed).hex() not in page.content.decode()
        assert row.record_id not in page.content.decode()
    assert (
        admin_client.post(f"/sourcegraph/admin/repos/codetoken/{row.pk}/delete/").status_code == 403
    )
