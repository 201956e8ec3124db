"""First-parent histories of mirrored commits, read in one pass each."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from repos.gitstore.mirror import local_git
from repos.retention import Commit

# Git stores any number; datetime ends with the year 9999.
_FIRST, _LAST = 0, 253_402_300_799


def time_of(seconds: str) -> datetime:
    """A committer time; what is missing or beyond the calendar is moved to its edge."""
    try:
        value = int(seconds)
    except ValueError:
        value = 0
    return datetime.fromtimestamp(min(max(value, _FIRST), _LAST), UTC)


def first_parent_history(mirror: Path, tip: str, limit: int) -> list[Commit]:
    """At most `limit` commits from `tip` along first parents, newest first."""
    text = local_git(
        mirror,
        *("rev-list", "--first-parent", f"--max-count={limit}"),
        *("--no-commit-header", "--format=%H %ct", "--end-of-options", tip),
    ).decode()
    rows = (line.split(" ") for line in text.splitlines())
    return [Commit(sha, time_of(seconds)) for sha, seconds in rows]


def commit_time(mirror: Path, commit: str) -> datetime:
    return first_parent_history(mirror, commit, 1)[0].time


@dataclass(frozen=True, slots=True)
class TitledCommit:
    sha: str
    time: datetime
    subject: str


def newest_commits(mirror: Path, tip: str, limit: int) -> list[TitledCommit]:
    """As `first_parent_history`, with the first line of each message, cut to 500 characters."""
    text = local_git(
        mirror,
        *("rev-list", "--first-parent", f"--max-count={limit}"),
        *("--no-commit-header", "--format=%H%x00%ct%x00%s%x00", "--end-of-options", tip),
    ).decode("utf-8", "replace")
    fields = text.split("\0")
    return [
        TitledCommit(fields[i].strip(), time_of(fields[i + 1]), fields[i + 2][:500])
        for i in range(0, len(fields) - 3, 3)
    ]


def is_reachable(mirror: Path, commit: str, tip: str) -> bool:
    """Can `tip` reach `commit` through any parents? Both are full ids."""
    found = local_git(mirror, "rev-list", "--max-count=1", commit, f"^{tip}")
    return not found.strip()
