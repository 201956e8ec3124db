"""Writes docs/errors.md from the error classes."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.urls import get_resolver

from sourcegraph_site.kernel.error_table import error_table


class Command(BaseCommand):
    help = "Write docs/errors.md from the error classes."

    def handle(self, *args: Any, **options: Any) -> None:
        get_resolver().url_patterns  # noqa: B018  imports every surface, and so every class
        path = settings.BASE_DIR / "docs" / "errors.md"
        path.write_text(error_table(), encoding="utf-8")
        self.stdout.write("docs/errors.md written")
