"""The branches and tags of each remote: kept, refreshed behind, shared by all processes.

A catalog is fresh for five minutes or three times what its last refresh took. An expired one
is still served while one refresh runs behind, in whatever process was asked first.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from readers.errors import RefsCatalogPreparing, RemoteUnavailable
from readers.remote import backoff
from readers.remote.catalog_file import Catalog, read_header, write
from readers.remote.catalog_refresh import gather
from readers.remote.conversation import FindTarget, as_remote
from readers.remote.lookup import RefFound
from readers.remote.shared import NoPlace, folder, place
from repos.gitstore.layout import repository_path
from repos.sources.tokens import Target
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import AppError

log = logging.getLogger(__name__)

MAX_REFS_IN_ALL = 1_000_000
REFRESHING_PER_INSTANCE = 4
REFRESH_SECONDS = 300.0
MARGIN_SECONDS = 2.0  # kept back of the request for answering
RETRY_SECONDS = 5
_TOUCH_SECONDS = 60.0
_POLL_SECONDS = 0.05
_AGAIN_SECONDS = 0.25


def load(storage_key: str) -> Catalog | None:
    """The stored catalog, fresh or not; None when there is none that can be read."""
    path = folder("catalogs") / storage_key
    try:
        found = Catalog(path)
        if time.time() - path.stat().st_mtime > _TOUCH_SECONDS:
            os.utime(path)  # when it was last used; its age stands in its header
    except (OSError, ValueError):
        return None
    return found


def is_fresh(catalog: Catalog) -> bool:
    return catalog.header.refreshed_at <= time.time() < catalog.header.fresh_until


def fresh_entries(storage_key: str, refs: list[str]) -> list[RefFound] | None:
    """What a fresh, whole catalog says about these full names.

    None when it cannot say: there is none, it is stale, truncated or has names only, or one
    of the entries was not verified.
    """
    catalog = load(storage_key)
    if catalog is None or not is_fresh(catalog):
        return None
    if catalog.header.truncated or catalog.header.reason:
        return None
    numbers = [number for ref in refs if (number := catalog.find(ref)) is not None]
    rows = [catalog.row(number) for number in numbers]
    if any(not (row.described.commit or row.described.target_type) for row in rows):
        return None
    return [RefFound(row.ref, row.described) for row in rows]


def current(storage_key: str, find_target: FindTarget, deadline: Deadline) -> Catalog:
    """The catalog to answer from; the first time, its first refresh is waited for.

    Raises:
        RefsCatalogPreparing: the first refresh goes on behind.
        RemoteUnavailable, RemoteAccessDenied, InsufficientStorage: it failed.
    """
    catalog = load(storage_key)
    if catalog is not None:
        if not is_fresh(catalog):
            _refresh_behind(storage_key, find_target)
        return catalog
    backoff.check(storage_key)
    running = _refresh_behind(storage_key, find_target)
    until = deadline.sooner(max(0.0, deadline.remaining() - MARGIN_SECONDS))
    while not until.expired:
        running.done.wait(_POLL_SECONDS)
        catalog = load(storage_key)
        if catalog is not None:
            return catalog
        if running.done.is_set():
            backoff.check(storage_key)  # the failure, as an error of this request's own
            if running.error is not None:
                raise running.error.with_traceback(None)
            # Another process does it, or all places were taken: ask again.
            time.sleep(_AGAIN_SECONDS)
            running = _refresh_behind(storage_key, find_target)
    raise RefsCatalogPreparing(
        "The branches and tags are being listed for the first time.", retry_after=RETRY_SECONDS
    )


class _Running:
    """One refresh of this process, and how it ended."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.error: AppError | None = None


_running: dict[str, _Running] = {}
_lock = threading.Lock()


def _forget_after_fork() -> None:
    # The threads that would have ended them are in the parent.
    global _lock
    _lock = threading.Lock()
    _running.clear()


os.register_at_fork(after_in_child=_forget_after_fork)


def _refresh_behind(storage_key: str, find_target: FindTarget) -> _Running:
    """Start a refresh in a thread, or join the one of this process."""
    with _lock:
        running = _running.get(storage_key)
    if running is not None:
        return running
    target = find_target()  # here, because the thread has no business with the database
    with _lock:
        running = _running.get(storage_key)
        if running is not None:
            return running
        running = _running[storage_key] = _Running()
    threading.Thread(
        target=_run, args=(storage_key, target, running), name="refs-refresh", daemon=True
    ).start()
    return running


def _run(storage_key: str, target: Target, running: _Running) -> None:
    try:
        refresh(storage_key, target)
    except NoPlace:
        pass  # another process refreshes it, or all places are taken: whoever waits asks again
    except AppError as error:
        running.error = error
    except Exception:
        log.exception("refreshing the refs of a repository failed")
        running.error = RemoteUnavailable("The remote's refs could not be read.", retry_after=10)
    finally:
        with _lock:
            _running.pop(storage_key, None)
        running.done.set()


def refresh(storage_key: str, target: Target) -> None:
    """List the remote's refs, describe them, and replace the catalog.

    Raises:
        NoPlace: this catalog is being refreshed, or four others are.
        RemoteUnavailable, RemoteAccessDenied, InsufficientStorage: the old catalog stays.
    """
    with (
        place(f"catalog-{storage_key}", 1),
        place("catalogs", REFRESHING_PER_INSTANCE),
    ):
        catalog = load(storage_key)
        if catalog is not None and is_fresh(catalog):
            return
        backoff.check(storage_key)
        try:
            header, rows = gather(target, Deadline.after(REFRESH_SECONDS))
        except AppError as error:
            raise backoff.failed(storage_key, as_remote(error)) from error
        backoff.succeeded(storage_key)
        path = folder("catalogs") / storage_key
        write(path, header, rows)
        _drop_least_used(path)


def _drop_least_used(newest: Path) -> None:
    """Keep the catalogs of living repositories, within a million refs in all."""
    rows = list(_stored(newest.parent))
    total = 0
    for _, count, path in sorted(rows, key=lambda row: (row[2] == newest, row[0]), reverse=True):
        total += count
        gone = not repository_path(path.name).is_dir()
        if path != newest and (total > MAX_REFS_IN_ALL or gone):
            path.unlink(missing_ok=True)
            total -= count


def _stored(catalogs: Path) -> Iterator[tuple[float, int, Path]]:
    """When last used, how many refs, which file; damaged files are removed."""
    for path in catalogs.iterdir():
        if path.name.startswith("."):
            continue
        with contextlib.suppress(FileNotFoundError):
            try:
                with path.open("rb") as file:
                    header, _ = read_header(file.read(1 << 16))
                yield path.stat().st_mtime, header.count, path
            except ValueError:
                path.unlink()
