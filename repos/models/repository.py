"""A repository: its name, its remote, its policy and what the last sync found."""

import secrets
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from repos.naming import repo_id_of

SYNC_INTERVALS = (1, 3, 5, 10, 30, 60, 180, 360, 720, 1440)
GIT_TIMEOUTS = (15, 30, 45, 60)


class IndexMode(models.TextChoices):
    FULL = "full"
    MONOREPO = "monorepo"


class IndexHistory(models.TextChoices):
    INHERIT = ""
    ALL = "all"
    HEADS = "heads"


class State(models.TextChoices):
    REGISTERED = "registered"  # no sync has succeeded yet
    READY = "ready"
    EMPTY = "empty"  # the remote has no refs: not an error


def new_storage_key() -> str:
    return secrets.token_hex(16)


class Repository(models.Model):
    """A remote Git repository of which we keep a bare mirror.

    `revision` counts every change of the record that a manager can make (If-Match);
    `policy_revision` counts changes of branches, window and path groups alone: jobs of an
    older policy revision must not publish.
    """

    name = models.CharField(max_length=512, unique=True)
    repo_id = models.CharField(max_length=64, unique=True, editable=False)
    storage_key = models.CharField(max_length=32, unique=True, default=new_storage_key)
    remote_url = models.TextField()
    code_provider = models.CharField(max_length=64, default="git")

    public_read = models.BooleanField(default=True)
    creator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="registered_repositories",
    )
    managers = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        through="RepositoryManager",
        related_name="managed_repositories",
        blank=True,
    )

    index_mode = models.CharField(max_length=10, choices=IndexMode, default=IndexMode.FULL)
    # [{"name": str, "paths": [str, …]}, …], sorted by name; empty in full mode.
    path_groups = models.JSONField(default=list, blank=True)
    # Groups that were set, but come into force with the next successful sync; None: no change.
    pending_path_groups = models.JSONField(null=True, blank=True)
    index_history = models.CharField(
        max_length=10, choices=IndexHistory, default=IndexHistory.INHERIT, blank=True
    )

    branches = models.JSONField(default=list, blank=True)  # short names, as registered
    follows_default = models.BooleanField(default=True)
    window_days = models.PositiveSmallIntegerField(null=True, blank=True)
    window_count = models.PositiveSmallIntegerField(null=True, blank=True)
    sync_interval_minutes = models.PositiveSmallIntegerField(default=5)
    git_timeout_minutes = models.PositiveSmallIntegerField(default=0)  # 0: the site's default

    revision = models.PositiveBigIntegerField(default=1)
    policy_revision = models.PositiveBigIntegerField(default=1)
    enabled = models.BooleanField(default=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    state = models.CharField(max_length=12, choices=State, default=State.REGISTERED)
    default_branch = models.CharField(max_length=1024, blank=True, default="")
    observed_at = models.DateTimeField(null=True, blank=True)
    # The policy that the present heads and versions were computed under.
    observed_policy_revision = models.PositiveBigIntegerField(default=0)
    history_truncated = models.BooleanField(default=False)
    last_error = models.CharField(max_length=64, blank=True, default="")
    consecutive_failures = models.PositiveIntegerField(default=0)
    last_sync_started_at = models.DateTimeField(null=True, blank=True)
    next_sync_at = models.DateTimeField(null=True, blank=True, db_index=True)
    last_manual_request_at = models.DateTimeField(null=True, blank=True)

    last_indexed_at = models.DateTimeField(null=True, blank=True)
    last_index_duration_seconds = models.FloatField(null=True, blank=True)
    disk_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    disk_sampled_at = models.DateTimeField(null=True, blank=True)

    # When the mirror was last packed as a whole and unneeded objects were dropped.
    maintained_at = models.DateTimeField(null=True, blank=True)

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "repositories"
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.CheckConstraint(
                # The isnull=False halves are not redundant: a CHECK that evaluates to NULL
                # passes, so without them a row with neither window is accepted.
                condition=(
                    Q(
                        window_days__isnull=False,
                        window_days__range=(1, 365),
                        window_count__isnull=True,
                    )
                    | Q(
                        window_count__isnull=False,
                        window_count__range=(1, 4096),
                        window_days__isnull=True,
                    )
                ),
                name="repository_exactly_one_window",
            ),
            models.CheckConstraint(
                condition=Q(deleted_at__isnull=True) | Q(enabled=False),
                name="repository_deleted_is_disabled",
            ),
            models.CheckConstraint(
                condition=Q(sync_interval_minutes__in=SYNC_INTERVALS),
                name="repository_known_sync_interval",
            ),
            models.CheckConstraint(
                condition=Q(git_timeout_minutes__in=(0, *GIT_TIMEOUTS)),
                name="repository_known_git_timeout",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.repo_id = repo_id_of(self.name)
        super().save(*args, **kwargs)

    @property
    def deleted(self) -> bool:
        return self.deleted_at is not None

    @property
    def monorepo(self) -> bool:
        return self.index_mode == IndexMode.MONOREPO

    @property
    def group_names(self) -> list[str]:
        """Names of the path groups; one empty name in full mode."""
        return [group["name"] for group in self.path_groups] if self.monorepo else [""]

    def group_paths(self, group: str) -> list[bytes]:
        """The directories of one path group; none in full mode, which means everything."""
        rows = [row["paths"] for row in self.path_groups if row["name"] == group]
        return [path.encode() for path in rows[0]] if self.monorepo and rows else []

    @property
    def wanted_path_groups(self) -> list[dict[str, Any]]:
        """The groups as they were set; `path_groups` are those in force."""
        pending: list[dict[str, Any]] | None = self.pending_path_groups
        return self.path_groups if pending is None else pending

    @property
    def policy_in_force(self) -> bool:
        """Were heads and versions computed under the present policy?"""
        return self.observed_policy_revision == self.policy_revision

    @property
    def monitored_branches(self) -> list[str]:
        """Short names: those of the policy, and the discovered default branch if followed."""
        names = list(self.branches)
        if self.follows_default and self.default_branch and self.default_branch not in names:
            names.append(self.default_branch)
        return names


class RepositoryManager(models.Model):
    """A person who may change one repository."""

    repository = models.ForeignKey(Repository, models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["repository", "user"], name="repository_manager_once")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} manages {self.repository_id}"
