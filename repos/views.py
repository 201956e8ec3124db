"""Pages of repositories: the list, one repository with its tabs, registration."""

import secrets

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from repos import page_data
from repos.errors import RegistrationDisabled, RepositoryExists
from repos.forms import RegisterForm
from repos.repo_page import POLL_IDLE, POLL_WORKING, frame
from repos.usecases.cancel_job import CancelJob, cancel_job
from repos.usecases.manage_code_sources import list_code_sources
from repos.usecases.prepare import Prepare, prepare
from repos.usecases.register_repository import register_repository
from repos.views_settings import settings_tab
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.web.addresses import address, repo_address
from sourcegraph_site.web.banners import banner_of
from sourcegraph_site.web.pages import page, signed_in

TABS = ("", "versions", "jobs")


# --- The list ----------------------------------------------------------------------------


@require_safe
@page
def repositories(request: HttpRequest, actor: Actor) -> HttpResponse:
    """All that the caller sees, by name: rows do not move when their states change."""
    if request.GET.get("new"):
        return redirect("repo_new")
    text = request.GET.get("q", "").strip()
    found = page_data.listed(actor, text, request.GET.get("page"))
    context = {
        "section": "repos",
        "text": text,
        "page_query": urlencode({"q": text}),
        "may_register": page_data.may_register(actor),
        "banners": page_data.token_banners(actor),
        "poll_seconds": POLL_WORKING if found["working"] else POLL_IDLE,
        **found,
    }
    return render(request, "repos/list.html", context)


@require_safe
@page
def by_name(request: HttpRequest, actor: Actor, name: str) -> HttpResponse:
    """The other spelling of a repository's address."""
    return HttpResponseRedirect(repo_address(page_data.name_of(actor, name)))


# --- One repository ----------------------------------------------------------------------


@require_safe
@page
def repository(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Is it current, which commits can be searched, what failed?"""
    shown = page_data.open_repository(actor, request.GET.get("repo", ""))
    tab = request.GET.get("tab", "")
    if tab == "settings" and shown.manageable:
        return settings_tab(request, actor, shown)
    tab = tab if tab in TABS else ""
    fill = {"": page_data.overview, "versions": page_data.versions, "jobs": page_data.jobs}[tab]
    context = {**frame(shown, tab), **fill(shown, request.GET)}
    if context.get("live_jobs"):
        context["poll_seconds"] = POLL_WORKING
    return render(request, f"repos/{tab or 'overview'}.html", context)


# --- Acts --------------------------------------------------------------------------------


@require_POST
@page
def check_for_updates(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Ask for a sync now."""
    return _prepared(request, actor, "sync", "")


@require_POST
@page
def index_commit(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Ask for the index of one commit now; then on to searching it."""
    return _prepared(request, actor, "index", request.GET.get("commit", ""))


def _prepared(request: HttpRequest, actor: Actor, kind: str, commit: str) -> HttpResponse:
    name = request.GET.get("repo", "")
    key = secrets.token_hex(16)  # a form is sent once; its key only has to be new
    params = Prepare(repo=name, kind=kind, commit=commit)
    try:
        prepare(actor, params, idempotency_key=key)
    except AppError as error:
        if error.code != "RATE_LIMITED":
            raise
        there = address("repo", [("repo", name), ("tab", "jobs")])
        banner = banner_of(error)
        context = {"section": "repos", "banner": banner, "back": there, "name": name}
        response = render(request, "repos/too_soon.html", context, status=error.status)
        response["Retry-After"] = str(error.retry_after or 30)
        return response
    return redirect(repo_address(name, "jobs"))


@require_POST
@page
def cancel(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Cancel one job."""
    name = request.GET.get("repo", "")
    cancel_job(actor, CancelJob(repo=name, job_id=request.POST.get("job_id", "")))
    return redirect(repo_address(name, "jobs"))


@require_http_methods(["GET", "HEAD", "POST"])
@page
def register(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The form for a new repository, and what it sends."""
    signed_in(actor)
    if not page_data.may_register(actor):
        raise RegistrationDisabled("Only administrators may register repositories here.")
    sent = request.method == "POST"
    form = RegisterForm(
        request.POST if sent else None,
        administrator=actor.unrestricted,
        sources=list_code_sources(actor),
    )
    owner = None
    if sent and form.is_valid():
        try:
            made = register_repository(actor, form.to_input())
            return redirect(repo_address(made.name))
        except AppError as error:
            form.refuse(error)
            if isinstance(error, RepositoryExists):
                owner = error.details.get("creator")
    context = {"section": "repos", "form": form, "owner": owner}
    status = 400 if form.errors else 200
    return render(request, "repos/register.html", context, status=status)
