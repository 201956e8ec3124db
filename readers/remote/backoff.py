"""A remote that failed is left alone for a while: 10 seconds, doubling up to 5 minutes."""

import math
import time

from readers.errors import RemoteAccessDenied, RemoteUnavailable
from readers.remote.shared import folder, read_json, write_json
from sourcegraph_site.kernel.errors import AppError

FIRST_SECONDS = 10.0
MOST_SECONDS = 300.0

_ERRORS: dict[str, type[AppError]] = {
    error.code: error for error in (RemoteUnavailable, RemoteAccessDenied)
}


def check(storage_key: str) -> None:
    """Raises the error of the last failure while the remote is left alone."""
    note = read_json(folder("backoff") / storage_key)
    left = note["until"] - time.time() if note else 0
    if 0 < left <= MOST_SECONDS:
        raise _ERRORS[note["code"]](note["message"], retry_after=math.ceil(left))


def failed(storage_key: str, error: AppError) -> AppError:
    """Note a failure; returns the error with the time until which nothing is asked.

    A full disk of ours is no failure of the remote, and is not noted.
    """
    if error.code not in _ERRORS:
        return error
    path = folder("backoff") / storage_key
    note = read_json(path)
    failures = (note["failures"] if note else 0) + 1
    seconds = min(MOST_SECONDS, FIRST_SECONDS * 2 ** min(failures - 1, 10))
    write_json(
        path,
        {
            "failures": failures,
            "until": time.time() + seconds,
            "code": error.code,
            "message": error.message,
        },
    )
    error.retry_after = math.ceil(seconds)
    return error


def succeeded(storage_key: str) -> None:
    (folder("backoff") / storage_key).unlink(missing_ok=True)
