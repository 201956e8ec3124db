"""A manifest: what a generation holds, computed from a commit's tree and kept as one file.

    offset   bytes   content
    0        8       magic b"SGMANIFT"
    8        4       format number u32
    12       4       CRC-32 of all that follows u32
    16       4       length of the header u32
    20       ...     header, JSON: commit, group, scope, options, segments (ids), skipped
                     {reason: count}, paths (number of them), path_bytes
    ...      ...     u32 offsets of the paths, one more than there are paths
    ...      ...     u32 document number of each path
    ...      ...     u16 index into `segments` of each path
    ...      ...     paths end to end, in byte order

Reasons that count in `skipped`: too_large, binary, encoding, unsupported_path, submodule,
and lfs_pointer, whose pointer text is indexed all the same.
"""

import json
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from search.index.format import FORMAT, U8, U16, U32, Bools, CorruptIndex, DocumentFlags, SkipReason
from search.index.generation import PathTable
from search.index.segment import Segment
from search.index.trees import TreeListing

MAGIC = b"SGMANIFT"
_HEAD = struct.Struct("<8sIII")

_REASONS = {
    SkipReason.TOO_LARGE: "too_large",
    SkipReason.BEYOND_FORMAT: "too_large",
    SkipReason.BINARY: "binary",
    SkipReason.ENCODING: "encoding",
}
# Which paths are indexed whatever the size of their blob.
Override = Callable[[Sequence[bytes]], Bools]


@dataclass(frozen=True)
class Manifest:
    """What is stored of a generation. `segments` are ids."""

    commit: str
    group: str
    scope: tuple[bytes, ...]
    options: str
    segments: tuple[str, ...]
    paths: PathTable
    path_segment: U16
    path_document: U32
    skipped: dict[str, int]

    def encode(self) -> bytes:
        """The bytes of the file."""
        header = json.dumps(
            {
                "commit": self.commit,
                "group": self.group,
                "scope": [path.decode() for path in self.scope],
                "options": self.options,
                "segments": self.segments,
                "skipped": self.skipped,
                "paths": len(self.paths),
                "path_bytes": len(self.paths.blob),
            }
        ).encode()
        body = b"".join(
            (
                header,
                self.paths.offsets.astype("<u4").tobytes(),
                self.path_document.astype("<u4").tobytes(),
                self.path_segment.astype("<u2").tobytes(),
                self.paths.blob,
            )
        )
        length = struct.pack("<I", len(header))
        checksum = zlib.crc32(body, zlib.crc32(length))
        return _HEAD.pack(MAGIC, FORMAT, checksum, len(header)) + body


def decode_manifest(data: bytes, name: str) -> Manifest:
    """Read the bytes of a file. Raises CorruptIndex, which names the file."""
    if len(data) < _HEAD.size:
        raise CorruptIndex(name, f"only {len(data)} bytes long")
    magic, number, checksum, length = _HEAD.unpack_from(data)
    if magic != MAGIC or number != FORMAT:
        raise CorruptIndex(name, "not a manifest of this format")
    if zlib.crc32(memoryview(data)[_HEAD.size - 4 :]) != checksum:
        raise CorruptIndex(name, "damaged")
    header = json.loads(data[_HEAD.size : _HEAD.size + length])
    count, at = header["paths"], _HEAD.size + length
    offsets = np.frombuffer(data, "<u4", count + 1, at)
    documents = np.frombuffer(data, "<u4", count, at + 4 * (count + 1))
    segments = np.frombuffer(data, "<u2", count, at + 4 * (2 * count + 1))
    return Manifest(
        commit=header["commit"],
        group=header["group"],
        scope=tuple(path.encode() for path in header["scope"]),
        options=header["options"],
        segments=tuple(header["segments"]),
        paths=PathTable(data[len(data) - header["path_bytes"] :], offsets),
        path_segment=segments,
        path_document=documents,
        skipped=header["skipped"],
    )


@dataclass(frozen=True)
class Match:
    """Where each path of a listing is in the segments."""

    segment: U16  # index into the segments that were looked at
    document: U32
    skip: U8  # SkipReason, or 0
    flags: U8  # DocumentFlags
    missing: Bools  # no segment has it, and none says why


def match_listing(
    listing: TreeListing, segments: Sequence[Segment], override: Override | None
) -> Match:
    """Look all blobs of a listing up in the segments; the first that has one wins.

    Raises CorruptIndex.
    """
    count = len(listing.oids)
    oids = np.array(listing.oids, f"S{len(listing.oids[0]) if count else 20}")
    segment, document = np.zeros(count, np.uint16), np.zeros(count, np.uint32)
    flags, skip = np.zeros(count, np.uint8), np.zeros(count, np.uint8)
    found = np.zeros(count, np.bool_)
    for number, each in enumerate(segments):
        pending = np.flatnonzero(~found)
        rows = each.find(oids[pending])
        here = pending[rows >= 0]
        segment[here] = number
        document[here] = rows[rows >= 0]
        flags[here] = each.document_flags[document[here]]
        found[here] = True
        absent = pending[rows < 0]
        skip[absent] = np.maximum(skip[absent], each.find_skipped(oids[absent]))
    skip[found] = 0
    return _judge_sizes(
        listing, Match(segment, document, skip, flags, ~found & (skip == 0)), override
    )


def _judge_sizes(listing: TreeListing, match: Match, override: Override | None) -> Match:
    """Apply the size limit by path: one blob may stand at a path that a glob lets in, and at
    another that none does."""
    oversize = (match.flags & DocumentFlags.OVERSIZE.value) != 0
    oversize |= match.skip == SkipReason.TOO_LARGE
    at = np.flatnonzero(oversize)
    if not len(at):
        return match
    allowed = np.zeros(len(oversize), np.bool_)
    if override is not None:
        allowed[at] = override([listing.paths[i] for i in at.tolist()])
    skip, missing = match.skip.copy(), match.missing.copy()
    missing |= allowed & (skip == SkipReason.TOO_LARGE)
    skip[missing] = 0
    skip[oversize & ~allowed] = SkipReason.TOO_LARGE
    return Match(match.segment, match.document, skip, match.flags, missing)


def make_manifest(
    commit: str,
    listing: TreeListing,
    match: Match,
    segments: Sequence[Segment],
    *,
    options: str,
    group: str = "",
    scope: Sequence[bytes] = (),
) -> Manifest:
    """The manifest of a commit of which no blob is missing."""
    kept = match.skip == 0
    used, numbers = np.unique(match.segment[kept], return_inverse=True)
    paths = [path for path, keep in zip(listing.paths, kept.tolist(), strict=True) if keep]
    return Manifest(
        commit=commit,
        group=group,
        scope=tuple(scope),
        options=options,
        segments=tuple(segments[number].id for number in used.tolist()),
        paths=PathTable.of(paths),
        path_segment=numbers.astype(np.uint16),
        path_document=match.document[kept],
        skipped=_count_skipped(listing, match, kept),
    )


def _count_skipped(listing: TreeListing, match: Match, kept: Bools) -> dict[str, int]:
    counts = Counter(_REASONS[SkipReason(why)] for why in match.skip[~kept].tolist())
    counts["submodule"] = listing.submodules
    counts["unsupported_path"] = listing.unsupported_paths
    pointers = (match.flags[kept] & DocumentFlags.LFS_POINTER.value) != 0
    counts["lfs_pointer"] = int(np.count_nonzero(pointers))
    return {reason: count for reason, count in sorted(counts.items()) if count}
