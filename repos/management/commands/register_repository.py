"""Registration at the terminal (contract, decision 10)."""

import secrets
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from repos.usecases.register_repository import RegisterRepository, register_repository
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.errors import AppError
from sourcegraph_site.kernel.inputs import parse


class Command(BaseCommand):
    help = "Register a repository: its branches are mirrored, indexed and kept up to date."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="owner/repository")
        parser.add_argument("url", help="clone address, e.g. https://github.com/owner/repository")
        parser.add_argument(
            "--branch", action="append", default=[], metavar="B", help="repeatable, at most 8"
        )
        parser.add_argument(
            "--follow-default",
            action="store_true",
            help="also follow the remote's default branch; without --branch this is so anyway",
        )
        window = parser.add_mutually_exclusive_group()
        window.add_argument("--days", type=int, metavar="N", help="keep N days, 1 to 365")
        window.add_argument("--count", type=int, metavar="N", help="keep N commits, 1 to 4096")
        parser.add_argument(
            "--private", action="store_true", help="hidden from all but managers and administrators"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        policy = {
            "branches": options["branch"],
            "default_branch": options["follow_default"] or not options["branch"],
            "days": options["days"],
            "count": options["count"],
        }
        fields = {
            "name": options["name"],
            "url": options["url"],
            "code_provider": "git",
            "public_read": not options["private"],
            "policy": policy,
        }
        try:
            params = parse(RegisterRepository, fields)
            done = register_repository(
                OPERATOR, params, idempotency_key=f"terminal-{secrets.token_hex(8)}"
            )
        except AppError as exc:
            raise CommandError(f"{exc.code}: {exc.message}") from exc
        self.stdout.write(
            f"Registered {done.name} ({'public' if done.public_read else 'private'}).\n"
            f"Its first sync is queued (job {done.jobs[0].job_id}). While `manage.py serve` or"
            " `script/serve` runs,\nit is cloned and indexed now, and checked again every"
            f" {done.sync_interval_minutes} minutes."
        )
