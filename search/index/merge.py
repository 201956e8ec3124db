"""Keeps segments few and mostly alive.

A search costs a little per segment, and each sync adds one. So segments of about the same
size are joined, as in a log-structured store: a document is rewritten about once for each
factor of four that its segment grows by. A segment of which more than half is dead is
rewritten by itself. Texts are taken from the old segments, never from Git.
"""

import shutil
import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from search.index.builder import MAX_SEGMENT_INPUT, build_from_segments, default_workers
from search.index.format import Bools, CorruptIndex, SkipReason
from search.index.liveness import Liveness
from search.index.manifest import Manifest
from search.index.segment import Segment
from search.index.store import IndexStore

MAX_SEGMENTS = 8
_FAN_IN = 4  # segments of one tier that are worth a merge


@dataclass(frozen=True)
class Tally:
    """Bytes of text of a segment: all of it, and what is wanted."""

    text: int
    live: int


def choose(tallies: Sequence[Tally]) -> list[list[int]]:
    """Which segments to join, as groups of indices into `tallies`; [i] rewrites one.

    >>> choose([Tally(1000, 1000), Tally(10, 10), Tally(9, 9), Tally(8, 8), Tally(7, 7)])
    [[1, 2, 3, 4]]
    >>> choose([Tally(1000, 400), Tally(10, 10)])
    [[0]]
    """
    order = sorted(range(len(tallies)), key=lambda i: tallies[i].live)
    group = _smallest_tier([tallies[i].live for i in order])
    joined = sorted(order[:group])
    groups = [joined] if joined else []
    for i in order[group:]:
        if 0 < 2 * tallies[i].live < tallies[i].text:
            groups.append([i])
    return groups


def _smallest_tier(live: list[int]) -> int:
    """How many of the smallest segments (sizes ascending) to join; 0 for none."""
    total = taken = 0
    for size in live:
        # Stop where the rest is so much larger that rewriting it is not worth it.
        if total + size > MAX_SEGMENT_INPUT or (taken and size > 3 * max(total, 1 << 20)):
            break
        total += size
        taken += 1
    if taken >= _FAN_IN:
        return taken
    crowded = len(live) > MAX_SEGMENTS
    return 2 if crowded and live[0] + live[1] <= MAX_SEGMENT_INPUT else 0


def merge(
    store: IndexStore, commits: Callable[[], Collection[str]], workers: int | None = None
) -> list[str]:
    """Join segments until none is worth joining. Returns the ids of the new ones.

    Everything that a manifest or `commits()`, called under the lock, needs stays; the rest of
    a segment is dropped when the segment is rewritten. Searches go on meanwhile, and after it
    with the old files until they let go of them.

    Raises:
        CorruptIndex: a segment is damaged; nothing was copied from it.
        InsufficientStorage: the disk is full; nothing has changed.
        GitFailed: one of the commits is missing.
    """
    added = []
    with store.writing():
        segments = store.open_segments(store.options.digest)
        manifests = [_settle(store, each, segments) for each in store.manifests()]
        live = Liveness(store, commits(), manifests)
        alive = [live.documents(segment) for segment in segments]
        tallies = [
            Tally(len(segment.content), int(segment.document_length[rows].sum(dtype=np.int64)))
            for segment, rows in zip(segments, alive, strict=True)
        ]
        for group in choose(tallies):
            sources = [segments[i] for i in group]
            merged = _rewrite(store, sources, [alive[i] for i in group], workers)
            gone = {segment.id for segment in sources}
            left = store.open_segments(store.options.digest)
            left = [segment for segment in left if segment.id not in gone]
            manifests = [_settle(store, each, left) for each in manifests]
            store.remove([segment.path for segment in sources])
            added.append(merged.id)
    return added


def _rewrite(
    store: IndexStore, sources: Sequence[Segment], alive: Sequence[Bools], workers: int | None
) -> Segment:
    rows = np.concatenate(
        [
            np.stack([np.full(len(documents), number), documents], axis=1)
            for number, documents in enumerate(map(np.flatnonzero, alive))
        ]
    )
    # Two builds that ran at the same time can both have added a blob.
    oids = np.concatenate([s.document_oids[a] for s, a in zip(sources, alive, strict=True)])
    rows = rows[np.sort(np.unique(oids, return_index=True)[1])]
    sizes = [int(sources[number].document_length[document]) for number, document in rows.tolist()]
    staging, segment_id = store.new_staging(), uuid.uuid4().hex
    staged = build_from_segments(
        [segment.path for segment in sources],
        rows,
        sizes,
        _skipped(sources),
        staging,
        segment_id=segment_id,
        digest=store.options.digest,
        oid_bytes=sources[0].meta.oid_bytes,
        workers=workers or default_workers(),
    )
    store.publish_segment(staged, segment_id)
    shutil.rmtree(staging)
    return store.open_segment(segment_id)


def _skipped(sources: Sequence[Segment]) -> list[tuple[bytes, SkipReason]]:
    found: dict[bytes, SkipReason] = {}
    for segment in sources:
        oids = [bytes(oid) for oid in segment.skipped_oids.tolist()]
        for oid, why in zip(oids, segment.find_skipped(oids).tolist(), strict=True):
            found[oid.ljust(segment.meta.oid_bytes, b"\0")] = SkipReason(why)
    return list(found.items())


def _settle(store: IndexStore, manifest: Manifest, segments: Sequence[Segment]) -> Manifest:
    """Publish a manifest that takes each blob from the first segment that has it.

    So nothing names a segment that has been merged, even when the process that merged it was
    killed before it had seen to all manifests.
    """
    if manifest.options != store.options.digest:
        return manifest
    oids = np.zeros(len(manifest.paths), f"S{_oid_bytes(segments)}")
    for number, segment_id in enumerate(manifest.segments):
        here = manifest.path_segment == number
        source = store.open_segment(segment_id)
        oids[here] = source.document_oids[manifest.path_document[here]]
    at = np.full(len(oids), -1)
    documents = np.zeros(len(oids), np.uint32)
    for number, segment in enumerate(segments):
        pending = np.flatnonzero(at < 0)
        rows = segment.find(oids[pending])
        found = pending[rows >= 0]
        at[found] = number
        documents[found] = rows[rows >= 0]
    if (at < 0).any():
        raise CorruptIndex(manifest.commit, "a document of the manifest is in no segment")
    used, numbers = np.unique(at, return_inverse=True)
    names = tuple(segments[number].id for number in used.tolist())
    if names == manifest.segments:
        return manifest
    settled = replace(
        manifest,
        segments=names,
        path_segment=numbers.astype(np.uint16),
        path_document=documents,
    )
    store.publish_manifest(settled)
    return settled


def _oid_bytes(segments: Sequence[Segment]) -> int:
    return segments[0].meta.oid_bytes if segments else 20
