"""What every page shows: who is here, the language, the theme, the way around."""

import json
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.utils.translation import get_language

from sourcegraph_site.accounts.models import User
from sourcegraph_site.web.preferences import theme_of

# Read by htmx before anything else: no inline styles, no eval, only our own origin, and the
# browser's own history.
HTMX_CONFIG = json.dumps(
    {
        "includeIndicatorStyles": False,
        "allowEval": False,
        "selfRequestsOnly": True,
        "historyCacheSize": 0,
        "refreshOnHistoryMiss": True,
    }
)


def site(request: HttpRequest) -> dict[str, Any]:
    """Context processor of all templates."""
    language = get_language() or settings.LANGUAGE_CODE
    return {
        "viewer": viewer_of(request),
        "theme": theme_of(request),
        "page_language": html_language(language),
        "languages": [(code, name, html_language(code)) for code, name in settings.LANGUAGES],
        "current_language": language,
        "htmx_config": HTMX_CONFIG,
        "csrf_headers": json.dumps({"X-CSRF-Token": get_token(request)}),
        "search_page": settings.PREFIX,
        "here": request.get_full_path(),
    }


def viewer_of(request: HttpRequest) -> User | None:
    """The signed-in person; nobody while the database is away, so that error pages still work."""
    try:
        user = getattr(request, "user", None)
        return user if isinstance(user, User) and user.is_authenticated else None
    except DatabaseError:
        return None


def html_language(code: str) -> str:
    """`zh-hans` → `zh-Hans`, as the `lang` attribute spells scripts."""
    return "zh-Hans" if code.startswith("zh") else code
