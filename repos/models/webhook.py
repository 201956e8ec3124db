"""Where a code host announces a push."""

import secrets
from typing import ClassVar

from django.db import models

from repos.models.repository import Repository


def new_webhook_id() -> str:
    return secrets.token_hex(16)


class Webhook(models.Model):
    """An address that a code host posts to. Its secret is derived, never stored."""

    webhook_id = models.CharField(max_length=32, unique=True, default=new_webhook_id)
    repository = models.ForeignKey(Repository, models.CASCADE, related_name="webhooks")
    created_at = models.DateTimeField()
    last_delivery_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["Webhook"]]

    def __str__(self) -> str:
        return f"webhook of {self.repository_id}"
