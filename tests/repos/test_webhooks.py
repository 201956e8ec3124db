import hashlib
import hmac
import json

import pytest

from repos import work
from repos.models import Repository, Webhook
from repos.usecases.manage_webhooks import (
    RevokeWebhook,
    WebhooksOf,
    create_webhook,
    list_webhooks,
    revoke_webhook,
)
from sourcegraph_site.audit.models import AuditEvent
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.errors import AppError
from tests.support.jobs import run_pending_jobs

pytestmark = pytest.mark.django_db

BODY = b'{"ref":"refs/heads/main"}'


@pytest.fixture
def repo(http_remote, synced):
    http_remote.repository("acme/widgets").commit({"a": "1"})
    row = synced(http_remote.url("acme/widgets"))
    Job.objects.all().delete()
    return row


@pytest.fixture
def hook(repo):
    return create_webhook(OPERATOR, WebhooksOf(repo=repo.name))


def deliver(client, hook, headers, body=BODY):
    path = f"/sourcegraph/webhooks/{hook.id}"
    return client.post(path, body, content_type="application/json", headers=headers)


def signature(hook, body=BODY):
    return hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()


def forms(hook):
    signed = signature(hook)
    return {
        "github": {"X-Hub-Signature-256": f"sha256={signed}", "X-Hub-Signature": "sha1=00"},
        "bitbucket": {"X-Hub-Signature": f"sha256={signed}"},
        "gitea": {"X-Gitea-Signature": signed, "X-Hub-Signature-256": f"sha256={signed}"},
        "forgejo": {"X-Forgejo-Signature": signed},
        "gitlab": {"X-Gitlab-Token": hook.secret},
        "plain": {"X-Webhook-Secret": hook.secret},
    }


@pytest.mark.parametrize("host", ["github", "bitbucket", "gitea", "forgejo", "gitlab", "plain"])
def test_a_genuine_delivery_queues_a_sync(client, hook, host):
    response = deliver(client, hook, forms(hook)[host])

    assert (response.status_code, response.json()) == (202, {"status": "queued"})
    assert Job.objects.get().kind == work.SYNC
    assert Webhook.objects.get().last_delivery_at is not None


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Hub-Signature-256": "sha256=" + "0" * 64},
        {"X-Hub-Signature-256": ""},
        {"X-Hub-Signature": "sha1=" + "0" * 40},
        {"X-Gitlab-Token": "guess"},
        {"X-Webhook-Secret": "é"},
        {"Authorization": "Bearer x"},
    ],
)
def test_a_bad_signature_is_refused(client, hook, headers):
    response = deliver(client, hook, headers)

    assert response.status_code == 401
    assert response.json()["Meta"]["Code"] == "AUTHENTICATION_REQUIRED"
    assert not Job.objects.exists()


def test_a_signature_of_another_body_or_webhook_is_refused(client, hook, repo):
    other = create_webhook(OPERATOR, WebhooksOf(repo=repo.name))

    assert deliver(client, hook, forms(hook)["github"], b"{}").status_code == 401
    assert deliver(client, hook, forms(other)["gitlab"]).status_code == 401


def test_a_right_secret_beside_a_wrong_signature_is_refused(client, hook):
    headers = {"X-Gitlab-Token": hook.secret, "X-Hub-Signature-256": "sha256=" + "0" * 64}

    assert deliver(client, hook, headers).status_code == 401


def test_an_unknown_webhook_looks_like_a_bad_signature(client, hook):
    bad = deliver(client, hook, {"X-Gitlab-Token": "guess"}).json()
    Webhook.objects.all().delete()
    gone = deliver(client, hook, forms(hook)["github"]).json()

    bad["Meta"].pop("RequestID"), gone["Meta"].pop("RequestID")
    assert bad == gone


def test_a_flood_collapses_into_one_sync_and_a_replay_is_harmless(client, hook, http_remote):
    answers = {deliver(client, hook, forms(hook)["github"]).json()["status"] for _ in range(20)}

    assert answers == {"queued", "joined"}
    assert Job.objects.count() == 1
    run_pending_jobs()
    assert not Job.objects.filter(kind=work.SYNC).exists()  # nothing had changed


def test_a_push_during_a_sync_queues_another(client, hook):
    deliver(client, hook, forms(hook)["github"])
    Job.objects.update(state="running")

    assert deliver(client, hook, forms(hook)["github"]).json() == {"status": "queued"}
    assert Job.objects.count() == 2


def test_what_was_pushed_is_there_after_the_sync(client, hook, repo, http_remote):
    from tests.support.git_remote import GitRemote

    remote = GitRemote(http_remote.root / "acme/widgets.git")
    tip = remote.commit({"a": "2"}, time=1_800_000_000)

    deliver(client, hook, forms(hook)["gitea"])
    run_pending_jobs()

    assert repo.heads.get().commit == tip


def test_a_switched_off_repository_ignores_pushes(client, hook):
    Repository.objects.update(enabled=False)

    assert deliver(client, hook, forms(hook)["github"]).json() == {"status": "ignored"}
    assert not Job.objects.exists()


def test_a_secret_is_shown_once_and_a_revoked_webhook_is_refused(client, hook, repo):
    listed = list_webhooks(OPERATOR, WebhooksOf(repo=repo.name)).items
    assert [(item.id, item.secret) for item in listed] == [(hook.id, None)]

    left = revoke_webhook(OPERATOR, RevokeWebhook(repo=repo.name, id=hook.id))

    assert left.items == []
    assert deliver(client, hook, forms(hook)["github"]).status_code == 401
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"repository.webhook_created", "repository.webhook_revoked"} <= actions
    assert hook.secret not in json.dumps(list(AuditEvent.objects.values("detail")))


def test_the_ninth_webhook_is_refused(repo):
    for _ in range(8):
        create_webhook(OPERATOR, WebhooksOf(repo=repo.name))

    with pytest.raises(AppError) as refusal:
        create_webhook(OPERATOR, WebhooksOf(repo=repo.name))

    assert refusal.value.code == "WEBHOOK_LIMIT_REACHED"
