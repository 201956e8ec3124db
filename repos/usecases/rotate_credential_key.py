"""A new key for the tokens of code sources, or the first of the configured ones for all."""

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from repos.models import CodeToken
from repos.sources import vault
from repos.sources.tokens import sealed_for
from sourcegraph_site.accounts.rights import require_administrator
from sourcegraph_site.audit.record import record
from sourcegraph_site.kernel.actor import Actor


@dataclass(frozen=True, slots=True)
class Rotated:
    """How many tokens were encrypted anew, and how many could not be read and stay as they are."""

    rotated: int
    unreadable: int


def rotate_credential_key(actor: Actor) -> Rotated:
    """Encrypt every token under the newest key, which is made now unless the environment sets it.

    Killed half-way, nothing is lost: the key before stays readable.

    Raises:
        AuthenticationRequired, AccessDenied, AdminRequired.
        CredentialStorageUnavailable: keys can be neither read nor written.
    """
    require_administrator(actor)
    if not settings.CREDENTIAL_KEYS:
        vault.add_key()
    rotated = unreadable = 0
    with transaction.atomic():
        for row in CodeToken.objects.select_for_update().exclude(sealed=b""):
            try:
                token = vault.unseal(sealed_for(row), row.key_id, bytes(row.sealed))
            except vault.Unreadable:
                unreadable += 1
                continue
            row.key_id, row.sealed = vault.seal(sealed_for(row), token)
            row.save(update_fields=["key_id", "sealed"])
            rotated += 1
        record(
            actor,
            "credential_key.rotated",
            target="settings:credential_key",
            rotated=rotated,
            unreadable=unreadable,
        )
    return Rotated(rotated, unreadable)
