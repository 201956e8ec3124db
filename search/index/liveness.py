"""Which documents are still wanted: those of the commits that are kept, and of manifests."""

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from search.index.format import Bools
from search.index.manifest import Manifest
from search.index.oids import OidIndex
from search.index.segment import Segment
from search.index.store import IndexStore
from search.index.trees import list_blobs


class Liveness:
    """What is wanted of each segment. Made under the lock of the store."""

    def __init__(
        self, store: IndexStore, commits: Collection[str], manifests: Sequence[Manifest]
    ) -> None:
        """`commits` must be there for any of their blobs to be wanted without a manifest.

        Raises:
            GitFailed: one of the commits is missing.
            CorruptIndex: a segment is damaged.
        """
        self._named: dict[str, Bools] = {}
        for manifest in manifests:
            for number, segment_id in enumerate(manifest.segments):
                segment = store.open_segment(segment_id)
                named = self._named.setdefault(
                    segment_id, np.zeros(len(segment.document_oids), np.bool_)
                )
                named[manifest.path_document[manifest.path_segment == number]] = True
        wanted = [oid for oid, _ in list_blobs(store.git_dir, sorted(commits))] if commits else []
        oids = np.array(wanted, f"S{len(wanted[0])}" if wanted else "S20")
        self._wanted = _index(oids)
        # Segments of older options serve a commit only until newer ones have all of it.
        for segment in store.open_segments(store.options.digest):
            oids = oids[(segment.find(oids) < 0) & (segment.find_skipped(oids) == 0)]
        self._wanted_of_older = _index(oids)
        self._digest = store.options.digest

    def documents(self, segment: Segment) -> Bools:
        """Per document of a segment: is it wanted?"""
        current = segment.meta.options == self._digest
        wanted = self._wanted if current else self._wanted_of_older
        live = wanted.find(segment.document_oids) >= 0
        named = self._named.get(segment.id)
        return live if named is None else live | named


def _index(oids: npt.NDArray[np.bytes_]) -> OidIndex:
    return OidIndex(oids, np.argsort(oids, kind="stable").astype(np.uint32))
