"""The Settings tab of a repository's page, for its managers: policy, people, webhooks, removal.

Each form posts to one address with `act`. What is refused is shown on the same page, with all
that the person has typed.
"""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from repos import page_data
from repos.errors import (
    CleanupNotReady,
    LatestIndexNotReady,
    ManagerLimitReached,
    PreparationActive,
    RepositoryBusy,
    RepositoryDeleted,
    WebhookLimitReached,
    WebhookNotFound,
)
from repos.forms_settings import SettingsForm
from repos.page_data import Shown
from repos.records import record_of
from repos.repo_page import frame
from repos.usecases.manage_managers import MAX_MANAGERS, ManageManagers, manage_managers
from repos.usecases.manage_webhooks import (
    RevokeWebhook,
    WebhooksOf,
    create_webhook,
    list_webhooks,
    revoke_webhook,
)
from repos.usecases.remove_repository import (
    Operation,
    Removal,
    RemovalPreview,
    RemovalTarget,
    apply_removal,
    preview_removal,
    purge_repository,
)
from repos.usecases.update_repository import preview_update, update_repository
from sourcegraph_site.accounts.errors import UserNotFound
from sourcegraph_site.accounts.usecases.search_users import FoundPerson, SearchUsers, search_users
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import AppError, InvalidRequest, RevisionConflict
from sourcegraph_site.web.addresses import repo_address
from sourcegraph_site.web.banners import Banner, banner_of
from sourcegraph_site.web.pages import page

# What a person can mend on this page; rights and lost repositories have pages of their own.
MENDABLE = (
    RevisionConflict,
    CleanupNotReady,
    LatestIndexNotReady,
    ManagerLimitReached,
    PreparationActive,
    RepositoryBusy,
    RepositoryDeleted,
    UserNotFound,
    WebhookLimitReached,
    WebhookNotFound,
)


def settings_tab(
    request: HttpRequest,
    actor: Actor,
    shown: Shown,
    *,
    form: SettingsForm | None = None,
    error: AppError | None = None,
    **more: Any,
) -> HttpResponse:
    """The tab; `error` is why the last act was refused."""
    repo = shown.repo
    text = request.GET.get("find", "").strip()
    record = record_of(actor, repo, with_versions=False)
    managers = record.managers or []
    context = {
        **frame(shown, "settings"),
        "poll_seconds": 0,  # a new page would take away what is being typed
        "form": form or SettingsForm(repo=repo),
        "managers": managers,
        "full": len(managers) >= MAX_MANAGERS,
        "find": text,
        "found": _found(actor, text, {person.id for person in managers}),
        "webhooks": list_webhooks(actor, WebhooksOf(repo=repo.name)).items,
        "cleanup": _removal(actor, repo.name, "cleanup"),
        "deletion": None if repo.deleted else _removal(actor, repo.name, "delete"),
        **more,
    }
    if error is not None:
        context["banners"] = [*shown.banners, banner_of(error)]
    wrong = error is not None or bool(form and form.errors)
    status = error.status if error else 400 if wrong else 200
    return render(request, "repos/settings.html", context, status=status)


def _found(actor: Actor, text: str, known: set[str]) -> list[FoundPerson]:
    if not 2 <= len(text) <= 100:
        return []
    people = search_users(actor, SearchUsers(q=text)).items
    return [person for person in people if person.id not in known]


def _removal(actor: Actor, name: str, operation: Operation) -> RemovalPreview | Banner:
    try:
        return preview_removal(actor, RemovalTarget(repo=name), operation)
    except LatestIndexNotReady as error:
        return banner_of(error, alert=False)


@require_POST
@page
def settings_act(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Do what one of the forms asks, then show the tab again."""
    shown = page_data.open_managed(actor, request.GET.get("repo", ""))
    name = shown.repo.name
    act = ACTS.get(request.POST.get("act", ""))
    if act is None:
        raise InvalidRequest("This form is not known.")
    try:
        answer = act(request, actor, shown)
    except MENDABLE as error:
        return settings_tab(request, actor, page_data.open_repository(actor, name), error=error)
    return answer or redirect(repo_address(name, "settings"))


def _revision(request: HttpRequest) -> int | None:
    text = request.POST.get("revision", "")
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _policy(request: HttpRequest, actor: Actor, shown: Shown) -> HttpResponse | None:
    """First what the settings would keep; the same form, sent again, saves them."""
    form = SettingsForm(request.POST, repo=shown.repo)
    if not form.is_valid():
        return settings_tab(request, actor, shown, form=form)
    conflict = None
    try:
        revision = form.cleaned_data["revision"]
        if form.cleaned_data["preview"]:
            update_repository(actor, form.to_update(), revision=revision)
            return None
    except RevisionConflict as error:
        if shown.repo.revision != revision:  # else the form changed after its preview
            conflict = error
    except RepositoryDeleted:
        raise
    except AppError as error:
        form.refuse(error)
        return settings_tab(request, actor, shown, form=form)
    return _previewed(request, actor, shown, form, conflict)


def _previewed(
    request: HttpRequest, actor: Actor, shown: Shown, form: SettingsForm, conflict: AppError | None
) -> HttpResponse:
    try:
        preview = preview_update(actor, form.to_preview())
    except RepositoryDeleted:
        raise
    except AppError as error:
        form.refuse(error)
        return settings_tab(request, actor, shown, form=form)
    sent = request.POST.copy()
    sent["preview"], sent["revision"] = preview.preview, str(preview.revision)
    checked = SettingsForm(sent, repo=shown.repo)
    checked.is_valid()
    return settings_tab(request, actor, shown, form=checked, error=conflict, preview=preview)


def _manager(request: HttpRequest, actor: Actor, shown: Shown) -> HttpResponse | None:
    given = {key: request.POST[key] for key in ("add", "remove") if request.POST.get(key)}
    params = ManageManagers(repo=shown.repo.name, **given)
    manage_managers(actor, params, revision=_revision(request))
    return None


def _webhook(request: HttpRequest, actor: Actor, shown: Shown) -> HttpResponse | None:
    name = shown.repo.name
    if request.POST.get("revoke"):
        revoke_webhook(actor, RevokeWebhook(repo=name, id=request.POST["revoke"]))
        return None
    made = create_webhook(actor, WebhooksOf(repo=name))
    answer = settings_tab(request, actor, shown, made=made)
    answer["Cache-Control"] = "no-store"  # the secret is shown this once
    return answer


def _cleanup(request: HttpRequest, actor: Actor, shown: Shown) -> None:
    params = Removal(repo=shown.repo.name, preview=request.POST.get("preview", ""))
    apply_removal(actor, params, "cleanup", revision=_revision(request))


def _delete(request: HttpRequest, actor: Actor, shown: Shown) -> HttpResponse | None:
    name = shown.repo.name
    if request.POST.get("name", "").strip() != name:
        return settings_tab(request, actor, shown, mistyped=True)
    params = Removal(repo=name, preview=request.POST.get("preview", ""))
    apply_removal(actor, params, "delete", revision=_revision(request))
    return None


def _purge(request: HttpRequest, actor: Actor, shown: Shown) -> HttpResponse:
    name = shown.repo.name
    if request.POST.get("name", "").strip() != name:
        return settings_tab(request, actor, shown, mistyped=True)
    purge_repository(actor, RemovalTarget(repo=name), revision=_revision(request))
    return redirect("repos")


ACTS: dict[str, Callable[[HttpRequest, Actor, Shown], HttpResponse | None]] = {
    "policy": _policy,
    "manager": _manager,
    "webhook": _webhook,
    "cleanup": _cleanup,
    "delete": _delete,
    "purge": _purge,
}
