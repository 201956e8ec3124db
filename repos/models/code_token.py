"""Tokens for code sources; what is encrypted, and under what, is `repos/sources/vault.py`."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class CodeToken(models.Model):
    """A token for one code source, of one person or of the site (`owner` is null).

    A cleared token leaves its row, so that `revision` goes on counting. `bound_to` is where
    the source was when the token was given: it is never sent anywhere else.
    """

    record_id = models.CharField(max_length=64, unique=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="code_tokens",
    )
    source = models.CharField(max_length=64)
    revision = models.PositiveIntegerField(default=0)
    sealed = models.BinaryField(default=b"")  # empty: cleared
    key_id = models.CharField(max_length=16, blank=True, default="")
    bound_to = models.TextField(blank=True, default="")
    expires_at = models.DateTimeField(null=True, blank=True)
    refused_at = models.DateTimeField(null=True, blank=True)  # by the code host, at the last use
    updated_at = models.DateTimeField(auto_now=True)

    objects: ClassVar[models.Manager["CodeToken"]]

    def __str__(self) -> str:
        return f"token for {self.source} of {self.owner_id or 'the site'}"
