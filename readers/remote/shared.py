"""Small files and places that all processes of one data root share."""

import contextlib
import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from sourcegraph_site.kernel.deadline import Deadline

POLL_SECONDS = 0.05


def folder(name: str) -> Path:
    path = Path(settings.DATA_ROOT) / "lookups" / name
    path.mkdir(parents=True, exist_ok=True)
    return path


class NoPlace(Exception):
    """All places of this name are held, and were until the deadline."""


@contextlib.contextmanager
def place(name: str, count: int, wait: Deadline | None = None) -> Iterator[None]:
    """Hold one of `count` places of this name, among all processes and threads.

    Raises:
        NoPlace: none is free; with `wait`, none became free in time.
    """
    handle = _take(name, count)
    while handle is None:
        if wait is None or wait.expired:
            raise NoPlace(name)
        time.sleep(POLL_SECONDS)
        handle = _take(name, count)
    try:
        yield
    finally:
        os.close(handle)


def _take(name: str, count: int) -> int | None:
    places = folder("places")
    for number in range(count):
        handle = os.open(places / f"{name}-{number}", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except OSError:
            os.close(handle)
    return None


def read_json(path: Path) -> Any:
    """The value in a file; None when it is absent or was not written to its end."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def write_json(path: Path, value: Any) -> None:
    """Replace the file whole."""
    replace(path, json.dumps(value).encode())


def replace(path: Path, data: bytes) -> None:
    mine = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        mine.write_bytes(data)
        mine.replace(path)
    finally:
        mine.unlink(missing_ok=True)
