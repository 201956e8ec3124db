"""Theme, language and what was chosen last, in cookies that the server reads.

Not in local storage: the first paint is right without a script.
"""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import check_for_language
from django.views.decorators.http import require_POST

THEME_COOKIE = "cs.theme"
REPOSITORY_COOKIE = "cs.lastRepo"
TOGGLES_COOKIE = "cs.toggles"  # any of "c" (match case) and "r" (regular expression), or "-"
YEAR_SECONDS = 365 * 24 * 3600


def theme_of(request: HttpRequest) -> str:
    """`light`, `dark`, or nothing for the system's."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in ("light", "dark") else ""


def remember(response: HttpResponse, cookie: str, value: str) -> None:
    """Keep a choice for a year; an empty one is forgotten."""
    if not value:
        response.delete_cookie(cookie, path=settings.PREFIX, samesite="Lax")
        return
    response.set_cookie(
        cookie,
        value,
        max_age=YEAR_SECONDS,
        path=settings.PREFIX,
        secure=settings.SECURE,
        httponly=True,
        samesite="Lax",
    )


def back(request: HttpRequest) -> str:
    """The page of ours that the person came from; else the search page."""
    came_from = urlsplit(str(request.META.get("HTTP_REFERER", "")))
    if came_from.netloc != request.get_host() or not came_from.path.startswith(settings.PREFIX):
        return settings.PREFIX
    return came_from.path + (f"?{came_from.query}" if came_from.query else "")


@require_POST
def preferences(request: HttpRequest) -> HttpResponse:
    """Set what the form names, theme or language, and go back to where it was sent from."""
    response = HttpResponse(status=303, headers={"Location": back(request)})
    if "theme" in request.POST:
        theme = request.POST["theme"]
        remember(response, THEME_COOKIE, theme if theme in ("light", "dark") else "")
    language = request.POST.get("language", "")
    if language in dict(settings.LANGUAGES) and check_for_language(language):
        remember(response, settings.LANGUAGE_COOKIE_NAME, language)
    return response
