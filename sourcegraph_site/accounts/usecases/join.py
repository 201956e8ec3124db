"""How somebody whom a provider vouches for becomes a user: the first one administers."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from sourcegraph_site.accounts import policy
from sourcegraph_site.accounts.errors import RegistrationClosed
from sourcegraph_site.accounts.models import User
from sourcegraph_site.audit.record import record
from sourcegraph_site.kernel.actor import Actor, ActorKind

_LOCK = 0x5347_4144  # any number that nothing else in this database locks


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """A transaction beside which no other decides who administers.

    SQLite has one writer anyway; on PostgreSQL two would each see that nobody does.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        yield


def administrator_exists() -> bool:
    return User.objects.filter(is_superuser=True, is_active=True).exists()


def nobody_has_administered() -> bool:
    """A disabled administrator still counts: disabling must not open the site to strangers."""
    return not User.objects.filter(is_superuser=True).exists()


def public_id_of(issuer: str, subject: str) -> str:
    return hashlib.sha256(f"{issuer}\0{subject}".encode()).hexdigest()


def join(user: User, *, issuer: str, subject: str, save: Callable[[], None]) -> None:
    """Make `user`, who is not yet saved, an account of this verified identity.

    `save` stores the user together with the identity, in our transaction.

    Raises:
        RegistrationClosed: somebody administers already, and sign-up is closed.
    """
    with one_at_a_time():
        user.is_superuser = nobody_has_administered()
        if not user.is_superuser and not policy.access().allow_registration:
            raise RegistrationClosed("New accounts are not accepted; ask an administrator.")
        user.public_id = public_id_of(issuer, subject)
        save()
        actor = Actor(
            ActorKind.SESSION, user.username, user_id=user.pk, site_admin=user.is_superuser
        )
        action = "user.became_first_administrator" if user.is_superuser else "user.joined"
        record(actor, action, target=f"user:{user.public_id}", issuer=issuer)
