"""The swap: heads and versions of a sync replace those of the one before, in one transaction.

Rows of commits that stay keep their ids and their readiness; commits that leave disappear,
and with them what search knows about them (its collector follows).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from repos.models import BranchHead, Repository, Version
from repos.retention import Commit

BATCH = 500


@dataclass(frozen=True, slots=True)
class Observed:
    """What one sync found."""

    default_branch: str
    heads: Mapping[str, str]
    commits: tuple[Commit, ...]
    truncated: bool
    empty: bool


def swap(repo: Repository, seen: Observed, now: datetime) -> bool:
    """Make `seen` the present state of heads and versions; True if that changed anything.

    Call it inside the transaction that also records the sync.
    """
    changed = _swap_heads(repo, seen.heads, now)
    return _swap_versions(repo, seen.commits, now) or changed


def _swap_heads(repo: Repository, heads: Mapping[str, str], now: datetime) -> bool:
    known = dict(repo.heads.values_list("branch", "commit"))
    repo.heads.exclude(branch__in=list(heads)).delete()
    for branch, commit in heads.items():
        BranchHead.objects.update_or_create(
            repository=repo,
            branch=branch,
            defaults={"commit": commit, "observed_at": now},
        )
    return known != dict(heads)


def _swap_versions(repo: Repository, commits: Iterable[Commit], now: datetime) -> bool:
    wanted = {commit.sha: commit for commit in commits}
    rows = list(repo.versions.values_list("pk", "commit", "in_window", "retained_until"))
    leaving = [
        pk
        for pk, commit, _, until in rows
        if commit not in wanted and (until is None or until <= now)
    ]
    outside = [
        pk
        for pk, commit, in_window, until in rows
        if commit not in wanted and in_window and until is not None and until > now
    ]
    returning = [pk for pk, commit, in_window, _ in rows if commit in wanted and not in_window]
    known = {commit for _, commit, _, _ in rows}
    arriving = [commit for sha, commit in wanted.items() if sha not in known]
    for some in _batches(leaving):
        some_rows(repo, some).delete()
    for some in _batches(outside):
        some_rows(repo, some).update(in_window=False)
    for some in _batches(returning):
        some_rows(repo, some).update(in_window=True)
    Version.objects.bulk_create(
        [
            Version(repository=repo, commit=commit.sha, committer_time=commit.time)
            for commit in arriving
        ],
        batch_size=BATCH,
    )
    return bool(leaving or outside or returning or arriving)


def some_rows(repo: Repository, keys: list[int]) -> QuerySet[Version]:
    return Version.objects.filter(repository=repo, pk__in=keys)


def _batches(keys: list[int]) -> Iterable[list[int]]:
    return (keys[start : start + BATCH] for start in range(0, len(keys), BATCH))
