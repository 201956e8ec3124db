"""What the last successful sync found: branch heads and the commits that may be named."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from repos.models.repository import Repository


class BranchHead(models.Model):
    """The commit of a monitored branch at the last successful sync."""

    repository = models.ForeignKey(Repository, models.CASCADE, related_name="heads")
    branch = models.CharField(max_length=1024)
    commit = models.CharField(max_length=40)
    observed_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["repository", "branch"], name="head_once_per_branch")
        ]

    def __str__(self) -> str:
        return f"{self.branch}@{self.commit[:12]}"


class Version(models.Model):
    """A commit that every operation accepts: inside a window, or retained on request.

    Order of versions: newest first by `committer_time`, ties by SHA. `indexed` is true when
    search can answer at this commit; in a monorepo, when every path group can.
    """

    repository = models.ForeignKey(Repository, models.CASCADE, related_name="versions")
    commit = models.CharField(max_length=40)
    committer_time = models.DateTimeField()
    in_window = models.BooleanField(default=True)
    retained_until = models.DateTimeField(null=True, blank=True)
    indexed = models.BooleanField(default=False)
    files = models.PositiveIntegerField(default=0)
    shards = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-committer_time", "commit"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["repository", "commit"], name="version_once"),
            models.CheckConstraint(
                condition=Q(in_window=True) | Q(retained_until__isnull=False),
                name="version_has_a_reason",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["repository", "-committer_time", "commit"], name="version_newest_first"
            )
        ]

    def __str__(self) -> str:
        return self.commit

    @property
    def retained(self) -> bool:
        return self.retained_until is not None


class GroupVersion(models.Model):
    """Readiness of one path group at one commit of a monorepo; a row exists once indexed."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="groups")
    group = models.CharField(max_length=64)
    files = models.PositiveIntegerField(default=0)
    shards = models.PositiveIntegerField(default=0)
    indexed_at = models.DateTimeField()
    duration_seconds = models.FloatField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["version", "group"], name="group_version_once")
        ]

    def __str__(self) -> str:
        return f"{self.group} at {self.version_id}"


class SyncCheck(models.Model):
    """The newest sync attempt; the only trace that an unchanged automatic sync leaves."""

    repository = models.OneToOneField(Repository, models.CASCADE, related_name="sync_check")
    started_at = models.DateTimeField()
    checked_at = models.DateTimeField()
    no_changes = models.BooleanField(default=False)
    unchanged_count = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=64, blank=True, default="")

    def __str__(self) -> str:
        return f"checked {self.checked_at:%Y-%m-%d %H:%M}"
