"""What every page does before and after its own work, and the small pages of the site itself."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from sourcegraph_site.accounts.authentication import actor_of, client_address
from sourcegraph_site.accounts.policy import public_read
from sourcegraph_site.accounts.usecases.api_keys import CreateApiKey, create_api_key
from sourcegraph_site.api import limits
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.errors import AccessDenied, AppError, AuthenticationRequired
from sourcegraph_site.mcp.snippets import clients, mcp_url
from sourcegraph_site.web.banners import banner_of
from sourcegraph_site.web.errors import error_response

View = Callable[..., HttpResponse]


def page(view: Callable[..., HttpResponse]) -> View:
    """Make a page of `view(request, actor, …)`: who asks, how often, and what may go wrong.

    On a site that is closed to anonymous readers they are led to the sign-in page. Errors
    become the error page, or for htmx a banner above what is there.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            actor = actor_of(request)
            if actor.kind in (ActorKind.KEY, ActorKind.OAUTH):
                raise AccessDenied("A personal key cannot be used on pages.")
            if not actor.signed_in:
                if not public_read():
                    return to_sign_in(request)
                limits.anonymous(client_address(request))
            return view(request, actor, *args, **kwargs)
        except AuthenticationRequired:
            return to_sign_in(request)
        except AppError as error:
            if is_htmx(request):
                return htmx_error(request, error)
            return error_response(request, error)

    return answer


def is_htmx(request: HttpRequest) -> bool:
    """Did our own script ask for a part of a page?"""
    return request.headers.get("HX-Request") == "true"


def htmx_error(request: HttpRequest, error: AppError) -> HttpResponse:
    response = render(
        request, "parts/banner.html", {"banner": banner_of(error)}, status=error.status
    )
    response["HX-Retarget"] = "#alerts"
    response["HX-Reswap"] = "innerHTML"
    return response


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Lead to the sign-in page and back; htmx follows with the whole page."""
    address = reverse("login") + "?" + urlencode({"next": request.get_full_path()})
    if is_htmx(request):
        return HttpResponse(status=200, headers={"HX-Redirect": address})
    return redirect(address)


def signed_in(actor: Actor) -> Actor:
    """Raises AuthenticationRequired for anonymous callers; `page` turns it into the sign-in."""
    if not actor.signed_in:
        raise AuthenticationRequired("Sign in first.")
    return actor


KEY_MAP = (
    (("/",), _("Put the cursor into the search box")),
    (("Enter",), _("Search now; on a file, open its first match")),
    (("Esc",), _("Close a menu, leave the field, clear the selection")),
    (("j", "k"), _("Next and previous file")),
    (("n", "N"), _("Next and previous match")),
    (("x",), _("Show all lines of the file")),
    (("o",), _("Open the file")),
    (("Alt+C",), _("Match case")),
    (("Alt+R",), _("Regular expression")),
    (("y",), _("Copy the link to this commit")),
    (("c",), _("Copy the citation of the selected lines")),
    (("l",), _("Go to a line")),
    (("w",), _("Wrap long lines")),
    (("g r", "g s", "g c"), _("Go to the repositories, to the search, to Connect")),
    (("Shift+Enter",), _("On a line number: extend the selection; a click with Shift does too")),
    (("?",), _("This list")),
)


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    """All keys; the script also shows this page's list as a dialog."""
    return render(request, "keys.html", {"key_map": KEY_MAP})


SYNTAX = (
    ("def \\w+_commit", _("Regular expression (RE2), one line at a time")),
    ("\\bName\\b", _("A whole word; letters of every script count")),
    ("(?i)todo", _("Any case for this part; the toggle does it for all")),
    ("^import", _("At the start of a line; $ is the end, CRLF files included")),
    ("foo|bar", _("One or the other")),
    ("a.*b", _("Both on one line, in this order; a match never crosses a line")),
)
GLOBS = (
    ("*.py", _("Files of this name in any directory")),
    ("src/**/*.ts", _("Below a directory, at any depth")),
    ("!vendor", _("Leaves out a directory and all below it; the last glob that matches wins")),
    ("*.{c,h}", _("Alternatives")),
)
WALK = (
    ("search", _("Find lines; the answer names the commit to go on with")),
    ("read, read_many", _("Read lines round a hit at that commit")),
    ("find, list", _("Find files by name, look into directories")),
    ("diff, log, blame", _("What changed, since when, and by whom")),
    ("resolve, refs", _("Turn a branch or tag into a commit")),
    ("repositories, availability", _("What is here, and what is ready")),
)


@require_http_methods(["GET", "HEAD", "POST"])
def connect(request: HttpRequest) -> HttpResponse:
    """What to paste into which client; the address's hash chooses the client."""
    return _connect_with_key(request) if request.method == "POST" else _connect(request, "")


@page
def _connect_with_key(request: HttpRequest, actor: Actor) -> HttpResponse:
    """A key made now, named `connect`, stands in the answer to this POST alone."""
    made = create_api_key(signed_in(actor), CreateApiKey(name="connect"))
    return _connect(request, made.key or "")


def _connect(request: HttpRequest, key: str) -> HttpResponse:
    context = {
        "section": "connect",
        "clients": clients(key),
        "mcp_url": mcp_url(),
        "made": bool(key),
        "walk": WALK,
        "syntax": SYNTAX,
        "globs": GLOBS,
    }
    response = render(request, "connect.html", context)
    response["Cache-Control"] = "no-store"
    return response
