"""Names of repositories and branches: what is accepted. Pure."""

import hashlib
import re

from repos.errors import InvalidBranch, InvalidRepo

MAX_NAME_BYTES = 512
MAX_REF_CHARS = 1024

_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*", re.ASCII)
_OBJECT_ID = re.compile(r"[0-9a-f]{40}", re.ASCII)


def check_name(name: str) -> str:
    """Return the name unchanged if it is acceptable.

    At least two segments of letters, digits, `_`, `.` and `-` that start with a letter, a
    digit or `_` and do not end in `.git`; at most 512 bytes.

    >>> check_name("context4ai/context")
    'context4ai/context'

    Raises:
        InvalidRepo: anything else.
    """
    segments = name.split("/")
    if (
        len(segments) < 2
        or len(name) > MAX_NAME_BYTES
        or any(not _SEGMENT.fullmatch(part) or part.endswith(".git") for part in segments)
    ):
        raise InvalidRepo(
            "Give the repository as owner/repository: letters, digits, '_', '.', '-'."
        )
    return name


def repo_id_of(name: str) -> str:
    """The public id: hex SHA-256 of the name."""
    return hashlib.sha256(name.encode()).hexdigest()


def is_ref_name(name: str) -> bool:
    """Is `name` made of the characters and forms that this service accepts in refs?"""
    return (
        len(name) <= MAX_REF_CHARS
        and _REF.fullmatch(name) is not None
        and not name.endswith(("/", "."))
        and ".." not in name
        and "//" not in name
        and not any(part.startswith(".") or part.endswith(".lock") for part in name.split("/"))
    )


def check_branch(name: str) -> str:
    """Return a short branch name unchanged if a policy may hold it.

    Raises:
        InvalidBranch: a full ref, a reserved word, or characters that are not accepted.
    """
    if not is_ref_name(name) or name.startswith("refs/") or name in ("HEAD", "snapshot"):
        raise InvalidBranch(f"{name[:100]!r} is not an acceptable branch name.", branch=name[:100])
    return name


def is_object_id(text: str) -> bool:
    """A full SHA-1 in lower case."""
    return _OBJECT_ID.fullmatch(text) is not None
