"""A code host says that somebody pushed: synchronise now."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from repos import work
from repos.models import Webhook
from repos.pushes import is_genuine
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.errors import AuthenticationRequired


@dataclass(frozen=True, slots=True)
class PushReceived:
    """`status` is `queued`, `joined` (a sync was waiting already) or `ignored` (switched off)."""

    status: str


def receive_push(webhook_id: str, headers: Mapping[str, str], body: bytes) -> PushReceived:
    """Queue a sync if the delivery is genuine.

    What the delivery says is not read: the sync asks the remote itself. So a replay costs one
    look at the remote, and a flood collapses into the one sync that is waiting.

    Raises:
        AuthenticationRequired: unknown webhook or wrong secret; both look alike.
    """
    # The digest is compared even when there is no such webhook, so that time tells nothing.
    genuine = is_genuine(webhook_id, headers, body)
    hook = Webhook.objects.select_related("repository").filter(webhook_id=webhook_id).first()
    if hook is None or not genuine:
        raise AuthenticationRequired("The signature or secret of this delivery is not valid.")
    repo = hook.repository
    if not repo.enabled or repo.deleted:
        return PushReceived("ignored")
    with transaction.atomic():
        Webhook.objects.filter(pk=hook.pk).update(last_delivery_at=clock.now())
        _, created = work.queue_sync(repo)
    return PushReceived("queued" if created else "joined")
