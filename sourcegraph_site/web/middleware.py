"""Request ids for everything; sessions, CSRF and the rest for pages alone.

An API call without a cookie needs no session, no CSRF token and no message store, and they
would cost more than a small answer. So the page middleware is one inner chain that
`PageMiddleware` enters for pages, and for API calls that carry our session cookie.
"""

import logging
import secrets
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.utils.cache import patch_vary_headers
from django.utils.module_loading import import_string

log = logging.getLogger(__name__)

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


class PageMiddleware:
    """Runs `settings.PAGE_MIDDLEWARE` around pages and cookie-carrying API calls.

    Their `process_view` hooks are honoured (CSRF lives there); they are called by Django only
    for the outer chain, so this class collects them and offers one of its own.
    """

    def __init__(self, get_response: Handler) -> None:
        self.plain = get_response
        self.view_hooks: list[Callable[..., HttpResponse | None]] = []
        handler = get_response
        for path in reversed(settings.PAGE_MIDDLEWARE):
            handler = import_string(path)(handler)
            hook = getattr(handler, "process_view", None)
            if hook:
                self.view_hooks.insert(0, hook)
        self.full = handler

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.is_api = is_api(request.path)  # type: ignore[attr-defined]
        # A bearer call is judged by its bearer alone, cookie or not.
        plain = request.is_api and (  # type: ignore[attr-defined]
            settings.SESSION_COOKIE_NAME not in request.COOKIES
            or "HTTP_AUTHORIZATION" in request.META
        )
        request.is_plain = plain  # type: ignore[attr-defined]
        return self.plain(request) if plain else self.full(request)

    def process_view(
        self, request: HttpRequest, view: object, args: object, kwargs: object
    ) -> HttpResponse | None:
        if request.is_plain:  # type: ignore[attr-defined]
            return None
        for hook in self.view_hooks:
            response = hook(request, view, args, kwargs)
            if response is not None:
                return response
        return None


class LanguageMiddleware(LocaleMiddleware):
    """The language of the cookie, else of the browser; API answers stay English."""

    def process_request(self, request: HttpRequest) -> None:
        if not request.is_api:  # type: ignore[attr-defined]
            super().process_request(request)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if request.is_api:  # type: ignore[attr-defined]
            return response
        patch_vary_headers(response, ["Cookie"])
        answer: HttpResponse = super().process_response(request, response)
        return answer
