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
        self._claimed: dict[str, Bools] = {}
        current = store.open_segments(store.options.digest)
        _claim(self._claimed, oids, current)
        # Segments of older options serve a commit only until newer ones have all of it.
        for segment in current:
            oids = oids[(segment.find(oids) < 0) & (segment.find_skipped(oids) == 0)]
        older = [each for each in store.open_segments() if each.id not in self._claimed]
        _claim(self._claimed, oids, older)

    def documents(self, segment: Segment) -> Bools:
        """Per document of a segment: is it wanted?

        Of a blob that is in several segments only the document in the largest is, apart from
        those that a manifest names.
        """
        live = self._claimed[segment.id]
        named = self._named.get(segment.id)
        return live if named is None else live | named


def _claim(
    claimed: dict[str, Bools], oids: npt.NDArray[np.bytes_], segments: Sequence[Segment]
) -> None:
    index = OidIndex(oids, np.argsort(oids, kind="stable").astype(np.uint32))
    free = np.ones(len(oids), np.bool_)
    for segment in segments:
        rows = index.find(segment.document_oids)
        live = rows >= 0
        live[live] = free[rows[live]]
        free[rows[live]] = False
        claimed[segment.id] = live
