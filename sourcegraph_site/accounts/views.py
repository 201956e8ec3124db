"""Pages of accounts: the terminal's one-time link, and what a person sets for herself."""

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from sourcegraph_site.accounts.errors import (
    InvalidApiKeyInput,
    InvalidLoginState,
    InvalidUserInput,
)
from sourcegraph_site.accounts.forms import ApiKeyForm
from sourcegraph_site.accounts.usecases.admin_link import (
    RedeemAdminLink,
    link_is_open,
    redeem_admin_link,
)
from sourcegraph_site.accounts.usecases.api_keys import (
    ListApiKeys,
    RevokeApiKey,
    create_api_key,
    list_api_keys,
    revoke_api_key,
)
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import InvalidRequest
from sourcegraph_site.kernel.inputs import parse
from sourcegraph_site.web.pages import page, signed_in

TEMPLATE = "account/first_administrator.html"


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def first_administrator(request: HttpRequest) -> HttpResponse:
    secret = request.POST.get("link") or request.GET.get("link") or ""
    if request.method == "GET":
        usable = link_is_open(secret)
        return render(
            request, TEMPLATE, {"link": secret, "usable": usable}, status=200 if usable else 403
        )
    form = {key: request.POST.get(key, "") for key in ("username", "email")}
    try:
        params = parse(
            RedeemAdminLink,
            {"secret": secret, "password": request.POST.get("password", ""), **form},
        )
        user = redeem_admin_link(params)
    except InvalidLoginState:
        return render(request, TEMPLATE, {"usable": False}, status=403)
    except (InvalidUserInput, InvalidRequest) as exc:
        context = {"link": secret, "usable": True, "error": exc, "form": form}
        return render(request, TEMPLATE, context, status=400)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("/sourcegraph/")


@require_http_methods(["GET", "HEAD", "POST"])
@page
def user_settings(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The person's keys, and the form for a new one.

    A new key is in the answer to its own POST, and nowhere else: kept for a page after a
    redirect it would lie in the session, in clear.
    """
    signed_in(actor)
    made, sent = None, request.method == "POST"
    form = ApiKeyForm(request.POST if sent else None)
    if sent and form.is_valid():
        try:
            made = create_api_key(actor, form.to_input())
            form = ApiKeyForm()
        except InvalidApiKeyInput:
            form.refuse()
    keys = list_api_keys(actor, ListApiKeys(after=request.GET.get("after", "")))
    context = {"form": form, "made": made, "keys": keys, "now": clock.now()}
    status = 400 if form.errors else 200
    return render(request, "account/user_settings.html", context, status=status)


@require_POST
@page
def revoke_key(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Revoke one of the person's keys; one that is gone already is no trouble."""
    revoke_api_key(actor, RevokeApiKey(id=request.POST.get("id", "")))
    return redirect("user_settings")


@require_safe
def former_user_settings(request: HttpRequest) -> HttpResponse:
    """The page's older address (contract 8)."""
    return HttpResponseRedirect(reverse("user_settings"), status=308)
