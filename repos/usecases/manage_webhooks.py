"""Webhooks of a repository: list, create, revoke."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction

from repos.access import get_managed
from repos.errors import WebhookLimitReached, WebhookNotFound
from repos.models import Repository, Webhook
from repos.pushes import secret_of
from sourcegraph_site.audit.record import record
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.inputs import Input
from sourcegraph_site.kernel.wire import optional

MAX_WEBHOOKS = 8


class WebhooksOf(Input):
    repo: str


class RevokeWebhook(WebhooksOf):
    id: str


@dataclass(frozen=True, slots=True)
class WebhookRecord:
    """`secret` is in the reply to creation only."""

    id: str
    url: str
    created_at: datetime
    last_delivery_at: datetime | None = optional()
    secret: str | None = optional()


@dataclass(frozen=True, slots=True)
class WebhookList:
    items: list[WebhookRecord]


def list_webhooks(actor: Actor, params: WebhooksOf) -> WebhookList:
    """Raises: as `access.get_managed`."""
    repo = get_managed(actor, params.repo)
    return WebhookList([_record(hook) for hook in repo.webhooks.order_by("pk")])


def create_webhook(actor: Actor, params: WebhooksOf) -> WebhookRecord:
    """Make an address and its secret; the code host is told both.

    Raises:
        as `access.get_managed`; WebhookLimitReached: there are eight already.
    """
    repo = get_managed(actor, params.repo)
    with transaction.atomic():
        Repository.objects.select_for_update().get(pk=repo.pk)
        if repo.webhooks.count() >= MAX_WEBHOOKS:
            raise WebhookLimitReached(f"A repository has at most {MAX_WEBHOOKS} webhooks.")
        hook = Webhook.objects.create(repository=repo, created_at=clock.now())
        _audit(actor, "repository.webhook_created", repo, hook.webhook_id)
    return _record(hook, with_secret=True)


def revoke_webhook(actor: Actor, params: RevokeWebhook) -> WebhookList:
    """Deliveries to it are refused from now on; the reply lists what is left.

    Raises:
        as `access.get_managed`; WebhookNotFound: the repository has no such webhook.
    """
    repo = get_managed(actor, params.repo)
    with transaction.atomic():
        if not repo.webhooks.filter(webhook_id=params.id).delete()[0]:
            raise WebhookNotFound("This repository has no such webhook.")
        _audit(actor, "repository.webhook_revoked", repo, params.id)
    return WebhookList([_record(hook) for hook in repo.webhooks.order_by("pk")])


def _audit(actor: Actor, action: str, repo: Repository, webhook_id: str) -> None:
    record(actor, action, target=f"repository:{repo.name}", webhook=webhook_id)


def _record(hook: Webhook, *, with_secret: bool = False) -> WebhookRecord:
    return WebhookRecord(
        hook.webhook_id,
        f"{settings.ORIGIN}{settings.PREFIX}webhooks/{hook.webhook_id}",
        hook.created_at,
        hook.last_delivery_at,
        secret_of(hook.webhook_id) if with_secret else None,
    )
