"""The page of an import from a code host: look an account up, choose, register."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from repos import page_data
from repos.errors import RegistrationDisabled
from repos.forms_import import AccountForm, ImportForm
from repos.usecases.import_repositories import import_repositories, list_account
from repos.usecases.manage_code_sources import list_code_sources
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.web.addresses import repo_address
from sourcegraph_site.web.banners import banner_of, fact_of
from sourcegraph_site.web.pages import page, signed_in


@require_http_methods(["GET", "HEAD", "POST"])
@page
def import_page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """GET with an account in the address lists it; POST registers the chosen names."""
    signed_in(actor)
    if not page_data.may_register(actor):
        raise RegistrationDisabled("Only administrators may register repositories here.")
    form = AccountForm(
        request.GET if "account" in request.GET else None, sources=list_code_sources(actor)
    )
    context: dict[str, Any] = {"section": "repos", "form": form, "register": ImportForm()}
    status = 200
    try:
        if request.method == "POST":
            context |= _registered(request, actor)
        elif form.is_bound and form.is_valid():
            found = list_account(actor, form.to_input(request.GET.get("after", "")))
            context |= {"found": found, "next": _next_page(request, found.next_cursor)}
    except AppError as error:
        context["banner"] = banner_of(error)
        status = error.status
    if form.is_bound and form.errors:
        status = 400
    return render(request, "repos/import.html", context, status=status)


def _next_page(request: HttpRequest, cursor: str | None) -> str:
    if cursor is None:
        return ""
    kept = request.GET.copy()
    kept["after"] = cursor
    return f"?{kept.urlencode()}"


def _registered(request: HttpRequest, actor: Actor) -> dict[str, Any]:
    """What became of the chosen names; the form again if it was not good."""
    form = ImportForm(request.POST)
    names = request.POST.getlist("name")
    if not form.is_valid() or not names:
        return {"register": form, "nothing": not names}
    report = import_repositories(actor, form.to_input(request.POST.get("source", ""), names))
    rows = [
        {
            "name": row.name,
            "href": repo_address(row.name) if row.outcome == "registered" else "",
            "reason": fact_of(row.code) if row.code else "",
            "good": row.outcome == "registered",
        }
        for row in report.items
    ]
    return {"done": rows}
