"""Ask a remote for one name: is it a branch, a tag, both, and which commit is that now?"""

import hashlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from readers.errors import RemoteUnavailable
from readers.objects import Objects
from readers.remote import backoff
from readers.remote.conversation import (
    RETRY_SECONDS,
    FindTarget,
    Incomplete,
    RefMissing,
    as_remote,
    download,
    route_of,
)
from readers.remote.describe import Described, describe
from readers.remote.scratch import LOOKUP_BYTES, ScratchExceeded, scratch
from readers.remote.shared import NoPlace, folder, place, read_json, write_json
from repos.gitstore.mirror import local_git
from repos.sources.tokens import Target
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import AppError

REMEMBER_SECONDS = 30.0
MAX_ANSWERS = 10_000
PER_REPOSITORY = 2
PER_INSTANCE = 8
RUNNING_OR_WAITING = 64
_FLIGHTS = 4096


@dataclass(frozen=True, slots=True)
class RefFound:
    """One ref of the remote, as it was downloaded."""

    ref: str  # full name
    described: Described


def look_up(
    storage_key: str, find_target: FindTarget, refs: Sequence[str], deadline: Deadline
) -> list[RefFound]:
    """Those of the full names that the remote has, with what they are.

    Callers with the same question share one conversation; its result, also that there is
    nothing, is remembered for 30 seconds.

    Raises:
        RemoteUnavailable, RemoteAccessDenied, InsufficientStorage.
    """
    digest = hashlib.sha256(json.dumps([storage_key, *refs]).encode()).hexdigest()
    answer = folder("answers") / digest
    known = _remembered(answer)
    if known is not None:
        return known
    try:
        # Whoever waits here finds the answer remembered when the turn comes.
        with place(f"flight-{int(digest[:8], 16) % _FLIGHTS}", 1, deadline):
            known = _remembered(answer)
            if known is None:
                known = _ask_in_turn(storage_key, find_target, refs, deadline)
                _remember(answer, known)
            return known
    except NoPlace:
        raise _busy() from None


def _busy() -> RemoteUnavailable:
    return RemoteUnavailable("Too many look-ups are running.", retry_after=RETRY_SECONDS)


def _ask_in_turn(
    storage_key: str, find_target: FindTarget, refs: Sequence[str], deadline: Deadline
) -> list[RefFound]:
    backoff.check(storage_key)
    with (
        place("lookups", RUNNING_OR_WAITING),
        place(f"repository-{storage_key}", PER_REPOSITORY, deadline),
        place("instance", PER_INSTANCE, deadline),
    ):
        backoff.check(storage_key)  # another may have failed while we waited
        try:
            found = _ask(find_target(), refs, deadline)
        except AppError as error:
            raise backoff.failed(storage_key, as_remote(error)) from error
        backoff.succeeded(storage_key)
        return found


def _ask(target: Target, refs: Sequence[str], deadline: Deadline) -> list[RefFound]:
    route = route_of(target)
    try:
        with scratch(LOOKUP_BYTES) as into:
            names = {}
            for number, ref in enumerate(refs):
                refspec = [f"+{ref}:refs/look/{number}"]
                try:
                    try:
                        download(route, into, refspec, deadline)
                    except Incomplete:
                        download(route, into, refspec, deadline, trees=1)
                except RefMissing:
                    continue
                names[ref] = f"refs/look/{number}"
            return _found(into.git_dir, names, deadline)
    except ScratchExceeded:
        raise RemoteUnavailable("The remote sends more than a look-up may take.") from None


def _found(git_dir: Path, names: dict[str, str], deadline: Deadline) -> list[RefFound]:
    """What the downloaded refs are; not what the remote had listed a moment ago."""
    if not names:
        return []
    out = local_git(git_dir, "for-each-ref", "--format=%(refname) %(objectname)", "refs/look/")
    oids = dict(line.split(" ") for line in out.decode().split("\n") if line)
    described = describe(Objects(git_dir, deadline), [oids[name] for name in names.values()])
    for each in described:
        if each.commit is None and each.target_type is None:
            raise RemoteUnavailable("The remote's object could not be verified.")
    return [RefFound(ref, each) for ref, each in zip(names, described, strict=True)]


# --- Answers that are remembered ----------------------------------------------------------


def _remembered(path: Path) -> list[RefFound] | None:
    value = read_json(path)
    if value is None or not 0 <= time.time() - value["at"] < REMEMBER_SECONDS:
        return None
    return [RefFound(row["ref"], _loaded(row["described"])) for row in value["refs"]]


def _remember(path: Path, found: Sequence[RefFound]) -> None:
    refs = [{"ref": each.ref, "described": _dumped(each.described)} for each in found]
    write_json(path, {"at": time.time(), "refs": refs})
    forget_answers(path.parent)


def forget_answers(answers: Path) -> None:
    """Remove answers that are too old, and the oldest beyond 10,000."""
    limit = time.time() - REMEMBER_SECONDS
    rows = []
    with os.scandir(answers) as entries:
        for entry in entries:
            try:
                rows.append((entry.stat().st_mtime, entry.path))
            except FileNotFoundError:
                continue
    rows.sort(reverse=True)
    for number, (written, path) in enumerate(rows):
        if number >= MAX_ANSWERS or written < limit:
            Path(path).unlink(missing_ok=True)


def _dumped(described: Described) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name in Described.__slots__
        if (value := getattr(described, name)) is not None
    }


def _loaded(row: dict[str, Any]) -> Described:
    for name in ("created_at", "committer_time"):
        if name in row:
            row[name] = datetime.fromisoformat(row[name])
    return Described(**row)
