"""Receipts: the same Idempotency-Key with the same content gives the first answer again.

A receipt is written in the transaction of the request, so that either both or none exist. It
counts for 24 hours; a repository keeps at most 256.
"""

import hashlib
import json
from datetime import timedelta
from typing import Any

from repos.errors import IdempotencyConflict, InvalidIdempotencyKey
from repos.models import Receipt, Repository
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor

VALID_FOR = timedelta(hours=24)
MAX_PER_REPOSITORY = 256


def check_key(key: str | None, *, required: bool = True) -> str:
    """Raises InvalidIdempotencyKey unless it has 8 to 128 bytes without CR, LF and NUL."""
    if key is None and not required:
        return ""
    size = len((key or "").encode("utf-8", "replace"))
    if key is None or not 8 <= size <= 128 or any(char in key for char in "\r\n\0"):
        raise InvalidIdempotencyKey("Send Idempotency-Key with 8 to 128 bytes, on one line.")
    return key


def digest_of(content: Any) -> str:
    """Of JSON-ready content, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def replayed(actor: Actor, operation: str, key: str, digest: str) -> Receipt | None:
    """The receipt of the first request with this key, if it is not older than 24 hours.

    Raises:
        IdempotencyConflict: the key was used for other content.
    """
    if not key:
        return None
    found = (
        Receipt.objects.select_related("repository")
        .filter(
            actor=_owner(actor),
            operation=operation,
            key=key,
            created_at__gt=clock.now() - VALID_FOR,
        )
        .first()
    )
    if found is not None and found.digest != digest:
        raise IdempotencyConflict("This Idempotency-Key was used for another request.")
    return found


def keep(
    actor: Actor,
    operation: str,
    key: str,
    digest: str,
    repo: Repository,
    answer: dict[str, Any],
) -> None:
    """Remember the answer; replaces an expired receipt of the same key."""
    if not key:
        return
    Receipt.objects.update_or_create(
        actor=_owner(actor),
        operation=operation,
        key=key,
        defaults={
            "digest": digest,
            "repository": repo,
            "answer": answer,
            "created_at": clock.now(),
        },
    )
    newest = repo.receipts.order_by("-created_at", "-pk").values_list("pk", flat=True)
    old = list(newest[MAX_PER_REPOSITORY : MAX_PER_REPOSITORY + 1000])
    if old:
        Receipt.objects.filter(pk__in=old).delete()


def expire() -> int:
    """Delete receipts that no longer count; how many there were."""
    return Receipt.objects.filter(created_at__lte=clock.now() - VALID_FOR).delete()[0]


def _owner(actor: Actor) -> str:
    """Receipts of a person are shared by the person's sessions and keys."""
    return f"user:{actor.user_id}" if actor.user_id is not None else actor.label[:200]
