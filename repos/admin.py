"""Django's admin site: lists for administrators. Every change goes through a use case."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from repos.models import (
    BranchHead,
    CodeToken,
    Repository,
    RepositoryManager,
    SyncCheck,
    Version,
)
from repos.usecases.prepare import Prepare, prepare
from sourcegraph_site.accounts.authentication import actor_of
from sourcegraph_site.kernel.errors import AppError


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Lists and shows; adds, changes and deletes nothing."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Repository)
class RepositoryAdmin(ReadOnly):
    list_display = (
        "name",
        "state",
        "enabled",
        "public_read",
        "default_branch",
        "last_error",
        "observed_at",
        "next_sync_at",
    )
    list_filter = ("state", "enabled", "public_read", "index_mode")
    search_fields = ("name",)
    exclude = ("storage_key",)
    actions = ("sync_now",)

    @admin.action(description="Synchronise now")
    def sync_now(self, request: HttpRequest, chosen: QuerySet[Repository]) -> None:
        for repo in chosen:
            try:
                prepare(actor_of(request), Prepare(repo=repo.name, kind="sync"))
            except AppError as exc:
                self.message_user(request, f"{repo}: {exc.message}", messages.ERROR)


@admin.register(Version)
class VersionAdmin(ReadOnly):
    list_display = ("repository", "commit", "committer_time", "in_window", "indexed")
    list_select_related = ("repository",)
    list_filter = ("indexed", "in_window")
    search_fields = ("commit", "repository__name")


@admin.register(BranchHead)
class BranchHeadAdmin(ReadOnly):
    list_display = ("repository", "branch", "commit", "observed_at")
    list_select_related = ("repository",)
    search_fields = ("branch", "commit", "repository__name")


@admin.register(RepositoryManager)
class RepositoryManagerAdmin(ReadOnly):
    list_display = ("repository", "user", "added_at")
    list_select_related = ("repository", "user")


@admin.register(CodeToken)
class CodeTokenAdmin(ReadOnly):
    """Whose token for what, until when; never the token. They are set on the pages of tokens."""

    list_display = ("source", "owner", "expires_at", "refused_at", "updated_at")
    list_select_related = ("owner",)
    list_filter = ("source",)
    search_fields = ("source", "owner__username")
    exclude = ("sealed", "key_id", "record_id")


@admin.register(SyncCheck)
class SyncCheckAdmin(ReadOnly):
    list_display = ("repository", "checked_at", "no_changes", "unchanged_count", "error")
    list_select_related = ("repository",)
