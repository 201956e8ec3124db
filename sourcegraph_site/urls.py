"""The only place that decides prefixes; everything is under /sourcegraph/."""

from importlib import import_module

from allauth.account.views import LoginView
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, include, path
from django.utils.module_loading import module_has_submodule
from drf_spectacular.views import SpectacularAPIView

from sourcegraph_site.accounts.providers import urlpatterns as provider_routes
from sourcegraph_site.accounts.views import (
    first_administrator,
    former_user_settings,
    revoke_key,
    user_settings,
)
from sourcegraph_site.api.reference import ReferenceView
from sourcegraph_site.api.urls import api_routes
from sourcegraph_site.mcp.urls import urlpatterns as mcp_routes
from sourcegraph_site.web.health import healthz, readyz
from sourcegraph_site.web.pages import connect, keys
from sourcegraph_site.web.preferences import preferences


def home(request: HttpRequest) -> HttpResponse:
    """Everything lives below the prefix; the method is kept (contract 1.1)."""
    return HttpResponse(status=307, headers={"Location": settings.PREFIX})


def page_routes() -> list[URLPattern]:
    """All `urlpatterns` of the installed apps' `urls` modules."""
    found: list[URLPattern] = []
    for name in ("repos", "readers", "search", "plugins"):
        config = apps.get_app_config(name)
        if config.module is not None and module_has_submodule(config.module, "urls"):
            found += import_module(f"{name}.urls").urlpatterns
    return found


site = [
    *api_routes(),
    *page_routes(),
    *mcp_routes,
    path("", include(provider_routes)),  # pages, although below auth/: not part of the schema
    path("healthz", healthz),
    path("readyz", readyz),
    path("v1/schema", SpectacularAPIView.as_view(), name="schema"),
    path("v1/docs", ReferenceView.as_view(url_name="schema"), name="api_docs"),
    path("preferences", preferences, name="preferences"),
    path("keys", keys, name="keys"),
    path("connect", connect, name="connect"),
    path("login", LoginView.as_view(), name="login"),
    path("first-administrator", first_administrator, name="first_administrator"),
    path("user-settings", user_settings, name="user_settings"),
    path("user-settings/revoke-key", revoke_key, name="revoke_key"),
    path("api-tokens", former_user_settings),
    path("accounts/", include("allauth.account.urls")),
    path("admin/", admin.site.urls),
]

urlpatterns = [
    path("", home),
    path("sourcegraph/", include(site)),
]

handler404 = "sourcegraph_site.web.errors.not_found"
handler500 = "sourcegraph_site.web.errors.server_error"
