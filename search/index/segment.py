"""Reads a segment (format.py): one immutable file, mapped into memory.

Opening reads the section table and the meta section. Every other section is checked when
it is first used, so that opening many segments is cheap. All of it may be used by several
threads at once.
"""

import mmap
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from search.index.format import (
    I64,
    PAGE_BYTES,
    U8,
    U16,
    U32,
    Bools,
    CorruptIndex,
    Section,
    SegmentMeta,
    decode_table,
    unpack_column,
)
from search.index.oids import OidIndex
from search.index.pages import CheckedPieces
from search.kernel.host import query_kernel

_NO_BLOCKS = np.zeros(0, np.uint32)


@dataclass(frozen=True)
class Posting:
    """The blocks that hold one trigram, as they lie in the file (format.py)."""

    cardinality: int
    data: memoryview


class Segment:
    """One open segment. Positions count bytes from the start of `content`.

    A caller that looks at `content` first calls `check_blocks` or `check_range` for what it
    is about to look at; `text` does so itself.
    """

    def __init__(self, path: Path) -> None:
        """Map the file at `path`.

        Raises:
            FileNotFoundError: there is no such file.
            CorruptIndex: the file is empty, cut off, damaged or of another format.
        """
        self.path = path
        self._data = _map_file(path)
        self._sections = decode_table(self._data, path.name)
        self.meta = SegmentMeta.decode(bytes(self._checked("meta")), path.name)
        self.id = self.meta.segment_id
        self.content = self._raw("content")

    # Documents

    @cached_property
    def document_oids(self) -> npt.NDArray[np.bytes_]:
        """Object id by document number, S20 or S32. Trailing zero bytes read as cut off."""
        return np.frombuffer(self._checked("oids"), f"S{self.meta.oid_bytes}")

    @cached_property
    def document_length(self) -> U32:
        """Bytes of content of each document."""
        return self._array("lengths", np.dtype("<u4"), len(self.document_oids))

    @cached_property
    def document_start(self) -> U32:
        """First byte of each document."""
        ends = np.cumsum(self.document_length, dtype=np.uint64)
        if int(ends[-1] if len(ends) else 0) != len(self.content):
            raise CorruptIndex(self.path.name, "lengths of documents do not add up")
        return (ends - self.document_length).astype(np.uint32)

    @cached_property
    def document_flags(self) -> U8:
        """`DocumentFlags` of each document."""
        return self._array("flags", np.dtype("u1"), len(self.document_oids))

    @cached_property
    def document_blocks(self) -> U32:
        """Number of blocks of each document; 0 for an empty one."""
        return self._array("blocks", np.dtype("<u4"), len(self.document_oids))

    @cached_property
    def document_first_block(self) -> I64:
        """Number of the first block of each document, and of blocks in all at the end."""
        return np.concatenate(([0], np.cumsum(self.document_blocks, dtype=np.int64)))

    def oid(self, document: int) -> bytes:
        """Object id of one document, at its full length."""
        width = self.meta.oid_bytes
        return bytes(self.document_oids[document]).ljust(width, b"\0")

    def find(self, oids: Sequence[bytes] | npt.NDArray[np.bytes_]) -> I64:
        """Document numbers of object ids, -1 where the segment has no such document."""
        return self._oid_index.find(np.asarray(oids, f"S{self.meta.oid_bytes}"))

    @cached_property
    def _oid_index(self) -> OidIndex:
        order = self._array("order", np.dtype("<u4"), len(self.document_oids))
        return OidIndex(self.document_oids, order)

    def find_skipped(self, oids: Sequence[bytes] | npt.NDArray[np.bytes_]) -> U8:
        """`SkipReason` of object ids that were looked at and left out; 0 for all others."""
        why = self._array("skip_why", np.dtype("u1"), len(self.skipped_oids))
        rows = self._skip_index.find(np.asarray(oids, f"S{self.meta.oid_bytes}"))
        found = np.zeros(len(rows), np.uint8)
        found[rows >= 0] = why[rows[rows >= 0]]
        return found

    @cached_property
    def skipped_oids(self) -> npt.NDArray[np.bytes_]:
        """Object ids that were looked at and left out."""
        return np.frombuffer(self._checked("skip_oids"), f"S{self.meta.oid_bytes}")

    @cached_property
    def _skip_index(self) -> OidIndex:
        oids = self.skipped_oids
        return OidIndex(oids, np.argsort(oids, kind="stable").astype(np.uint32))

    # Blocks

    @cached_property
    def block_start(self) -> U32:
        """First byte of each block, and the end of content: one more than there are blocks."""
        starts = self._array("starts", np.dtype("<u4"))
        if len(starts) != self.document_first_block[-1] + 1 or starts[-1] != len(self.content):
            raise CorruptIndex(self.path.name, "blocks do not cover the content")
        return starts

    @cached_property
    def block_newline(self) -> U32:
        """Newlines in content before each block, and their total at the end."""
        return self._array("line_starts", np.dtype("<u4"), len(self.block_start))

    @cached_property
    def block_document(self) -> U32:
        """Document number of each block."""
        numbers = np.arange(len(self.document_blocks), dtype=np.uint32)
        return np.repeat(numbers, self.document_blocks)

    @cached_property
    def newlines(self) -> U16:
        """Newlines relative to their block; see `lines.py`, which checks and uses them."""
        return np.frombuffer(self._raw("newlines"), "<u2")

    def check_blocks(self, blocks: npt.NDArray[np.integer]) -> None:
        """Make sure that the content of these blocks is what the builder wrote.

        Raises:
            CorruptIndex: it is not.
        """
        self._content_pieces.check(blocks)

    def check_range(self, start: int, end: int) -> None:
        """The same for the bytes [start, end) of content. Raises CorruptIndex."""
        self._content_pieces.check_range(start, end)

    def check_newlines(self, blocks: npt.NDArray[np.integer]) -> None:
        """The same for the newline positions of these blocks. Raises CorruptIndex."""
        if not self._good_lines[blocks].all():
            for block in np.unique(blocks[~self._good_lines[blocks]]).tolist():
                first, last = self.block_newline[block : block + 2].tolist()
                self._newline_pieces.check_range(2 * first, 2 * last)
                self._good_lines[block] = True

    def check_all_newlines(self) -> None:
        """The same for the newline positions of all blocks. Raises CorruptIndex."""
        if not self._good_lines.all():
            self._newline_pieces.check_all()
            self._good_lines[:] = True

    def text(self, document: int) -> memoryview:
        """The checked text of one document. Raises CorruptIndex."""
        start = int(self.document_start[document])
        end = start + int(self.document_length[document])
        self._content_pieces.check_range(start, end)
        return self.content[start:end]

    @cached_property
    def _good_lines(self) -> Bools:
        return np.zeros(len(self.block_start) - 1, np.bool_)

    # Trigrams

    @cached_property
    def codes(self) -> U32:
        """Trigram codes that occur, ascending."""
        return np.cumsum(self._column("codes", self.meta.trigrams), dtype=np.uint32)

    @cached_property
    def posting_cardinality(self) -> U32:
        """Number of blocks of each posting, in the order of `codes`."""
        return self._column("counts", len(self.codes))

    @cached_property
    def posting_offset(self) -> I64:
        """First byte of each posting, and the length of all at the end."""
        sizes = self._column("sizes", len(self.codes))
        offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        if offsets[-1] != len(self._raw("postings")):
            raise CorruptIndex(self.path.name, "sizes of postings do not add up")
        return offsets

    def cardinality(self, trigram: int) -> int:
        """Number of blocks that hold the trigram; 0 if none does."""
        row = self._row(trigram)
        return 0 if row is None else int(self.posting_cardinality[row])

    def cardinalities(self, trigrams: U32) -> I64:
        """The same for many trigrams at once."""
        counts = np.zeros(len(trigrams), np.int64)
        if len(self.codes):
            rows = np.searchsorted(self.codes, trigrams)
            known = self.codes.take(rows, mode="clip") == trigrams
            counts[known] = self.posting_cardinality[rows[known]]
        return counts

    def postings(self, trigram: int) -> Posting | None:
        """The posting of a trigram, or None if no block holds it. Raises CorruptIndex."""
        row = self._row(trigram)
        if row is None:
            return None
        return Posting(int(self.posting_cardinality[row]), self._posting(row))

    def posting_bytes(self, row: int) -> memoryview:
        """The containers of the posting of `codes[row]`. Raises CorruptIndex."""
        return self._posting(row)

    def intersect(self, trigrams: Sequence[int]) -> U32:
        """Blocks that hold all of the trigrams, ascending.

        `trigrams` must not be empty: every block holds all of none.

        Raises:
            CorruptIndex: a posting that is needed is damaged.
        """
        wanted = np.array(sorted(set(trigrams)), np.uint32)
        if not len(self.codes):
            return _NO_BLOCKS
        rows = np.searchsorted(self.codes, wanted)
        if (self.codes.take(rows, mode="clip") != wanted).any():
            return _NO_BLOCKS
        # Rarest first: the cost is then that of the rarest list, and the rest only thin it.
        rows = rows[np.argsort(self.posting_cardinality[rows], kind="stable")]
        starts, ends = self.posting_offset[rows], self.posting_offset[rows + 1]
        if not self._good_postings[rows].all():
            for row in rows.tolist():
                self._posting(row)
        found = query_kernel().intersect(self._posting_address + starts, ends - starts)
        return self._block_numbers(found)

    def _row(self, trigram: int) -> int | None:
        row = int(np.searchsorted(self.codes, trigram))
        return row if row < len(self.codes) and self.codes[row] == trigram else None

    def _posting(self, row: int) -> memoryview:
        start, end = self.posting_offset[row : row + 2].tolist()
        if not self._good_postings[row]:
            self._posting_pieces.check_range(start, end)
            self._good_postings[row] = True
        return self._raw("postings")[start:end]

    @cached_property
    def _posting_address(self) -> int:
        return int(np.frombuffer(self._raw("postings"), np.uint8).ctypes.data)

    def _block_numbers(self, keyed: U32) -> U32:
        """Turn container key << 16 | number into block numbers."""
        if len(self.meta.chunk_first_block) == 1 and not self.meta.chunk_first_block[0]:
            return keyed
        numbers: U32 = self._chunk_base[keyed >> 16] + (keyed & 0xFFFF)
        return numbers

    @cached_property
    def _chunk_base(self) -> U32:
        return np.array(self.meta.chunk_first_block, np.uint32)

    @cached_property
    def _good_postings(self) -> Bools:
        return np.zeros(len(self.codes), np.bool_)

    # Sections

    @cached_property
    def _content_pieces(self) -> CheckedPieces:
        checksums = self._array("block_checks", np.dtype("<u4"))
        return CheckedPieces(self.path.name, self.content, self.block_start, checksums)

    @cached_property
    def _newline_pieces(self) -> CheckedPieces:
        return self._pages("newlines")

    @cached_property
    def _posting_pieces(self) -> CheckedPieces:
        return self._pages("postings")

    def check_all(self) -> None:
        """Check every byte of the file that a section covers. Raises CorruptIndex."""
        for name in self._sections:
            if name not in ("content", "newlines", "postings"):
                self._checked(name)
        for pieces in (self._content_pieces, self._newline_pieces, self._posting_pieces):
            pieces.check_all()

    def _section(self, name: str) -> Section:
        try:
            return self._sections[name]
        except KeyError:
            raise CorruptIndex(self.path.name, f"section {name} is missing") from None

    def _raw(self, name: str) -> memoryview:
        section = self._section(name)
        return self._data[section.offset : section.offset + section.length]

    def _checked(self, name: str) -> memoryview:
        data = self._raw(name)
        if zlib.crc32(data) != self._section(name).checksum:
            raise CorruptIndex(self.path.name, f"damaged section {name}")
        return data

    def _pages(self, name: str) -> CheckedPieces:
        data = self._raw(name)
        checksums = self._array(f"{name}.pages", np.dtype("<u4"))
        bounds = np.arange(len(checksums) + 1, dtype=np.int64) * PAGE_BYTES
        bounds[-1] = len(data)
        return CheckedPieces(self.path.name, data, bounds.astype(np.uint32), checksums)

    def _array(self, name: str, kind: np.dtype[Any], length: int = -1) -> npt.NDArray[Any]:
        data = self._checked(name)
        if len(data) % kind.itemsize or (length >= 0 and len(data) != length * kind.itemsize):
            raise CorruptIndex(self.path.name, f"section {name} has the wrong length")
        return np.frombuffer(data, kind)

    def _column(self, name: str, length: int) -> U32:
        try:
            return unpack_column(self._checked(name), length)
        except ValueError as exc:
            raise CorruptIndex(self.path.name, f"section {name}: {exc}") from exc


def _map_file(path: Path) -> memoryview:
    with path.open("rb") as handle:
        if not os.fstat(handle.fileno()).st_size:
            raise CorruptIndex(path.name, "empty file")
        # No lease is needed: while the file is mapped, its bytes stay, even after the
        # collector has removed its name.
        return memoryview(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ))
