"""`manage.py verify_index`: are the indexes what Git says they should be?"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.usecases.verify_index import Verified, VerifyIndex, verify_index
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.kernel.inputs import parse

MAX_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Check every index against Git, byte by byte. Prints a line for each repository; exits"
        " with 1 if there is a problem, and queues the repair."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("repos", nargs="*", metavar="REPO", help="owner/name; none: all")
        parser.add_argument(
            "--deep",
            action="store_true",
            help="also read every blob from Git again and compute every posting anew (slow)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        damaged = 0
        try:
            params = parse(VerifyIndex, {"repos": options["repos"], "deep": options["deep"]})
            for result in verify_index(OPERATOR, params):
                self._show(result)
                damaged += bool(result.problems)
        except AppError as exc:
            raise CommandError(f"{exc.code}: {exc.message}") from exc
        if damaged:
            raise CommandError(f"Problems in {damaged} of the indexes.")

    def _show(self, result: Verified) -> None:
        what = f"{result.generations} generations, {result.segments} segments"
        if not result.problems:
            self.stdout.write(f"{result.repository}: ok ({what})")
            return
        repair = "repair queued" if result.repair_queued else "no repair possible"
        self.stdout.write(
            f"{result.repository}: {len(result.problems)} problems ({what}); {repair}"
        )
        for problem in result.problems[:MAX_SHOWN]:
            self.stdout.write(f"  {problem}")
        if len(result.problems) > MAX_SHOWN:
            self.stdout.write(f"  … and {len(result.problems) - MAX_SHOWN} more")
