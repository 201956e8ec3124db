"""From a request to an `Actor`, for REST, MCP and pages alike (contract 1.2).

The order is fixed: a bearer decides alone and never falls back to anonymous; without one, a
signed-in session; otherwise anonymous.
"""

import hashlib
import hmac
import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Q
from django.http import HttpRequest

from sourcegraph_site.accounts import keys
from sourcegraph_site.accounts.models import ApiKey, User
from sourcegraph_site.accounts.prepared import PreparedSelect
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.errors import AuthenticationRequired

log = logging.getLogger(__name__)

SERVICE = Actor(kind=ActorKind.SERVICE, label="service")
LAST_USE_GRAIN = timedelta(minutes=1)

# Asked anew at every call, and nothing is kept: a revoked key or a disabled owner stops at once.
_KEY_BY_DIGEST = PreparedSelect(ApiKey, '"accounts_apikey"."digest" = %s')
_USER_BY_ID = PreparedSelect(User, '"accounts_user"."id" = %s')


def actor_of(request: HttpRequest) -> Actor:
    """Who sent this request.

    Raises:
        AuthenticationRequired: an Authorization header that is not a valid credential.
    """
    header = request.META.get("HTTP_AUTHORIZATION", "")
    if header:
        return _bearer(header)
    user = getattr(request, "user", None)
    if isinstance(user, User) and user.is_active:
        return session_actor(user)
    return _anonymous(request)


def bearer_or_anonymous(request: HttpRequest) -> Actor:
    """Who sent this request, where cookies do not count (MCP).

    Raises:
        AuthenticationRequired: an Authorization header that is not a valid credential.
    """
    header = request.META.get("HTTP_AUTHORIZATION", "")
    return _bearer(header) if header else _anonymous(request)


def _anonymous(request: HttpRequest) -> Actor:
    return Actor(kind=ActorKind.ANONYMOUS, label="anonymous:" + address_digest(request))


def session_actor(user: User) -> Actor:
    return Actor(
        kind=ActorKind.SESSION,
        label=user.username,
        user_id=user.pk,
        site_admin=user.is_superuser,
    )


def _bearer(header: str) -> Actor:
    scheme, _, token = header.partition(" ")
    token = token.strip()
    if scheme.lower() == "bearer" and token:
        if _is_service_token(token):
            return SERVICE
        if keys.is_key(token) and (actor := _key_actor(token)):
            return actor
    # One answer for whatever is wrong with it: unknown, expired, revoked, owner disabled.
    raise AuthenticationRequired("The credential is not valid; check it or send none.")


def _key_actor(token: str) -> Actor | None:
    """The owner's reach as it is now, narrowed by the key; None if the key is not valid."""
    key = _KEY_BY_DIGEST.first(keys.digest_of(token))
    now = clock.now()
    if key is None or key.revoked_at or (key.expires_at and key.expires_at <= now):
        return None
    owner = _USER_BY_ID.first(key.user_id)
    if owner is None or not owner.is_active:
        return None
    if key.last_used_at is None or key.last_used_at <= now - LAST_USE_GRAIN:
        _note_use(key, now)
    return Actor(
        kind=ActorKind.KEY,
        label=f"{owner.username} {key.prefix}",
        user_id=owner.pk,
        site_admin=owner.is_superuser,
        key_id=key.pk,
        repositories=None if key.repositories is None else frozenset(key.repositories),
        no_prepare=key.no_prepare,
    )


def _note_use(key: ApiKey, now: datetime) -> None:
    """Of calls that come together, one writes. A busy database must not fail a read for this."""
    stale = Q(last_used_at=None) | Q(last_used_at__lte=now - LAST_USE_GRAIN)
    try:
        ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)
    except DatabaseError:
        log.warning("the use of key %s was not noted", key.prefix, exc_info=True)


def _is_service_token(token: str) -> bool:
    if not settings.API_TOKEN:
        return False
    given, ours = (hashlib.sha256(t.encode()).digest() for t in (token, settings.API_TOKEN))
    return hmac.compare_digest(given, ours)


def client_address(request: HttpRequest) -> str:
    """The address of the client, seen through the configured number of trusted proxies.

    Each trusted proxy appends the address that it saw, so the client's stands that many
    entries from the end; anything further left was written by the client itself.
    """
    remote = str(request.META.get("REMOTE_ADDR", ""))
    if not settings.TRUSTED_PROXIES:
        return remote
    chain = [part.strip() for part in str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")]
    chain = [part for part in chain if part]
    if len(chain) < settings.TRUSTED_PROXIES:
        return remote
    return chain[-settings.TRUSTED_PROXIES]


def address_digest(request: HttpRequest) -> str:
    return hashlib.sha256(client_address(request).encode()).hexdigest()
