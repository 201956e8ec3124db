"""Short-lived records of requests: receipts of idempotent calls, commits that were resolved."""

from typing import ClassVar

from django.db import models

from repos.models.repository import Repository


class Receipt(models.Model):
    """The first answer to an Idempotency-Key, kept 24 hours.

    `digest` is SHA-256 of the request's content: the same key with other content is a
    conflict. `answer` is JSON, enough to answer again.
    """

    actor = models.CharField(max_length=200)
    operation = models.CharField(max_length=40)
    key = models.CharField(max_length=128)
    digest = models.CharField(max_length=64)
    repository = models.ForeignKey(Repository, models.CASCADE, related_name="receipts")
    answer = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["actor", "operation", "key"], name="receipt_once")
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"


class ResolvedRef(models.Model):
    """A commit outside the window that `resolve` returned; `prepare` takes it for 24 hours."""

    repository = models.ForeignKey(Repository, models.CASCADE, related_name="resolved_refs")
    commit = models.CharField(max_length=40)
    ref = models.CharField(max_length=1100)  # full name
    resolved_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["repository", "commit"], name="resolved_ref_once")
        ]

    def __str__(self) -> str:
        return f"{self.ref} {self.commit[:12]}"
