"""From a request to an `Actor`, for REST, MCP and pages alike (contract 1.2).

The order is fixed: a bearer decides alone and never falls back to anonymous; without one, a
signed-in session; otherwise anonymous.
"""

import hashlib
import hmac

from django.conf import settings
from django.http import HttpRequest

from sourcegraph_site.accounts.models import User
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.errors import AuthenticationRequired

SERVICE = Actor(kind=ActorKind.SERVICE, label="service")


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
    if scheme.lower() == "bearer" and token and _is_service_token(token):
        return SERVICE
    raise AuthenticationRequired("The credential is not valid; check it or send none.")


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
