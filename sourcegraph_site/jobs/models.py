"""The job table. Its constraints are the rules; `queue.py` is the only writer."""

import secrets
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q


def new_job_id() -> str:
    return secrets.token_hex(16)


class Job(models.Model):
    """One piece of background work.

    `identity` says what the work is: at most one queued job has it. `exclusive` says what it
    must not run beside: at most one running job has it ("" = runs beside anything).

    `fence` grows with every claim and is the fencing token: a worker whose fence is no
    longer the row's may write nothing. `attempt` counts the claims that were not ended by a
    clean shutdown; it is what people see.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"

    class Source(models.TextChoices):
        MANUAL = "manual"
        AUTOMATIC = "automatic"

    job_id = models.CharField(max_length=32, unique=True, default=new_job_id)
    kind = models.CharField(max_length=64)
    identity = models.CharField(max_length=512)
    exclusive = models.CharField(max_length=255, blank=True)
    repository_id = models.BigIntegerField(null=True, db_index=True)
    group = models.CharField(max_length=64, blank=True)
    commit = models.CharField(max_length=64, blank=True)
    requested_revision = models.CharField(max_length=512, blank=True)
    source = models.CharField(max_length=16, choices=Source, default=Source.AUTOMATIC)
    policy_revision = models.BigIntegerField(default=0)
    params: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    actor = models.CharField(max_length=255, blank=True)

    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    stage = models.CharField(max_length=32, default="queued")
    progress: "models.JSONField[Any, Any]" = models.JSONField(default=dict)
    result: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    error = models.CharField(max_length=64, blank=True)
    error_message = models.TextField(blank=True)
    recovery_reason = models.CharField(max_length=64, blank=True)

    attempt = models.PositiveIntegerField(default=0)
    fence = models.PositiveBigIntegerField(default=0)
    not_before = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    # When the running attempt's time limit ends; a lease is never renewed beyond it.
    must_end_at = models.DateTimeField(null=True)
    time_limit_seconds = models.PositiveIntegerField()

    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["identity"], condition=Q(state="queued"), name="job_one_queued"
            ),
            models.UniqueConstraint(
                fields=["exclusive"],
                condition=Q(state="running") & ~Q(exclusive=""),
                name="job_one_running",
            ),
        ]
        indexes: ClassVar = [
            # The claim looks at live jobs only; there are few of them among the many kept.
            models.Index(
                fields=["not_before"],
                condition=Q(state__in=["queued", "running"]),
                name="job_live",
            ),
            models.Index(fields=["state", "finished_at"], name="job_ended"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.job_id} {self.state}"

    @property
    def over(self) -> bool:
        return self.state not in (self.State.QUEUED, self.State.RUNNING)
