"""`manage.py doctor`: is this instance well, and if not, make it so."""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from repos.doctor import Finding
from repos.doctor.space import Use
from repos.gitstore.disk import free_bytes
from search.usecases.doctor import examine
from sourcegraph_site.kernel.errors import AppError


class Command(BaseCommand):
    help = (
        "Look for lost jobs, leftovers, damaged mirrors and indexes, commits without an index and"
        " too little disk space. Exit code 0: all is well, or was repaired; 1: something is left."
        " May run beside the instance; what takes long is queued for its workers."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair what can be repaired")
        parser.add_argument("--repo", default="", metavar="NAME", help="one repository alone")
        parser.add_argument(
            "--deep", action="store_true", help="also compare every object and text; takes long"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = examine(repo=options["repo"], deep=options["deep"])
        except AppError as exc:
            raise CommandError(f"{exc.code}: {exc.message}") from exc
        self._disk(found.uses)
        left = repaired = 0
        for finding in found.findings:
            done = self._repair(finding) if options["repair"] else ""
            repaired += bool(done)
            left += not done
            outcome = f" -> {done}" if done else ""
            self.stdout.write(f"{finding.area}: {finding.subject}: {finding.text}{outcome}")
        if not left and not repaired:
            self.stdout.write("All is well.")
        elif not left:
            self.stdout.write(f"{repaired} found, all repaired or in the queue.")
        else:
            hint = "" if options["repair"] else "; --repair repairs what can be repaired"
            self.stdout.write(f"{left + repaired} found, {left} left{hint}.")
            sys.exit(1)

    def _repair(self, finding: Finding) -> str:
        """What was done; "" if nothing could be."""
        if finding.repair is None:
            return ""
        try:
            with transaction.atomic():
                return finding.repair()
        except (AppError, OSError) as exc:
            self.stderr.write(f"{finding.area}: {finding.subject}: not repaired: {exc}")
            return ""

    def _disk(self, uses: list[Use]) -> None:
        """The disk budget: each repository, and what is left above the reserve."""
        mib = 1 << 20
        for use in uses:
            self.stdout.write(
                f"disk: {use.repo}: {use.total / mib:,.1f} MiB (mirror"
                f" {use.mirror_bytes / mib:,.1f}, index {use.index_bytes / mib:,.1f})"
            )
        total = sum(use.total for use in uses) / mib
        free, reserve = free_bytes() / mib, settings.MIN_FREE_BYTES / mib
        self.stdout.write(
            f"disk: {total:,.1f} MiB in {len(uses)} repositories, {free:,.1f} MiB free,"
            f" of which {reserve:,.1f} MiB are the reserve"
        )
