"""Write one audit event; called by use cases, inside the transaction of the change."""

from typing import Any

from sourcegraph_site.audit.actions import ACTIONS
from sourcegraph_site.audit.models import AuditEvent
from sourcegraph_site.kernel.actor import Actor


def record(actor: Actor, action: str, *, target: str, **detail: Any) -> None:
    """`target` is "kind:name"; `detail` is JSON-ready and holds no secret."""
    if action not in ACTIONS:
        raise ValueError(f"unknown audit action {action!r}; add it to audit/actions.py")
    AuditEvent.objects.create(
        actor=actor.label[:200],
        actor_kind=actor.kind.value,
        action=action,
        target=target[:600],
        detail=detail,
    )
