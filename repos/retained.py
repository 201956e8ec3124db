"""Commits outside the window: promised by `resolve`, kept on request (decision 20).

`resolve` remembers which commit it returned for a branch or tag; for 24 hours `prepare` takes
such a commit. It is then fetched, kept among the versions for 30 days after its last
`prepare`, at most 64 per repository, and from there on every operation accepts it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from repos.models import Repository, ResolvedRef, Version
from sourcegraph_site.kernel import clock

PROMISED_FOR = timedelta(hours=24)
KEPT_FOR = timedelta(days=30)
MAX_KEPT = 64


@dataclass(frozen=True, slots=True)
class Promise:
    commit: str
    ref: str  # full name


def remember_resolved(repo: Repository, commit: str, ref: str) -> None:
    """Note that `resolve` returned this commit for this full ref name.

    Commits that are versions already need no note.
    """
    if repo.versions.filter(commit=commit).exists():
        return
    ResolvedRef.objects.update_or_create(
        repository=repo, commit=commit, defaults={"ref": ref, "resolved_at": clock.now()}
    )


def promise_of(repo: Repository, commit: str) -> Promise | None:
    """The promise for this commit, if `resolve` made it in the last 24 hours."""
    found = ResolvedRef.objects.filter(
        repository=repo, commit=commit, resolved_at__gt=clock.now() - PROMISED_FOR
    ).first()
    return Promise(found.commit, found.ref) if found else None


def prolong(version: Version) -> None:
    version.retained_until = clock.now() + KEPT_FOR
    version.save(update_fields=["retained_until"])


def keep(repo: Repository, commit: str, committer_time: datetime) -> Version:
    """Add a fetched commit to the versions; beyond 64, those nearest their end go."""
    until = clock.now() + KEPT_FOR
    version, created = Version.objects.get_or_create(
        repository=repo,
        commit=commit,
        defaults={
            "committer_time": committer_time,
            "in_window": False,
            "retained_until": until,
        },
    )
    if not created:
        prolong(version)
    soonest = repo.versions.filter(retained_until__isnull=False).order_by("-retained_until", "-pk")
    release(repo, list(soonest.values_list("pk", flat=True)[MAX_KEPT:]))
    return version


def release(repo: Repository, keys: list[int]) -> None:
    """End the retention of these versions; those in the window stay versions."""
    mine = Version.objects.filter(repository=repo, pk__in=keys)
    mine.filter(in_window=False).delete()
    mine.update(retained_until=None)


def expire(now: datetime) -> int:
    """End what has run out in all repositories; how many versions went."""
    out = Version.objects.filter(retained_until__lte=now)
    gone = out.filter(in_window=False).delete()[0]
    out.update(retained_until=None)
    ResolvedRef.objects.filter(resolved_at__lte=now - PROMISED_FOR).delete()
    return gone
