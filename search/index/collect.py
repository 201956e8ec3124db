"""Removes what nobody wants any more, a little at a time.

One generation a pass: a mistake in what is kept then costs one commit its index, which a
person can notice, and not all of them. A segment goes when no kept commit and no manifest
needs any of it. What a search has open stays readable until it lets go (store.py).
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from search.index.liveness import Liveness
from search.index.store import IndexStore

GRACE_S = 3_600


@dataclass(frozen=True)
class Collected:
    """What one pass removed."""

    generation: tuple[str, str] | None  # commit, group
    segments: tuple[str, ...]  # ids
    freed_bytes: int


def collect(
    store: IndexStore,
    keep: Callable[[], Collection[tuple[str, str]]],
    *,
    grace_s: float = GRACE_S,
) -> Collected:
    """One pass. `keep()`: commit and group of every generation that is retained.

    It is called under the lock, so that what was indexed while the lock was waited for is
    kept. A segment younger than `grace_s` stays: the commit that it was built for may come to
    be known only after it.

    Raises:
        GitFailed: a commit in `keep` is missing; nothing was removed.
        CorruptIndex: a file is damaged; see `IndexStore.repair`.
    """
    with store.writing():
        kept = set(keep())
        manifests = store.manifests()
        unwanted = [each for each in manifests if (each.commit, each.group) not in kept]
        generation = None
        paths: list[Path] = []
        if unwanted:
            oldest = min(
                unwanted,
                key=lambda each: store.manifest_path(each.commit, each.group).stat().st_mtime_ns,
            )
            generation = (oldest.commit, oldest.group)
            paths.append(store.manifest_path(*generation))
            manifests.remove(oldest)
        live = Liveness(store, {commit for commit, _ in kept}, manifests)
        old = time.time() - grace_s
        segments = [
            segment
            for segment in store.open_segments()
            if segment.path.stat().st_mtime <= old and not live.documents(segment).any()
        ]
        paths += [segment.path for segment in segments]
        freed = store.remove(paths)
        return Collected(generation, tuple(segment.id for segment in segments), freed)
