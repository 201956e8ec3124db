"""Mirrors that are missing or damaged."""

from collections.abc import Iterator
from functools import partial

from repos import work
from repos.doctor.finding import Finding
from repos.gitstore import layout
from repos.gitstore.integrity import CheckUnfinished, damage
from repos.models import Repository


def examine(repos: list[Repository], *, deep: bool = False) -> Iterator[Finding]:
    for repo in repos:
        if repo.observed_at is None:
            continue  # never synchronised: there is nothing to be missed
        commits = set(repo.versions.values_list("commit", flat=True))
        commits |= set(repo.heads.values_list("commit", flat=True))
        try:
            reason = damage(layout.mirror_path(repo.storage_key), commits, deep=deep)
        except CheckUnfinished:
            text = "too large to be checked in the time; run git fsck on it by hand"
            yield Finding("mirror", repo.name, text)
            continue
        if reason:
            yield Finding("mirror", repo.name, reason, partial(_restore, repo))


def _restore(repo: Repository) -> str:
    work.queue_restore(repo)
    return "a fresh clone is queued"
