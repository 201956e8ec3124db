"""The form for a new key: what a person writes → the input of the use case."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from sourcegraph_site.accounts.usecases.api_keys import (
    MAX_NAME_BYTES,
    MAX_REPOSITORIES,
    CreateApiKey,
)
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.wire import time_text


class ApiKeyForm(forms.Form):
    """Rules of the product are the use case's; here only what a field itself can say."""

    name = forms.CharField(
        label=_("Name"),
        max_length=MAX_NAME_BYTES,
        help_text=_("Where it will be used, for example laptop"),
    )
    days = forms.ChoiceField(
        label=_("Works until"),
        choices=[
            ("30", _("30 days from now")),
            ("90", _("90 days from now")),
            ("365", _("365 days from now")),
            ("", _("You revoke it")),
        ],
        initial="90",
        required=False,
    )
    repositories = forms.CharField(
        label=_("Only these repositories"),
        required=False,
        help_text=_("Up to 100 names, with commas between. Leave it empty for all that you see."),
    )
    no_prepare = forms.BooleanField(label=_("It only reads, and never prepares"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("name", "days", "repositories"):
            self.fields[name].widget.attrs["class"] = "text"
        for name in ("name", "repositories"):
            self.fields[name].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}

    def clean_name(self) -> str:
        text: str = self.cleaned_data["name"]
        if len(text.encode("utf-8", "surrogatepass")) > MAX_NAME_BYTES:
            raise forms.ValidationError(_("The name is too long."))
        return text

    def clean_repositories(self) -> list[str] | None:
        text: str = self.cleaned_data["repositories"]
        names = [name.strip() for name in text.split(",") if name.strip()]
        if len(names) > MAX_REPOSITORIES:
            raise forms.ValidationError(_("Name at most 100 repositories."))
        # A text of commas alone must not become a key for everything.
        if text.strip() and not names:
            raise forms.ValidationError(_("Write names such as owner/repository."))
        return names or None

    def to_input(self) -> CreateApiKey:
        """After validation."""
        data = self.cleaned_data
        days = data["days"]
        until = time_text(clock.now() + timedelta(days=int(days))) if days else None
        return CreateApiKey(
            name=data["name"],
            expires_at=until,
            repositories=data["repositories"],
            no_prepare=data["no_prepare"],
        )

    def refuse(self) -> None:
        """Say in the person's language what the use case found, for what no field can say."""
        self.add_error(None, _("The name or the list of repositories cannot be used."))
