"""The page behind the terminal's one-time link."""

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from sourcegraph_site.accounts.errors import InvalidLoginState, InvalidUserInput
from sourcegraph_site.accounts.usecases.admin_link import (
    RedeemAdminLink,
    link_is_open,
    redeem_admin_link,
)
from sourcegraph_site.kernel.errors import InvalidRequest
from sourcegraph_site.kernel.inputs import parse

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
