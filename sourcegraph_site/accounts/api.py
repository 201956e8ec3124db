"""Who am I, what may be read here, and what this server can do."""

from typing import Any, ClassVar, cast

from django.conf import settings
from django.contrib.auth import logout
from django.middleware.csrf import get_token
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from sourcegraph_site.accounts.models import User
from sourcegraph_site.accounts.policy import access, repository_defaults
from sourcegraph_site.accounts.providers import identity_of
from sourcegraph_site.accounts.usecases.api_keys import (
    ApiKeyList,
    CreateApiKey,
    ListApiKeys,
    RevokeApiKey,
    Revoked,
    create_api_key,
    list_api_keys,
    revoke_api_key,
)
from sourcegraph_site.accounts.usecases.search_users import FoundPeople, SearchUsers, search_users
from sourcegraph_site.api.views import ApiView, json_body
from sourcegraph_site.kernel.inputs import Input, parse
from sourcegraph_site.kernel.wire import time_text, to_wire

OPERATIONS = [
    "search",
    "read",
    "read_many",
    "list",
    "diff",
    "resolve",
    "refs",
    "find",
    "log",
    "blame",
    "availability",
    "commits",
    "prepare",
]


class OpenView(ApiView):
    """Readable by everyone, whatever the site's settings say; looks at no credential."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        return None


class AccessPolicyView(OpenView):
    """Whether anonymous callers may read, and who may register repositories."""

    def get(self, request: Request) -> Response:
        values = access()
        return Response(
            {
                "public_read": values.public_read,
                "public_prepare": False,
                "sso_enabled": True,
                "user_repositories": values.allow_user_repositories,
            }
        )


class ProvidersView(OpenView):
    """The providers that people can sign in with, beside a password of this site."""

    def get(self, request: Request) -> Response:
        return Response({"providers": [provider.id for provider in settings.SIGN_IN_PROVIDERS]})


class SiteSettingsView(OpenView):
    """The defaults that a new repository gets."""

    def get(self, request: Request) -> Response:
        values = repository_defaults()
        shown = ("retention_mode", "retention_days", "retention_count", "git_timeout_minutes")
        return Response({"repository_defaults": {key: getattr(values, key) for key in shown}})


class CapabilitiesView(ApiView):
    """What this server can do."""

    public: ClassVar[bool] = True
    keys: ClassVar[bool] = True

    def get(self, request: Request) -> Response:
        return Response(
            {
                "Protocol": "zoekt-single-repo-v1",
                "Operations": OPERATIONS,
                "Authentication": "access-policy",
                "SearchProfile": "text-no-ctags",
                "SymbolSearch": False,
                "ChunkMatches": False,
            }
        )


class MeView(ApiView):
    """The signed-in person, and the CSRF token that their writes need."""

    browser_only: ClassVar[bool] = True

    def get(self, request: Request) -> Response:
        user = cast(User, request._request.user)
        issuer, subject = identity_of(user)
        return Response(
            {
                "user": {
                    "id": user.public_id,
                    "issuer": issuer,
                    "subject": subject,
                    "name": user.display_name,
                    "email": user.email,
                    "department": user.department,
                    "role": "admin" if user.is_superuser else "user",
                    "created_at": time_text(user.date_joined),
                    "last_login_at": time_text(user.last_login) if user.last_login else None,
                },
                "permissions": {"read": True, "manage": user.is_superuser},
                "csrf_token": get_token(request._request),
                "expires_at": time_text(request._request.session.get_expiry_date()),
            }
        )


class UserSearchView(ApiView):
    """People whom a signed-in person may name, for example as managers."""

    browser_only: ClassVar[bool] = True
    parameters: ClassVar[frozenset[str]] = frozenset({"q"})
    reply: ClassVar[type] = FoundPeople

    def get(self, request: Request) -> Response:
        found = search_users(self.actor, parse(SearchUsers, {"q": self.query.get("q", "")}))
        return Response(to_wire(found))


class LogoutView(ApiView):
    """Ends this session."""

    browser_only: ClassVar[bool] = True

    def post(self, request: Request) -> Response:
        logout(request._request)
        return Response({"logged_out": True})


class ApiKeysView(ApiView):
    """The keys of the signed-in person, newest first (GET), and a new one (POST).

    A key's text is in the 201 alone.
    """

    browser_only: ClassVar[bool] = True
    parameters: ClassVar[frozenset[str]] = frozenset({"limit", "after"})
    input: ClassVar[type[Input]] = CreateApiKey
    input_casing: ClassVar[str] = "snake"
    reply: ClassVar[type] = ApiKeyList

    def get(self, request: Request) -> Response:
        return Response(to_wire(list_api_keys(self.actor, parse(ListApiKeys, self.query))))

    def post(self, request: Request) -> Response:
        made = create_api_key(self.actor, parse(CreateApiKey, json_body(request)))
        return Response(to_wire(made), status=201)


class ApiKeyView(ApiView):
    """Revokes one key; it is refused from the next call on."""

    browser_only: ClassVar[bool] = True
    reply: ClassVar[type] = Revoked

    def delete(self, request: Request, key_id: str) -> Response:
        return Response(to_wire(revoke_api_key(self.actor, RevokeApiKey(id=key_id))))


routes = [
    path("access-policy", AccessPolicyView.as_view()),
    path("site-settings", SiteSettingsView.as_view()),
    path("v1/capabilities", CapabilitiesView.as_view()),
    path("auth/providers", ProvidersView.as_view()),
    path("auth/me", MeView.as_view()),
    path("auth/users/search", UserSearchView.as_view()),
    path("auth/logout", LogoutView.as_view()),
    path("auth/api-keys", ApiKeysView.as_view()),
    path("auth/api-keys/<str:key_id>", ApiKeyView.as_view()),
]
