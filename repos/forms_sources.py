"""Forms of code sources and tokens: what a person writes → the inputs of the use cases."""

from datetime import UTC, datetime, time
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from repos.sources.listing import KINDS, CodeSource, CodeSourceInput
from repos.usecases.manage_code_tokens import MAX_TOKEN_CHARS, SetCodeToken
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.kernel.wire import time_text
from sourcegraph_site.web.banners import fact_of

WRONG = {
    "id": _("1 to 32 small letters, digits and “-”, and no other source's."),
    "name": _("1 to 64 characters."),
    "host": _("This host cannot be used. Private addresses need the operator's permission."),
    "api": _("This address cannot be used. Private addresses need the operator's permission."),
    "username": _("This user name cannot be used."),
}
KIND_NAMES = {
    "github": "GitHub",
    "gitlab": "GitLab",
    "gitea": "Gitea, Forgejo",
    "bitbucket": "Bitbucket Cloud",
    "git": _("Another Git server"),
}


class TextForm(forms.Form):
    """Text fields look like ours."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if not isinstance(field.widget, forms.CheckboxInput | forms.HiddenInput):
                field.widget.attrs["class"] = "text"
                field.widget.attrs |= {"autocapitalize": "none", "spellcheck": "false"}


class CodeSourceForm(TextForm):
    """One editable code source."""

    revision = forms.IntegerField(widget=forms.HiddenInput)
    id = forms.CharField(label=_("Id"), max_length=32, help_text=_("for example corp"))
    name = forms.CharField(label=_("Name"), max_length=64)
    host = forms.CharField(
        label=_("Host"), max_length=300, help_text=_("for example git.example.org or …:8443")
    )
    kind = forms.ChoiceField(label=_("Kind"), choices=[(k, KIND_NAMES[k]) for k in KINDS])
    username = forms.CharField(
        label=_("User name beside a token"),
        max_length=100,
        required=False,
        help_text=_("Leave it empty for what its kind takes."),
    )
    api = forms.CharField(
        label=_("Address of its API"),
        max_length=500,
        required=False,
        help_text=_("Only where it is not the usual one of its kind."),
    )
    anonymous = forms.BooleanField(
        label=_("Repositories may be read without a token"), required=False, initial=True
    )

    def __init__(self, *args: Any, known: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if known:  # repositories and tokens hold on to the id
            self.fields["id"].widget = forms.HiddenInput()

    def to_input(self) -> CodeSourceInput:
        """After validation."""
        names = ("id", "name", "host", "kind", "username", "api", "anonymous")
        return CodeSourceInput(**{name: self.cleaned_data[name] for name in names})

    def refuse(self, error: AppError) -> None:
        """Show an error of the use case beside its field."""
        field = str(error.details.get("field", ""))
        if field in WRONG:
            self.add_error(field, WRONG[field])
        else:
            self.add_error(None, str(fact_of(error.code)))


class CodeTokenForm(TextForm):
    """A token for one source; the token itself is never filled in."""

    source = forms.CharField(widget=forms.HiddenInput)
    revision = forms.IntegerField(widget=forms.HiddenInput)
    token = forms.CharField(
        label=_("Token"),
        required=False,
        max_length=MAX_TOKEN_CHARS,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_("It is encrypted and never shown again. Leave it empty to keep the saved one."),
    )
    until = forms.DateField(
        label=_("Works until"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_("When the code host ends it; empty if it does not."),
    )

    def to_input(self, *, clear: bool) -> SetCodeToken:
        """After validation. The last day counts."""
        data = self.cleaned_data
        if clear:
            return SetCodeToken(source=data["source"], revision=data["revision"], clear=True)
        until = data["until"]
        end = datetime.combine(until, time(23, 59, 59), UTC) if until else None
        return SetCodeToken(
            source=data["source"],
            revision=data["revision"],
            token=data["token"] or None,
            expires_at=time_text(end) if end else None,
        )


def source_form(source: CodeSource, revision: int) -> CodeSourceForm:
    """The form of a source as it is."""
    names = ("id", "name", "host", "kind", "username", "api", "anonymous")
    values = {name: getattr(source, name) for name in names}
    return CodeSourceForm(initial={**values, "revision": revision}, known=True)
