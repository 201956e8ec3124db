"""The first administrator: a one-time link that only the terminal shows."""

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from sourcegraph_site.accounts.errors import InvalidLoginState, InvalidUserInput
from sourcegraph_site.accounts.models import AdminLink, User
from sourcegraph_site.accounts.usecases.join import administrator_exists, one_at_a_time
from sourcegraph_site.audit.record import record
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.inputs import Field, Input

LIFETIME = timedelta(hours=24)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def create_admin_link() -> str:
    """A path with a fresh secret; it works once, for a day, while nobody administers."""
    secret = secrets.token_urlsafe(32)
    now = clock.now()
    with transaction.atomic():
        AdminLink.objects.filter(expires_at__lt=now).delete()
        AdminLink.objects.create(digest=_digest(secret), expires_at=now + LIFETIME)
    return f"{settings.PREFIX}first-administrator?link={secret}"


def link_is_open(secret: str) -> bool:
    """Would `redeem` accept this link now?"""
    return not administrator_exists() and _open(secret).exists()


def _open(secret: str) -> QuerySet[AdminLink]:
    return AdminLink.objects.filter(
        digest=_digest(secret), used_at=None, expires_at__gt=clock.now()
    )


class RedeemAdminLink(Input):
    secret: str = Field(max_length=200)
    username: str = Field(min_length=1, max_length=150)
    password: str = Field(min_length=1, max_length=200)
    email: str = Field("", max_length=254)


def redeem_admin_link(params: RedeemAdminLink) -> User:
    """Make the administrator that the person at the terminal asked for.

    The link is spent by one conditional UPDATE and the check that nobody administers yet runs
    in the same transaction, so of two people with the same link one wins.

    Raises:
        InvalidLoginState: the link is wrong, used, too old, or an administrator exists.
        InvalidUserInput: the name is taken or malformed, or the password too weak.
    """
    user = User(username=params.username, email=params.email, is_superuser=True)
    try:
        user.clean_fields(exclude=["password"])
        validate_password(params.password, user)
    except ValidationError as exc:
        raise InvalidUserInput(" ".join(exc.messages)) from None
    user.set_password(params.password)
    with one_at_a_time():
        if not _open(params.secret).update(used_at=clock.now()) or administrator_exists():
            raise InvalidLoginState("This link is wrong, already used or too old.")
        try:
            with transaction.atomic():
                user.save()
        except IntegrityError:
            raise InvalidUserInput("That name is taken.") from None
        actor = Actor(ActorKind.SESSION, user.username, user_id=user.pk, site_admin=True)
        record(actor, "user.became_first_administrator", target=f"user:{user.public_id}")
    return user
