"""What a repository's settings may be: branches, window, interval, timeout, path groups. Pure.

Inputs are checked here in full, so that `parse` errors (INVALID_REQUEST) are about JSON and
every rule of the product has its own code.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from repos.errors import (
    InvalidBranches,
    InvalidIndexMode,
    InvalidPathGroup,
    InvalidPathGroups,
    InvalidPolicy,
    InvalidRetention,
    InvalidSyncInterval,
    OverlappingPathGroups,
)
from repos.models.repository import GIT_TIMEOUTS, SYNC_INTERVALS, IndexHistory, IndexMode
from repos.naming import check_branch
from sourcegraph_site.kernel.inputs import Field, Input

MAX_BRANCHES = 8
MAX_DAYS = 365
MAX_COUNT = 4096
MAX_GROUPS = 16
MAX_DIRECTORIES = 64
MAX_PATH_BYTES = 4096
DEFAULT_GROUP = "default"

_GROUP_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)


class PolicyInput(Input):
    """Which commits are kept: branches, and a window of days or of commits per branch."""

    branches: list[str] = Field(default_factory=list)
    default_branch: bool = Field(False, description="Also follow the remote's default branch.")
    days: int | None = None
    count: int | None = None


class PathGroupInput(Input):
    name: str = ""
    paths: list[str]


@dataclass(frozen=True, slots=True)
class Policy:
    """A checked policy; exactly one of days and count is set."""

    branches: tuple[str, ...]
    follows_default: bool
    days: int | None
    count: int | None


def check_policy(
    given: PolicyInput, *, fallback_days: int | None = None, fallback_count: int | None = None
) -> Policy:
    """Check a policy; the fallback window counts when it names neither days nor count.

    Raises:
        InvalidBranch, InvalidBranches, InvalidRetention: what is wrong.
    """
    branches = tuple(check_branch(name) for name in given.branches)
    if len(set(branches)) != len(branches):
        raise InvalidBranches("A branch stands twice.")
    if not 1 <= len(branches) + int(given.default_branch) <= MAX_BRANCHES:
        raise InvalidBranches("Name one to eight branches, counting the default branch.")
    days, count = given.days, given.count
    if days is None and count is None:
        days, count = fallback_days, fallback_count
    check_window(days, count)
    return Policy(branches, given.default_branch, days, count)


def check_window(days: int | None, count: int | None) -> None:
    """Raises InvalidRetention unless exactly one of the two is given, inside its range."""
    if (days is None) == (count is None):
        raise InvalidRetention("Give exactly one of days and count.")
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise InvalidRetention(f"Days are 1 to {MAX_DAYS}.")
    if count is not None and not 1 <= count <= MAX_COUNT:
        raise InvalidRetention(f"A count is 1 to {MAX_COUNT}.")


def check_interval(minutes: int) -> int:
    if minutes not in SYNC_INTERVALS:
        offered = ", ".join(map(str, SYNC_INTERVALS))
        raise InvalidSyncInterval(f"The interval in minutes is one of {offered}.")
    return minutes


def check_git_timeout(minutes: int) -> int:
    if minutes not in (0, *GIT_TIMEOUTS):
        raise InvalidPolicy("git_timeout_minutes is 0 (the site's default), 15, 30, 45 or 60.")
    return minutes


def check_index_history(value: str) -> str:
    if value not in IndexHistory.values:
        raise InvalidPolicy("index_history is empty (the site's default), all or heads.")
    return value


def check_index_mode(mode: str) -> str:
    if mode not in IndexMode.values:
        raise InvalidIndexMode("The index mode is full or monorepo.")
    return mode


def check_path_groups(mode: str, given: Sequence[PathGroupInput]) -> list[dict[str, Any]]:
    """The groups in canonical form: sorted by name, nested directories compacted.

    Raises:
        InvalidPathGroups, InvalidPathGroup, OverlappingPathGroups: what is wrong.
    """
    if mode == IndexMode.FULL:
        if given:
            raise InvalidPathGroups("Path groups belong to the monorepo mode.")
        return []
    if not 1 <= len(given) <= MAX_GROUPS:
        raise InvalidPathGroups(f"A monorepo has 1 to {MAX_GROUPS} path groups.")
    if sum(len(group.paths) for group in given) > MAX_DIRECTORIES:
        raise InvalidPathGroups(f"All groups together have at most {MAX_DIRECTORIES} directories.")
    groups = [_check_group(group) for group in given]
    names = [group["name"] for group in groups]
    if len(set(names)) != len(names):
        raise InvalidPathGroups("Two path groups have the same name.")
    _check_overlap(groups)
    return sorted(groups, key=lambda group: str(group["name"]))


def _check_group(group: PathGroupInput) -> dict[str, Any]:
    name = group.name.strip() or DEFAULT_GROUP
    if not _GROUP_NAME.fullmatch(name):
        raise InvalidPathGroup("A group's name is 1 to 64 letters, digits, '_' and '-'.")
    if not group.paths:
        raise InvalidPathGroup(f"Group {name} has no directory.")
    paths = sorted({check_directory(path) for path in group.paths})
    return {"name": name, "paths": [p for p in paths if not any(inside(p, q) for q in paths)]}


def check_directory(path: str) -> str:
    """A directory inside the repository, without its final slash.

    Raises:
        InvalidPathGroup: absolute, with `.`, `..`, `.git`, wildcards or odd characters.
    """
    trimmed = path.removesuffix("/")
    bad = (
        not trimmed
        or len(trimmed.encode("utf-8", "replace")) > MAX_PATH_BYTES
        or not trimmed.isprintable()
        or any(char in trimmed for char in "\\*?[]{}")
        or any(part in ("", ".", "..") or part.lower() == ".git" for part in trimmed.split("/"))
    )
    if bad:
        raise InvalidPathGroup("A directory is a plain path inside the repository.")
    return trimmed


def inside(path: str, directory: str) -> bool:
    """Is `path` strictly below `directory`?"""
    return path.startswith(f"{directory}/")


def _check_overlap(groups: Sequence[dict[str, Any]]) -> None:
    owned = [(path, group["name"]) for group in groups for path in group["paths"]]
    for path, name in owned:
        for other, owner in owned:
            if name != owner and (path == other or inside(path, other)):
                raise OverlappingPathGroups(f"{path!r} belongs to {name} and to {owner}.")
