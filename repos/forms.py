"""The forms of registration and settings: what a person writes → the input of the use case."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from repos.models.repository import SYNC_INTERVALS
from repos.policy import MAX_BRANCHES, MAX_COUNT, MAX_DAYS, PolicyInput
from repos.sources.listing import CodeSource
from repos.usecases.register_repository import RegisterRepository
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.web.banners import fact_of

# The field beside which an error of the use case is shown.
FIELD_OF = {
    "INVALID_REPO": "name",
    "REPOSITORY_EXISTS": "name",
    "INVALID_REMOTE": "url",
    "INVALID_CODE_PROVIDER": "source",
    "INVALID_BRANCH": "branches",
    "INVALID_BRANCHES": "branches",
    "INVALID_RETENTION": "window",
    "INVALID_SYNC_INTERVAL": "sync_interval_minutes",
}


class PolicyForm(forms.Form):
    """What is kept of a repository, and who reads it.

    Rules of the product are the use cases'; here only what a field itself can say.
    """

    required_css_class = "needed"

    branches = forms.CharField(
        label=_("Branches"),
        required=False,
        help_text=_("Up to 8, with commas between. Leave it empty to follow the default branch."),
    )
    window_kind = forms.ChoiceField(
        label=_("Commits that stay searchable"),
        choices=[("count", _("The newest commits of each branch")), ("days", _("Days"))],
        initial="count",
    )
    window = forms.IntegerField(
        label=_("How many"),
        min_value=1,
        max_value=MAX_COUNT,
        initial=20,
        help_text=_("1 to 4,096 commits, or 1 to 365 days"),
    )
    sync_interval_minutes = forms.TypedChoiceField(
        label=_("Look for updates every"),
        choices=[(n, f"{n} min" if n < 60 else f"{n // 60} h") for n in SYNC_INTERVALS],
        coerce=int,
        initial=5,
    )
    public_read = forms.BooleanField(label=_("Everyone may read it"), required=False, initial=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if not isinstance(field.widget, forms.CheckboxInput | forms.HiddenInput):
                field.widget.attrs["class"] = "text"
            if name in ("name", "url", "branches", "path_groups"):
                field.widget.attrs |= {"autocapitalize": "none", "spellcheck": "false"}

    def clean_branches(self) -> list[str]:
        text: str = self.cleaned_data["branches"]
        names = [name.strip() for name in text.split(",") if name.strip()]
        if len(names) > MAX_BRANCHES:
            raise forms.ValidationError(_("Name at most 8 branches."))
        return names

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        if found.get("window_kind") == "days" and (found.get("window") or 0) > MAX_DAYS:
            self.add_error("window", _("At most 365 days."))
        return found

    def policy(self) -> PolicyInput:
        """After validation."""
        data = self.cleaned_data
        branches = data["branches"]
        window = {data["window_kind"]: data["window"]}
        follows = bool(data.get("follows_default")) or not branches
        return PolicyInput(branches=branches, default_branch=follows, **window)

    def refuse(self, error: AppError) -> None:
        """Show an error of the use case beside its field; raises it again if it has none."""
        field = FIELD_OF.get(error.code)
        if field is None or field not in self.fields:
            raise error
        known = fact_of(error.code)
        self.add_error(field, str(error.message if known == error.code else known))


class RegisterForm(PolicyForm):
    """A new repository."""

    field_order = ("name", "source", "url")

    name = forms.CharField(
        label=_("Name"),
        max_length=512,
        help_text=_("owner/repository, for example git/git"),
    )
    source = forms.ChoiceField(
        label=_("Code source"),
        help_text=_("The host that has the repository of this name"),
    )
    url = forms.CharField(
        label=_("Clone address"),
        required=False,
        max_length=2048,
        help_text=_("Leave it empty for the repository of this name at the code source."),
    )

    def __init__(
        self, *args: Any, administrator: bool, sources: Sequence[CodeSource], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        choose = cast(forms.ChoiceField, self.fields["source"])
        choose.choices = [(each.id, f"{each.name} ({each.host})") for each in sources if each.host]
        choose.required = not administrator  # who gives a clone address needs none
        if not administrator:
            del self.fields["url"]

    def to_input(self) -> RegisterRepository:
        """After validation."""
        data = self.cleaned_data
        url = data.get("url") or None
        return RegisterRepository(
            name=data["name"],
            url=url,
            code_provider="git" if url else data["source"] or "github",
            public_read=data["public_read"],
            policy=self.policy(),
            sync_interval_minutes=data["sync_interval_minutes"],
        )
