"""Who changed what. Rows outlive what they speak of, so they hold names, not references."""

from django.db import models


class AuditEvent(models.Model):
    at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.CharField(max_length=200)
    actor_kind = models.CharField(max_length=20)
    action = models.CharField(max_length=80, db_index=True)
    target = models.CharField(max_length=600, db_index=True)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"
