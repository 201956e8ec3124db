"""Import from a code host at the terminal."""

import fnmatch
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from repos.usecases.import_repositories import (
    MAX_NAMES,
    AccountRow,
    ImportRepositories,
    ListAccount,
    import_repositories,
    list_account,
)
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.kernel.inputs import parse


class Command(BaseCommand):
    help = "Register the repositories of an account, group or workspace of a code source."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", help="id of a code source, e.g. github")
        parser.add_argument("account", help="user, organisation, group or workspace")
        parser.add_argument(
            "--match", default="*", metavar="GLOB", help="only names that match, e.g. 'acme/web-*'"
        )
        parser.add_argument("--forks", action="store_true", help="forks too")
        parser.add_argument("--archived", action="store_true", help="archived ones too")
        parser.add_argument("--public", action="store_true", help="everyone may read them")
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be registered, and stop"
        )
        window = parser.add_mutually_exclusive_group()
        window.add_argument("--days", type=int, metavar="N", help="keep N days, 1 to 365")
        window.add_argument("--count", type=int, metavar="N", help="keep N commits, 1 to 4096")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._import(self._names(options), options)
        except AppError as exc:
            raise CommandError(f"{exc.code}: {exc.message}") from exc

    def _names(self, options: dict[str, Any]) -> list[str]:
        found: list[AccountRow] = []
        after: str | None = ""
        while after is not None:
            fields = {name: options[name] for name in ("source", "account", "forks", "archived")}
            page = list_account(OPERATOR, parse(ListAccount, {**fields, "after": after}))
            found += page.items
            after = page.next_cursor
        return [row.name for row in found if fnmatch.fnmatchcase(row.name, options["match"])]

    def _import(self, names: list[str], options: dict[str, Any]) -> None:
        policy = {"default_branch": True, "days": options["days"], "count": options["count"]}
        counts: dict[str, int] = {}
        for start in range(0, len(names), MAX_NAMES):
            fields = {
                "source": options["source"],
                "names": names[start : start + MAX_NAMES],
                "dry_run": options["dry_run"],
                "public_read": options["public"],
                "policy": policy,
            }
            for row in import_repositories(OPERATOR, parse(ImportRepositories, fields)).items:
                counts[row.outcome] = counts.get(row.outcome, 0) + 1
                self.stdout.write(
                    f"{row.outcome:<15} {row.name}" + (f"  {row.code}" if row.code else "")
                )
        total = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
        self.stdout.write(f"{len(names)} repositories: {total or 'none'}.")
