"""Start-up checks: what the environment must offer beyond well-formed settings.

Each has an id, for SILENCED_SYSTEM_CHECKS and for the reader of docs/operating.md.
"""

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from repos.gitstore.disk import free_bytes
from repos.gitstore.layout import scratch_root, staging_root, trash_root
from repos.gitstore.process import GitCall, GitFailed, GitTimedOut, run_git
from repos.sources.listing import locked_sources
from sourcegraph_site.kernel.errors import AppError

OLDEST_GIT = (2, 37)  # the first with http.curloptResolve, which pins checked addresses
KERNEL = settings.BASE_DIR / "search" / "kernel"

Check = Callable[[], Iterator[CheckMessage]]


def git_version(text: str) -> tuple[int, int] | None:
    """`git version 2.39.5 (Apple Git-154)` → (2, 39)."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None


def git() -> Iterator[CheckMessage]:
    hint = "Install git (Debian: apt-get install git)."
    try:
        answer = run_git(None, "version", call=GitCall(timeout_s=20)).decode("utf-8", "replace")
    except (OSError, GitFailed, GitTimedOut):
        yield Error("Git does not run.", hint=hint, id="site.E001")
        return
    version = git_version(answer)
    if version is None or version < OLDEST_GIT:
        oldest = ".".join(map(str, OLDEST_GIT))
        yield Error(f"{answer.strip()} is older than {oldest}.", hint=hint, id="site.E002")


def data_root() -> Iterator[CheckMessage]:
    root = Path(settings.DATA_ROOT)
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        yield Error(
            f"The data root {root} is not writable.",
            hint="Change its owner, or set SOURCEGRAPH_DATA_ROOT to another directory.",
            id="site.E003",
        )
        return
    # Mirrors and indexes become visible by rename, which works inside one file system only.
    places = [staging_root(), scratch_root(), trash_root(), root / "repositories"]
    if len({path.stat().st_dev for path in (root, *places) if path.exists()}) > 1:
        yield Error(
            f"The directories below {root} are on several file systems.",
            hint="Mount one file system at the data root, nothing below it.",
            id="site.E004",
        )
    free = free_bytes()
    if free < settings.MIN_FREE_BYTES:
        yield Warning(
            f"{free >> 20} MiB are free at {root}, less than the reserve of"
            f" {settings.MIN_FREE_BYTES >> 20} MiB: nothing will be cloned or indexed.",
            hint="Free space, or lower SOURCEGRAPH_MIN_FREE_BYTES.",
            id="site.W001",
        )


def secrets() -> Iterator[CheckMessage]:
    for name in ("secret.key", "code-credentials.key"):
        path = Path(settings.DATA_ROOT) / name
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield Error(
                f"{path} can be read by other users.", hint=f"chmod 600 {path}", id="site.E005"
            )


def kernel() -> Iterator[CheckMessage]:
    """The compiled core of the index is the one that this release was tested with."""
    lock = (KERNEL / "kernel.lock").read_text(encoding="ascii")
    found = hashlib.sha256((KERNEL / "kernel.wasm").read_bytes()).hexdigest()
    if f"{found}  kernel.wasm" not in lock.splitlines():
        yield Error(
            "search/kernel/kernel.wasm is not the one in kernel.lock.",
            hint="Restore it: git checkout -- search/kernel; or build both: search/kernel/build.",
            id="site.E006",
        )


def local_remotes() -> Iterator[CheckMessage]:
    for path in settings.LOCAL_REMOTES:
        if not path.is_dir():
            yield Error(
                f"SOURCEGRAPH_LOCAL_REMOTES names {path}, which is no directory.",
                hint="Write existing directories, separated by colons.",
                id="site.E007",
            )


def code_sources() -> Iterator[CheckMessage]:
    try:
        locked_sources()
    except (AppError, ValueError) as exc:
        yield Error(
            f"SOURCEGRAPH_CODE_SOURCES: {exc}",
            hint="docs/operating.md lists the fields of a code source.",
            id="site.E020",
        )


def addresses() -> Iterator[CheckMessage]:
    host = settings.LISTEN_HOST.strip("[]")
    listens_locally = host in ("localhost", "::1") or host.startswith("127.")
    if settings.LOOPBACK and not listens_locally:
        yield Warning(
            f"It listens on {host}, but answers only to the address {settings.ORIGIN}.",
            hint="Set SOURCEGRAPH_ORIGIN to the address that people type.",
            id="site.W002",
        )
    if not settings.LOOPBACK and not settings.SECURE:
        yield Warning(
            f"{settings.ORIGIN} is not encrypted: passwords and keys cross the network readable.",
            hint="Put a proxy with TLS before it and make SOURCEGRAPH_ORIGIN https://….",
            id="site.W003",
        )


CHECKS: tuple[Check, ...] = (
    git,
    data_root,
    secrets,
    kernel,
    local_remotes,
    code_sources,
    addresses,
)


@register()
def environment(**_: Any) -> list[CheckMessage]:
    return [message for check in CHECKS for message in check()]
