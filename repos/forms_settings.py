"""The form of a repository's settings."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from repos.forms import PolicyForm
from repos.models import Repository
from repos.models.repository import GIT_TIMEOUTS, IndexHistory, IndexMode
from repos.policy import PathGroupInput
from repos.usecases.update_repository import PreviewUpdate, UpdateRepository
from sourcegraph_site.kernel.errors import AppError


class SettingsForm(PolicyForm):
    """`revision` and `preview` are of the record and of the preview that the person saw."""

    field_order = ("branches", "follows_default")

    follows_default = forms.BooleanField(
        label=_("Also follow the default branch, whatever its name"), required=False
    )
    git_timeout_minutes = forms.TypedChoiceField(
        label=_("Time for one fetch"),
        choices=[(0, _("as the site says")), *((n, f"{n} min") for n in GIT_TIMEOUTS)],
        coerce=int,
    )
    index_history = forms.ChoiceField(
        label=_("Searchable"),
        required=False,
        choices=[
            (IndexHistory.INHERIT, _("as the site says")),
            (IndexHistory.ALL, _("every commit of the window")),
            (IndexHistory.HEADS, _("heads, and commits that somebody asks for")),
        ],
    )
    path_groups = forms.CharField(
        label=_("Path groups"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("One a line: a name, a colon, and directories with commas between."),
    )
    enabled = forms.BooleanField(label=_("Keep it up to date"), required=False)
    revision = forms.IntegerField(widget=forms.HiddenInput)
    preview = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, repo: Repository, **kwargs: Any) -> None:
        kwargs.setdefault("initial", _initial(repo))
        super().__init__(*args, **kwargs)
        self.repo = repo
        if repo.index_mode != IndexMode.MONOREPO:
            del self.fields["path_groups"]

    def clean_path_groups(self) -> list[PathGroupInput]:
        groups = []
        for line in self.cleaned_data["path_groups"].splitlines():
            name, colon, paths = line.partition(":")
            if not line.strip():
                continue
            if not colon:
                raise forms.ValidationError(_("Write a colon between name and directories."))
            directories = [path.strip() for path in paths.split(",") if path.strip()]
            groups.append(PathGroupInput(name=name.strip(), paths=directories))
        return groups

    def _sent(self) -> dict[str, Any]:
        data = self.cleaned_data
        sent = {
            "repo": self.repo.name,
            "policy": self.policy(),
            "enabled": data["enabled"],
            "public_read": data["public_read"],
            "sync_interval_minutes": data["sync_interval_minutes"],
            "git_timeout_minutes": data["git_timeout_minutes"],
            "index_history": data["index_history"],
        }
        if "path_groups" in data:
            sent["path_groups"] = data["path_groups"]
        return sent

    def to_preview(self) -> PreviewUpdate:
        """After validation."""
        return PreviewUpdate(**self._sent())

    def to_update(self) -> UpdateRepository:
        """After validation."""
        return UpdateRepository(**self._sent(), preview=self.cleaned_data["preview"])

    def refuse(self, error: AppError) -> None:
        if error.code.startswith(("INVALID_PATH", "OVERLAPPING_")) and "path_groups" in self.fields:
            self.add_error("path_groups", error.message)
        else:
            super().refuse(error)


def _initial(repo: Repository) -> dict[str, Any]:
    by_days = repo.window_days is not None
    return {
        "branches": ", ".join(repo.branches),
        "follows_default": repo.follows_default,
        "window_kind": "days" if by_days else "count",
        "window": repo.window_days if by_days else repo.window_count,
        "sync_interval_minutes": repo.sync_interval_minutes,
        "git_timeout_minutes": repo.git_timeout_minutes,
        "index_history": repo.index_history,
        "path_groups": "\n".join(
            f"{group['name']}: {', '.join(group['paths'])}" for group in repo.wanted_path_groups
        ),
        "public_read": repo.public_read,
        "enabled": repo.enabled,
        "revision": repo.revision,
    }
