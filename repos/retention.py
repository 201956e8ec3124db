"""Which commits of the monitored branches may be named: policy, histories, now → versions.
Pure.

A branch's history is its first-parent line from the tip. The window is a prefix of it:

- `count`: the newest `count` commits;
- `days`: everything down to the last commit that is not older than `days`. A prefix and not
  a filter, so that one commit with a wrong clock neither cuts the history off nor makes a
  hole in it. The tip always belongs to it.

All windows together hold at most MAX_VERSIONS; when they are longer, the tips and the
newest commits stay, and the result says `truncated`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

MAX_VERSIONS = 32_768


@dataclass(frozen=True, slots=True)
class Commit:
    sha: str
    time: datetime  # the committer's


@dataclass(frozen=True, slots=True)
class Window:
    """Exactly one of the two is set."""

    days: int | None = None
    count: int | None = None

    @property
    def longest(self) -> int:
        """How many commits of a branch need to be looked at."""
        return self.count if self.count is not None else MAX_VERSIONS + 1


@dataclass(frozen=True, slots=True)
class Eligible:
    """Newest first by committer time, ties by SHA."""

    commits: tuple[Commit, ...]
    truncated: bool


def within(history: Sequence[Commit], window: Window, now: datetime) -> Sequence[Commit]:
    """The part of one branch's first-parent history that the window holds."""
    if window.count is not None:
        return history[: window.count]
    assert window.days is not None
    oldest = now - timedelta(days=window.days)
    kept = max((i for i, commit in enumerate(history) if commit.time >= oldest), default=0)
    return history[: kept + 1]


def eligible(
    histories: Mapping[str, Sequence[Commit]],
    window: Window,
    now: datetime,
    limit: int = MAX_VERSIONS,
) -> Eligible:
    """All commits that the windows of all branches hold, each once.

    `histories`: branch → first-parent commits from the tip, at least `window.longest` of
    them if there are as many.
    """
    tips = {history[0].sha for history in histories.values() if history}
    found = {
        commit.sha: commit
        for history in histories.values()
        for commit in within(history, window, now)
    }
    newest_first = sorted(found.values(), key=lambda commit: (-commit.time.timestamp(), commit.sha))
    if len(newest_first) <= limit:
        return Eligible(tuple(newest_first), truncated=False)
    room = limit - len(tips)
    kept = []
    for commit in newest_first:
        if commit.sha in tips:
            kept.append(commit)
        elif room > 0:
            kept.append(commit)
            room -= 1
    return Eligible(tuple(kept), truncated=True)
