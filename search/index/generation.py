"""One commit as the engine sees it: which documents of which segments, at which paths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from search.index.format import I64, U16, U32, Bools
from search.index.segment import Segment


class PathTable(Sequence[bytes]):
    """Paths in byte order: one string of bytes and where each path starts in it."""

    def __init__(self, blob: bytes, offsets: U32) -> None:
        """`offsets` has one more element than there are paths; the last is len(blob)."""
        self.blob = blob
        self.offsets = offsets

    @classmethod
    def of(cls, paths: Sequence[bytes]) -> "PathTable":
        """The table of paths that are in byte order already."""
        lengths = np.fromiter(map(len, paths), np.uint32, len(paths))
        offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.uint32))).astype(np.uint32)
        return cls(b"".join(paths), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        start, end = self.offsets[index : index + 2].tolist()
        return self.blob[start:end]

    def __iter__(self) -> Iterator[bytes]:
        bounds = self.offsets.tolist()
        blob = self.blob
        return (blob[start:end] for start, end in zip(bounds, bounds[1:], strict=False))


@dataclass(frozen=True)
class DocumentPaths:
    """Paths of several documents: those of row i are `paths[starts[i]:starts[i + 1]]`.

    `paths` are indices into `Generation.paths`, ascending within a row.
    """

    starts: I64
    paths: I64


@dataclass(frozen=True)
class _PathsByDocument:
    starts: I64  # by document number, and the end
    paths: I64


@dataclass(frozen=True, eq=False)
class Generation:
    """One commit, whole or one path group of it. Immutable; may be shared by threads."""

    commit: str
    group: str
    segments: tuple[Segment, ...]
    paths: PathTable
    path_segment: U16  # index into `segments`, by path
    path_document: U32  # document number in that segment, by path
    skipped: Mapping[str, int]  # reason -> count, see manifest.py
    options: str  # IndexOptions.digest of what it was built with
    _live: dict[int, Bools] = field(default_factory=dict, repr=False)
    _by_document: dict[int, _PathsByDocument] = field(default_factory=dict, repr=False)

    def path_oid(self, index: int) -> bytes:
        """Object id of the blob at a path."""
        segment = self.segments[int(self.path_segment[index])]
        return segment.oid(int(self.path_document[index]))

    def live_blocks(self, segment_number: int) -> Bools:
        """Per block of a segment: does its document belong to this generation?"""
        live = self._live.get(segment_number)
        if live is None:
            segment = self.segments[segment_number]
            documents = np.zeros(len(segment.document_blocks), np.bool_)
            documents[self.path_document[self.path_segment == segment_number]] = True
            live = self._live[segment_number] = np.repeat(documents, segment.document_blocks)
        return live

    def paths_of(self, segment_number: int, documents: npt.NDArray[np.integer]) -> DocumentPaths:
        """Every path at which these documents of a segment stand in this commit."""
        table = self._by_document.get(segment_number)
        if table is None:
            table = self._by_document[segment_number] = self._index_paths(segment_number)
        first = table.starts[documents]
        counts = table.starts[documents.astype(np.int64) + 1] - first
        starts = np.concatenate(([0], np.cumsum(counts)))
        rows = np.arange(starts[-1]) + np.repeat(first - starts[:-1], counts)
        return DocumentPaths(starts, table.paths[rows])

    def _index_paths(self, segment_number: int) -> _PathsByDocument:
        here = np.flatnonzero(self.path_segment == segment_number)
        documents = self.path_document[here]
        order = np.argsort(documents, kind="stable")
        size = len(self.segments[segment_number].document_blocks)
        starts = np.searchsorted(documents[order], np.arange(size + 1))
        return _PathsByDocument(starts, here[order])
