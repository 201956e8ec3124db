"""Pages of code sources and tokens: one's own tokens, and the site's sources with theirs."""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from repos.forms_sources import CodeSourceForm, CodeTokenForm, source_form
from repos.sources.listing import CodeSource, CodeSourceInput, as_input
from repos.sources.tokens import TokenState
from repos.usecases.manage_code_sources import (
    SetCodeSources,
    get_code_sources,
    list_code_sources,
    set_code_sources,
)
from repos.usecases.manage_code_tokens import (
    SetCodeToken,
    own_code_tokens,
    set_own_code_token,
    set_site_code_token,
    site_code_tokens,
)
from sourcegraph_site.accounts.errors import (
    InvalidCredential,
    InvalidSettings,
    SettingsRevisionConflict,
)
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import AppError, NotFound
from sourcegraph_site.web.banners import Banner, banner_of
from sourcegraph_site.web.pages import page, signed_in

STATES: dict[str, tuple[str, str | Promise]] = {
    "empty": ("off", _("No token")),
    "ready": ("good", _("Saved")),
    "expiring": ("warn", _("Ends soon")),
    "expired": ("bad", _("Expired")),
    "invalid": ("bad", _("Not taken any more")),
}


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A source, the state of its token, and the form that changes it."""

    source: CodeSource
    state: TokenState
    form: CodeTokenForm
    banner: Banner | None = None

    @property
    def badge(self) -> tuple[str, str | Promise]:
        return STATES[self.state.state]


def _token_row(source: CodeSource, state: TokenState, banner: Banner | None = None) -> TokenRow:
    initial = {
        "source": source.id,
        "revision": state.revision,
        "until": state.expires_at.date() if state.expires_at else None,
    }
    form = CodeTokenForm(initial=initial, auto_id=f"{source.id}_%s")
    return TokenRow(source, state, form, banner)


def _put(
    request: HttpRequest, actor: Actor, put: Callable[[Actor, SetCodeToken], TokenState]
) -> AppError | None:
    """Do what a token form asks; what is wrong with it, if anything."""
    form = CodeTokenForm(request.POST)
    if not form.is_valid():
        return InvalidCredential("The token or its date is not acceptable.")
    try:
        put(actor, form.to_input(clear="clear" in request.POST))
    except (InvalidCredential, SettingsRevisionConflict) as error:
        return error
    return None


@sensitive_post_parameters("token")
@require_http_methods(["GET", "HEAD", "POST"])
@page
def own_tokens(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The person's tokens, one for each code source. A refused token is not shown again."""
    signed_in(actor)
    states = own_code_tokens(actor)  # refuses other callers before anything is written
    wrong = _put(request, actor, set_own_code_token) if request.method == "POST" else None
    if request.method == "POST" and wrong is None:
        return redirect("code_tokens")
    asked = request.POST.get("source", "")
    rows = [
        _token_row(each, states[each.id], banner_of(wrong) if wrong and each.id == asked else None)
        for each in list_code_sources(actor)
        if each.id in states
    ]
    context = {"rows": rows}
    return render(request, "repos/code_tokens.html", context, status=wrong.status if wrong else 200)


@require_safe
@page
def code_sources(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The site's code sources, in display order, with the states of the site's tokens."""
    signed_in(actor)
    found = get_code_sources(actor)
    states = site_code_tokens(actor)
    rows = [
        {
            "source": each,
            "badge": STATES[states[each.id].state] if each.id in states else None,
            "state": states.get(each.id),
            "movable": each.editable and number > 0 and found.sources[number - 1].editable,
        }
        for number, each in enumerate(found.sources)
    ]
    context = {"rows": rows, "revision": found.revision}
    return render(request, "repos/code_sources.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def code_source(request: HttpRequest, actor: Actor) -> HttpResponse:
    """One source (`?id=`), or the form for a new one, and the site's token for it."""
    signed_in(actor)
    found = get_code_sources(actor)
    wanted = request.GET.get("id", "")
    source = next((each for each in found.sources if each.id == wanted), None)
    if wanted and (source is None or not source.takes_token):
        raise NotFound("There is no such code source.")
    form: CodeSourceForm | None
    if request.method == "POST":
        form = CodeSourceForm(request.POST, known=source is not None)
        if form.is_valid() and _saved(actor, form, wanted):
            return redirect("code_sources")
    else:
        form = _form_of(source, found.revision)
    return _source_page(request, actor, source, form)


def _form_of(source: CodeSource | None, revision: int) -> CodeSourceForm | None:
    """None for a source that only the operator changes."""
    if source is None:
        return CodeSourceForm(initial={"revision": revision})
    return source_form(source, revision) if source.editable else None


def _saved(actor: Actor, form: CodeSourceForm, replaced: str) -> bool:
    """Save one source into the list; what is wrong is then in the form."""
    made = form.to_input()
    rows = [as_input(each) for each in get_code_sources(actor).sources]
    if replaced:
        rows = [made if each.id == replaced else each for each in rows]
    else:
        rows.insert(len(rows) - 1, made)  # before the built-in one, which comes last
    revision = form.cleaned_data["revision"]
    try:
        set_code_sources(actor, SetCodeSources(revision=revision, sources=rows))
    except (InvalidSettings, SettingsRevisionConflict) as error:
        form.refuse(error)
        return False
    return True


def _source_page(
    request: HttpRequest,
    actor: Actor,
    source: CodeSource | None,
    form: CodeSourceForm | None,
    wrong: AppError | None = None,
) -> HttpResponse:
    row = None
    if source is not None:
        row = _token_row(
            source, site_code_tokens(actor)[source.id], banner_of(wrong) if wrong else None
        )
    context = {"source": source, "form": form, "row": row}
    bad = wrong is not None or (form is not None and form.errors)
    return render(request, "repos/code_source.html", context, status=400 if bad else 200)


@sensitive_post_parameters("token")
@require_POST
@page
def site_token(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Save or clear the site's token for one source."""
    signed_in(actor)
    found = get_code_sources(actor)
    wrong = _put(request, actor, set_site_code_token)
    if wrong is None:
        return redirect("code_sources")
    source = next((s for s in found.sources if s.id == request.POST.get("source")), None)
    if source is None or not source.takes_token:
        raise wrong
    return _source_page(request, actor, source, _form_of(source, found.revision), wrong)


@require_POST
@page
def arrange_code_sources(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Move one source up, or remove it."""
    signed_in(actor)
    rows = [as_input(each) for each in get_code_sources(actor).sources]
    place = next((n for n, each in enumerate(rows) if each.id == request.POST.get("id")), None)
    if place is None:
        raise NotFound("There is no such code source.")
    _arrange(rows, place, remove="remove" in request.POST)
    text = request.POST.get("revision", "")
    revision = int(text) if text.isdigit() and len(text) < 10 else -1
    set_code_sources(actor, SetCodeSources(revision=revision, sources=rows))
    return redirect("code_sources")


def _arrange(rows: list[CodeSourceInput], place: int, *, remove: bool) -> None:
    if remove:
        del rows[place]
    elif place > 0:
        rows[place - 1 : place + 1] = [rows[place], rows[place - 1]]
