"""How the disk is used: by repository, and against the reserve."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings

from repos.doctor.finding import Finding
from repos.gitstore import layout
from repos.gitstore.disk import free_bytes, size_of
from repos.models import Repository


@dataclass(frozen=True, slots=True)
class Use:
    repo: str
    mirror_bytes: int
    index_bytes: int

    @property
    def total(self) -> int:
        return self.mirror_bytes + self.index_bytes


def uses(repos: list[Repository]) -> list[Use]:
    """What each repository takes, the largest first."""
    found = [
        Use(
            repo.name,
            size_of(layout.mirror_path(repo.storage_key)),
            size_of(layout.index_path(repo.storage_key)),
        )
        for repo in repos
    ]
    return sorted(found, key=lambda use: -use.total)


def examine(found: list[Use]) -> Iterator[Finding]:
    """Too little space for anything, or for what the upkeep of the largest one needs."""
    spare = free_bytes() - settings.MIN_FREE_BYTES
    if spare < 0:
        text = f"{-spare:,} bytes below the reserve: nothing is cloned or indexed; free some"
        yield Finding("disk", "free space", text)
        return
    for use in found:
        needed = max(use.mirror_bytes, use.index_bytes)
        if needed > spare:
            text = f"its upkeep may need {needed:,} bytes for a while; {spare:,} are to spare"
            yield Finding("disk", use.repo, text)
