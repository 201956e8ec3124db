"""Which paths can be asked for, and which names of a tree can be shown. Pure."""

import re

from readers.errors import InvalidPath
from sourcegraph_site.kernel.errors import InvalidPaths

MAX_PATH_BYTES = 4096
MAX_PATHS = 64

_BAD_CHARACTER = re.compile("[\x00-\x1f\x7f-\x9f\\\\]")
_BAD_SEGMENTS = frozenset(("", ".", ".."))


def check_path(path: str) -> bytes:
    """A path of the request, as Git stores it.

    >>> check_path("src/main.py")
    b'src/main.py'

    Raises:
        InvalidPath: absolute, empty, with `.`, `..`, an empty segment, a backslash or a control
            character, not encodable as UTF-8, or over 4096 bytes.
    """
    problem = _problem(path)
    if problem:
        raise InvalidPath(f"The path {problem}.")
    return path.encode()


def check_directory(path: str) -> bytes:
    """Like `check_path`; empty means the root."""
    return check_path(path) if path else b""


def check_paths(paths: list[str]) -> list[bytes]:
    """Files or directories to narrow an operation to; a final slash is taken off.

    Raises:
        InvalidPaths: more than 64, or one of them is not a valid path.
    """
    if len(paths) > MAX_PATHS:
        raise InvalidPaths(f"Give at most {MAX_PATHS} paths.")
    found = []
    for number, path in enumerate(paths):
        name = path.removesuffix("/")
        problem = _problem(name)
        if not problem and ".git" in name.split("/"):
            problem = "has a segment .git"
        if problem:
            raise InvalidPaths(f"Path number {number + 1} {problem}.")
        found.append(name.encode())
    return found


def _problem(path: str) -> str:
    if not path:
        return "is empty"
    if path.startswith("/"):
        return "must be relative to the repository's root"
    if _BAD_CHARACTER.search(path):
        return "holds a backslash or a control character"
    if not _BAD_SEGMENTS.isdisjoint(path.split("/")):
        return "has an empty, `.` or `..` segment"
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        return "cannot be written in UTF-8"
    return f"is longer than {MAX_PATH_BYTES} bytes" if size > MAX_PATH_BYTES else ""


def addressable(path: bytes) -> str | None:
    """The path of a tree entry as text, or None when no request could name it.

    >>> addressable(b"caf\\xe9") is None
    True
    """
    try:
        text = path.decode()
    except UnicodeDecodeError:
        return None
    return None if _problem(text) else text


def covers(directory: bytes, path: bytes) -> bool:
    """Is `path` the directory itself or below it? By segments, so `a` does not cover `ab`."""
    return not directory or path == directory or path.startswith(directory + b"/")
