"""People, their keys, the site's settings, and the link that makes the first administrator."""

import hashlib
import secrets
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models


def local_public_id() -> str:
    """Public id of an account without an outside identity: unguessable, never reused.

    Accounts of a provider use SHA-256 of issuer NUL subject (contract 1.7); local ones hash a
    random subject under the issuer "local", so that all ids look alike.
    """
    subject = secrets.token_hex(32)
    return hashlib.sha256(f"local\0{subject}".encode()).hexdigest()


class User(AbstractUser):
    """A person. A site administrator is `is_superuser`; a disabled user is not `is_active`."""

    public_id = models.CharField(max_length=64, unique=True, default=local_public_id)
    department = models.CharField(max_length=200, blank=True, default="")

    def save(self, *args: Any, **kwargs: Any) -> None:
        # One notion of administrator: Django's admin site follows it.
        self.is_staff = self.is_superuser
        super().save(*args, **kwargs)

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username


def new_public_id() -> str:
    return secrets.token_hex(16)


class ApiKey(models.Model):
    """A personal key; `accounts/keys.py` says what is stored of it.

    `repositories` and `no_prepare` only ever narrow what its owner may do. A revoked row stays,
    because the audit log speaks of it; it is never valid again.
    """

    public_id = models.CharField(max_length=32, unique=True, default=new_public_id)
    user = models.ForeignKey(User, models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=128)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    repositories = models.JSONField(null=True, blank=True)  # names; null: not narrowed
    no_prepare = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)  # exact to a minute
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["ApiKey"]]

    def __str__(self) -> str:
        return f"{self.prefix} ({self.name})"


class SettingsSection(models.Model):
    """One section of the site's settings, changed by compare-and-set on `revision`."""

    name = models.CharField(max_length=40, primary_key=True)
    revision = models.PositiveIntegerField(default=0)
    values = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.CharField(max_length=200, blank=True, default="")

    def __str__(self) -> str:
        return self.name


class AdminLink(models.Model):
    """A one-time right to become administrator; only a digest of the secret is stored."""

    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["AdminLink"]]

    def __str__(self) -> str:
        return f"made {self.created_at:%Y-%m-%d %H:%M}"


class RateCount(models.Model):
    """Permits leased of one bucket in one minute; see `api/limits.py`."""

    bucket = models.CharField(max_length=200)
    minute = models.BigIntegerField()
    n = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["bucket", "minute"], name="one_count_per_minute")
        ]

    def __str__(self) -> str:
        return f"{self.bucket} {self.minute}: {self.n}"
