"""Start-up checks of the remotes that the operator allows."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from repos.gitstore.process import dies_with_parent
from repos.gitstore.remote_url import DEFAULT_PORTS


def allowed_remotes() -> Iterable[CheckMessage]:
    for entry in settings.ALLOWED_REMOTES:
        try:
            parts = urlsplit(entry)
            well_formed = (
                parts.scheme in DEFAULT_PORTS
                and bool(parts.hostname)
                and (parts.port or 1) > 0
                and not (parts.path.strip("/") or parts.query or parts.fragment or parts.username)
            )
        except ValueError:
            well_formed = False
        if not well_formed:
            yield Error(
                f"SOURCEGRAPH_ALLOWED_REMOTES: {entry!r} is not scheme://host[:port].",
                hint=f"The scheme is one of {', '.join(sorted(DEFAULT_PORTS))}.",
                id="repos.E001",
            )


def local_remotes() -> Iterable[CheckMessage]:
    for directory in settings.LOCAL_REMOTES:
        if not directory.is_dir():
            yield Warning(
                f"SOURCEGRAPH_LOCAL_REMOTES: {directory} is not a directory.",
                hint="Repositories below it cannot be synchronised.",
                id="repos.W001",
            )


def survivors() -> Iterable[CheckMessage]:
    if not dies_with_parent():
        yield Warning(
            "setpriv is missing, so a Git command may outlive a worker that is killed.",
            hint="Install util-linux (Debian: apt-get install util-linux).",
            id="repos.W002",
        )


def connect() -> None:
    """Called once, when the app is ready."""

    @register()
    def remotes(app_configs: Any, **options: Any) -> list[CheckMessage]:
        return [*allowed_remotes(), *local_remotes(), *survivors()]
