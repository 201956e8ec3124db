"""`manage.py create_admin_link`: become the first administrator of a server that is not on
this machine's loopback address."""

from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from sourcegraph_site.accounts.usecases.admin_link import create_admin_link
from sourcegraph_site.accounts.usecases.join import administrator_exists


class Command(BaseCommand):
    help = "Print the one-time link of the first administrator; it works once, for a day."

    def handle(self, *args: Any, **options: Any) -> None:
        if administrator_exists():
            raise CommandError("There is an administrator already.")
        self.stdout.write(f"{settings.ORIGIN}{create_admin_link()}")
