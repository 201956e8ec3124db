"""The forms of an import: where to look, and what to register."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from repos.forms_sources import TextForm
from repos.policy import MAX_COUNT, PolicyInput
from repos.sources.accounts import APIS
from repos.sources.listing import CodeSource
from repos.usecases.import_repositories import ImportRepositories, ListAccount


class AccountForm(TextForm):
    """Which account to list."""

    source = forms.ChoiceField(label=_("Code source"))
    account = forms.CharField(
        label=_("Account"),
        max_length=255,
        help_text=_("User, organisation, group or workspace, for example acme"),
    )
    query = forms.CharField(label=_("Part of the name"), max_length=200, required=False)
    forks = forms.BooleanField(label=_("Forks too"), required=False)
    archived = forms.BooleanField(label=_("Archived ones too"), required=False)

    def __init__(self, *args: Any, sources: Sequence[CodeSource], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choose = cast(forms.ChoiceField, self.fields["source"])
        choose.choices = [(s.id, f"{s.name} ({s.host})") for s in sources if s.kind in APIS]

    def to_input(self, after: str) -> ListAccount:
        """After validation."""
        return ListAccount(**self.cleaned_data, after=after)


class ImportForm(TextForm):
    """How the chosen ones are registered."""

    count = forms.IntegerField(
        label=_("Commits that stay searchable"),
        min_value=1,
        max_value=MAX_COUNT,
        initial=20,
        help_text=_("The newest of the default branch, 1 to 4,096"),
    )
    public_read = forms.BooleanField(label=_("Everyone may read them"), required=False)

    def to_input(self, source: str, names: list[str]) -> ImportRepositories:
        """After validation."""
        policy = PolicyInput(default_branch=True, count=self.cleaned_data["count"])
        return ImportRepositories(
            source=source,
            names=names,
            public_read=self.cleaned_data["public_read"],
            policy=policy,
        )
