"""The Settings tab: what managers change, what is refused beside what they typed."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from repos.models import Repository, RepositoryManager
from sourcegraph_site.jobs.models import Job
from tests.web.markup import faults_of
from tests.web.test_search_page import text_of

pytestmark = pytest.mark.django_db

TAB = "/sourcegraph/repo?repo=acme/tools&tab=settings"
ACT = "/sourcegraph/repo/settings?repo=acme/tools"


@pytest.fixture
def fields(admin_client, demo):
    """What the browser would send of the first form, unchanged."""
    form = admin_client.get(TAB).context["form"]
    sent = {name: form[name].value() for name in form.fields}
    return {"act": "policy", **{name: value for name, value in sent.items() if value is not None}}


def sent(fields, **changes):
    merged = {**fields, **changes}
    return {name: value for name, value in merged.items() if value is not False}


def hidden(response, act, name):
    """The value that a form of the page would send with `act`."""
    form = next(
        part for part in response.content.decode().split("<form")[1:] if f'value="{act}"' in part
    )
    return re.search(rf'name="{name}" value="([^"]*)"', form)[1]


def test_only_managers_have_the_tab(client, admin_client, make_user, demo):
    client.logout()
    assert "tab=settings" not in client.get("/sourcegraph/repo?repo=acme/tools").content.decode()
    assert client.get(TAB).context["tab"] == ""
    client.force_login(make_user(), backend="django.contrib.auth.backends.ModelBackend")
    refused = client.post(ACT, {"act": "webhook"})
    assert refused.status_code == 403
    assert not demo.webhooks.exists()


def test_settings_are_checked_first_and_saved_then(admin_client, demo, fields):
    changes = {"window": "3", "public_read": False, "git_timeout_minutes": "30"}
    response = admin_client.post(ACT, sent(fields, **changes))
    assert "2 commits that are mirrored now stay searchable." in text_of(response)
    assert faults_of(response.content.decode()) == []
    demo.refresh_from_db()
    assert (demo.window_count, demo.public_read) == (20, True)
    form = response.context["form"]
    again = sent(fields, **changes, preview=form["preview"].value())
    saved = admin_client.post(ACT, again)
    assert saved["Location"] == TAB
    demo.refresh_from_db()
    assert (demo.window_count, demo.public_read, demo.git_timeout_minutes) == (3, False, 30)


def test_what_somebody_else_saved_meanwhile_is_a_conflict_and_nothing_typed_is_lost(
    admin_client, demo, fields
):
    changes = {"branches": "main, other", "window_kind": "days", "window": "30"}
    checked = admin_client.post(ACT, sent(fields, **changes)).context["form"]
    Repository.objects.update(revision=demo.revision + 1)
    again = sent(fields, **changes, preview=checked["preview"].value())
    response = admin_client.post(ACT, again)
    assert response.status_code == 412
    assert "main, other" in response.content.decode()
    form = response.context["form"]
    saved = sent(
        fields, **changes, preview=form["preview"].value(), revision=form["revision"].value()
    )
    assert admin_client.post(ACT, saved).status_code == 302
    demo.refresh_from_db()
    assert (demo.branches, demo.window_days, demo.window_count) == (["main", "other"], 30, None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"branches": "a..b"}, "branch"),
        ({"window": "0"}, "greater than or equal to 1"),
        ({"window_kind": "days", "window": "400"}, "At most 365 days."),
        ({"sync_interval_minutes": "7"}, "valid choice"),
    ],
)
def test_a_bad_value_is_told_beside_its_field(admin_client, demo, fields, changes, words):
    response = admin_client.post(ACT, sent(fields, **changes))
    assert response.status_code == 400
    assert words in text_of(response)
    assert faults_of(response.content.decode()) == []


def test_managers_are_found_added_and_removed(admin_client, make_user, demo):
    ada = make_user("ada")
    page = admin_client.get(f"{TAB}&find=ad")
    assert "ada@example.org" in text_of(page)
    revision = hidden(page, "manager", "revision")
    act = {"act": "manager", "revision": revision}
    assert admin_client.post(ACT, {**act, "add": ada.public_id}).status_code == 302
    assert RepositoryManager.objects.get(repository=demo).user == ada
    stale = admin_client.post(ACT, {**act, "remove": ada.public_id})
    assert stale.status_code == 412
    assert RepositoryManager.objects.exists()
    act["revision"] = hidden(stale, "manager", "revision")
    admin_client.post(ACT, {**act, "remove": ada.public_id})
    assert not RepositoryManager.objects.exists()
    assert "Nobody else" in text_of(admin_client.get(f"{TAB}&find=zz"))


def test_a_webhooks_secret_is_shown_once(admin_client, demo):
    made = admin_client.post(ACT, {"act": "webhook"})
    secret = made.context["made"].secret
    assert secret in text_of(made)
    assert "no-store" in made["Cache-Control"]
    again = admin_client.get(TAB)
    assert secret not in text_of(again)
    hook = demo.webhooks.get()
    assert hook.webhook_id in text_of(again)
    admin_client.post(ACT, {"act": "webhook", "revoke": hook.webhook_id})
    assert not demo.webhooks.exists()


def test_delete_and_purge_want_the_name_typed(admin_client, demo):
    def form(act):
        page = admin_client.get(TAB)
        names = ("revision", "preview") if act == "delete" else ("revision",)
        return {"act": act, **{name: hidden(page, act, name) for name in names}}

    refused = admin_client.post(ACT, {**form("delete"), "name": "acme/tool"})
    assert "not the name" in text_of(refused)
    demo.refresh_from_db()
    assert not demo.deleted
    admin_client.post(ACT, {**form("delete"), "name": "acme/tools"})
    demo.refresh_from_db()
    assert demo.deleted
    early = admin_client.post(ACT, {**form("purge"), "name": "acme/tools"})
    assert early.status_code == 409
    assert "CLEANUP_NOT_READY" in text_of(early)
    Repository.objects.update(deleted_at=timezone.now() - timedelta(minutes=2))
    Job.objects.all().delete()
    gone = admin_client.post(ACT, {**form("purge"), "name": "acme/tools"})
    assert gone["Location"] == "/sourcegraph/repos"
    assert not Repository.objects.exists()


def test_an_unknown_act_is_refused(admin_client, demo):
    assert admin_client.post(ACT, {"act": "nope"}).status_code == 400
