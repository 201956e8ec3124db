"""Which commits have an index. Written by the search app, read by everyone.

Every function takes plain ids, so that a job whose repository is gone writes nothing.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Sum

from repos.models import GroupVersion, IndexHistory, Repository, Version
from sourcegraph_site.accounts import policy


def keeps_all_indexes(repo: Repository) -> bool:
    """Is every retained commit indexed (`all`), or only heads and what was asked for?"""
    history = repo.index_history or policy.repository_defaults().index_history
    return history == IndexHistory.ALL


def mark_indexed(
    repository_id: int,
    commit: str,
    *,
    group: str = "",
    files: int,
    shards: int,
    finished_at: datetime,
    seconds: float,
) -> bool:
    """Record that search answers at this commit (of this path group).

    False when the commit is no longer kept: the caller then removes what it has built.
    Call it in the transaction that makes the generation visible.
    """
    version = (
        Version.objects.select_for_update(of=("self",))
        .select_related("repository")
        .filter(repository_id=repository_id, commit=commit)
        .first()
    )
    if version is None:
        return False
    if group:
        GroupVersion.objects.update_or_create(
            version=version,
            group=group,
            defaults={
                "files": files,
                "shards": shards,
                "indexed_at": finished_at,
                "duration_seconds": seconds,
            },
        )
        _project(version)
    else:
        version.indexed, version.files, version.shards = True, files, shards
        version.save(update_fields=["indexed", "files", "shards"])
    Repository.objects.filter(pk=repository_id).update(
        last_indexed_at=finished_at, last_index_duration_seconds=seconds
    )
    return True


def mark_all_indexed(
    repo: Repository,
    commits: Sequence[str],
    *,
    group: str = "",
    shards: int,
    finished_at: datetime,
) -> None:
    """Record that search answers at these commits (of this path group).

    Commits that are no longer kept are passed over. Their number of files is not known yet
    and stays 0 until one of them is first searched.
    """
    for start in range(0, len(commits), 500):
        found = Version.objects.filter(repository=repo, commit__in=commits[start : start + 500])
        if not group:
            found.update(indexed=True, shards=shards)
            continue
        versions = list(found.select_related("repository"))
        GroupVersion.objects.bulk_create(
            [
                GroupVersion(version=version, group=group, shards=shards, indexed_at=finished_at)
                for version in versions
            ],
            ignore_conflicts=True,
        )
        for version in versions:
            _project(version)


def record_size(version: Version, *, files: int, shards: int) -> None:
    """Note how much is indexed of a commit whose size was not known yet."""
    if version.files == 0 and files:
        Version.objects.filter(pk=version.pk).update(files=files, shards=shards)
        version.files, version.shards = files, shards


def mark_none_indexed(repository_id: int) -> None:
    """Nothing of this repository can be searched until it is indexed again."""
    GroupVersion.objects.filter(version__repository_id=repository_id).delete()
    Version.objects.filter(repository_id=repository_id, indexed=True).update(indexed=False)


@transaction.atomic
def mark_unindexed(repository_id: int, commit: str, *, group: str = "") -> None:
    """The index of this commit (of this group) is gone or damaged."""
    version = (
        Version.objects.select_for_update(of=("self",))
        .select_related("repository")
        .filter(repository_id=repository_id, commit=commit)
        .first()
    )
    if version is None:
        return
    if group:
        GroupVersion.objects.filter(version=version, group=group).delete()
        _project(version)
    else:
        version.indexed, version.files, version.shards = False, 0, 0
        version.save(update_fields=["indexed", "files", "shards"])


def _project(version: Version) -> None:
    """A monorepo's commit counts as indexed only when every group has it."""
    names = set(version.repository.group_names)
    ready = GroupVersion.objects.filter(version=version, group__in=names)
    sums = ready.aggregate(files=Sum("files"), shards=Sum("shards"))
    version.indexed = ready.count() == len(names)
    version.files = (sums["files"] or 0) if version.indexed else 0
    version.shards = (sums["shards"] or 0) if version.indexed else 0
    version.save(update_fields=["indexed", "files", "shards"])


def regroup(repo: Repository, groups: list[dict[str, Any]]) -> None:
    """Put other path groups in force: what was ready of a changed group counts no more."""
    before = {group["name"]: group["paths"] for group in repo.path_groups}
    same = [group["name"] for group in groups if before.get(group["name"]) == group["paths"]]
    repo.path_groups, repo.pending_path_groups = groups, None
    mine = GroupVersion.objects.filter(version__repository=repo)
    mine.exclude(group__in=same).delete()
    ready = repo.versions.filter(indexed=True)
    if len(same) < len(groups):
        ready.update(indexed=False, files=0, shards=0)


def group_ready(version: Version, group: str) -> bool:
    """Is this path group prepared at this commit? In full mode, is the commit indexed?"""
    if not group:
        return version.indexed
    return GroupVersion.objects.filter(version=version, group=group).exists()


def ready_groups(version: Version) -> set[str]:
    """Names of the path groups that are prepared at this commit."""
    return set(GroupVersion.objects.filter(version=version).values_list("group", flat=True))


def group_ever_ready(repository: Repository, group: str) -> bool:
    """Has an index job of this group completed for any commit that is kept?"""
    return GroupVersion.objects.filter(version__repository=repository, group=group).exists()
