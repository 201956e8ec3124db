"""Request ids, the default cache rule, and the language of pages."""

import secrets
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.locale import LocaleMiddleware

Handler = Callable[[HttpRequest], HttpResponse]

# Below these, callers are programs: JSON errors, no session unless a cookie came along.
API_PREFIXES = tuple(
    settings.PREFIX + part
    for part in (
        "v1/",
        "api/",
        "auth/",
        "mcp",
        "healthz",
        "readyz",
        "webhooks/",
        "access-policy",
        "site-settings",
    )
)


def is_api(path: str) -> bool:
    return path.startswith(API_PREFIXES) and path != settings.PREFIX + "v1/docs"


class RequestMiddleware:
    """Gives each request an id, and each answer that id and `no-store` unless it says more."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.request_id = secrets.token_hex(16)  # type: ignore[attr-defined]
        response = self.get_response(request)
        response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = "no-store"
        return response


class LanguageMiddleware(LocaleMiddleware):
    """The language of the cookie, else of the browser; API answers stay English."""

    def process_request(self, request: HttpRequest) -> None:
        if not is_api(request.path):
            super().process_request(request)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if is_api(request.path):
            return response
        return super().process_response(request, response)
