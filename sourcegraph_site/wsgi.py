"""Entry point of gunicorn: two handlers over one site.

An API call without our session cookie, or with a bearer, needs no session, CSRF token,
message store or template machinery; their middleware would cost more than a small answer.
Such calls go through `settings.LEAN_MIDDLEWARE`, all others through `settings.MIDDLEWARE`.
Both chains give the same answers: views check rights, origin and CSRF by themselves.
"""

import os
from collections.abc import Iterable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sourcegraph_site.settings")

import django

django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402
from django.core.handlers.wsgi import WSGIHandler  # noqa: E402

from sourcegraph_site.web.middleware import is_api  # noqa: E402


class LeanHandler(WSGIHandler):
    """A handler with the short middleware list. Made once, before any thread runs."""

    def load_middleware(self, is_async: bool = False) -> None:
        full = settings.MIDDLEWARE
        settings.MIDDLEWARE = settings.LEAN_MIDDLEWARE
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = full


_full = WSGIHandler()
_lean = LeanHandler()
_COOKIE = settings.SESSION_COOKIE_NAME + "="


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    lean = is_api(environ.get("PATH_INFO", "")) and (
        "HTTP_AUTHORIZATION" in environ or _COOKIE not in environ.get("HTTP_COOKIE", "")
    )
    return (_lean if lean else _full)(environ, start_response)
