"""A new key for the tokens of code sources."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from repos.usecases.rotate_credential_key import rotate_credential_key
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.errors import AppError


class Command(BaseCommand):
    help = "Encrypt the tokens of code sources anew, under a new key or the first configured one."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = rotate_credential_key(OPERATOR)
        except AppError as exc:
            raise CommandError(f"{exc.code}: {exc.message}") from exc
        self.stdout.write(f"{done.rotated} tokens are encrypted anew.")
        if done.unreadable:
            self.stdout.write(f"{done.unreadable} cannot be read; their owners must save new ones.")
