"""Makes one segment file of the parts that the builders left in a staging folder."""

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from search.index.extract import Part, Run, content_path, newlines_path
from search.index.format import (
    ALIGNMENT,
    FORMAT,
    HEADER,
    I64,
    MAGIC,
    MAX_CONTENT_BYTES,
    PAGE_BYTES,
    Section,
    SegmentMeta,
    SkipReason,
    encode_table,
    pack_column,
    page_checksums,
)
from search.index.join import plan_dictionary, plan_ranges

_PIECE_BYTES = 1024 * PAGE_BYTES

# (runs in order of their keys, ranges, file to write to)
Joiner = Callable[[Sequence[Run], Sequence[tuple[int, int, int]], Path], None]


def write_segment(
    parts: Sequence[Part],
    skipped: Sequence[tuple[bytes, SkipReason]],
    staging: Path,
    *,
    segment_id: str,
    options: str,
    oid_bytes: int,
    join: Joiner,
) -> Path:
    """Join parts to a segment in the staging folder and return its path. Not yet durable.

    `skipped` are blobs that were left out before their text was looked at.
    """
    path = content_path(staging, 0)
    writer = _Writer(path, HEADER.size)
    try:
        _write_content(writer, parts, staging)
        first_block = _write_blocks(writer, parts)
        _write_documents(writer, parts, skipped, oid_bytes)
        trigrams = _write_postings(writer, parts, path, join)
        meta = SegmentMeta(
            segment_id=segment_id,
            options=options,
            oid_bytes=oid_bytes,
            trigrams=trigrams,
            chunk_first_block=first_block,
        )
        writer.add("meta", meta.encode())
        writer.finish()
    finally:
        writer.close()
    return path


class _Writer:
    """Appends sections to a file and remembers where they are."""

    def __init__(self, path: Path, end: int) -> None:
        self._handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._sections: list[Section] = []
        self.end = end

    def close(self) -> None:
        os.close(self._handle)

    def add(self, name: str, data: bytes | npt.NDArray[np.generic]) -> None:
        """Append a section that is checked as a whole."""
        view = memoryview(data if isinstance(data, bytes) else data.tobytes())
        offset = self.reserve(name, len(view), zlib.crc32(view))
        while view:
            written = os.pwrite(self._handle, view, offset)
            view, offset = view[written:], offset + written

    def reserve(self, name: str, length: int, checksum: int = 0) -> int:
        """Note a section that is written by somebody else; returns where it goes."""
        offset = -(-self.end // ALIGNMENT) * ALIGNMENT
        self._sections.append(Section(name, offset, length, checksum))
        self.end = offset + length
        return offset

    def copy(self, sources: Sequence[Path], offset: int) -> None:
        """Write whole files, end to end, from `offset` on."""
        for source in sources:
            handle = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
            try:
                while copied := os.copy_file_range(handle, self._handle, 1 << 30, None, offset):
                    offset += copied
            finally:
                os.close(handle)

    def add_page_checksums(self, name: str) -> None:
        """Append the checksums of the pages of a section that has been written."""
        section = next(s for s in self._sections if s.name == name)
        checksums = [
            page_checksums(memoryview(os.pread(self._handle, size, section.offset + at)))
            for at, size in _pieces(section.length)
        ]
        self.add(f"{name}.pages", np.concatenate([np.zeros(0, "<u4"), *checksums]).astype("<u4"))

    def finish(self) -> None:
        """Write the section table and the header."""
        offset = -(-self.end // ALIGNMENT) * ALIGNMENT
        table = encode_table(self._sections, offset)
        os.pwrite(self._handle, table, offset)
        os.ftruncate(self._handle, offset + len(table))
        os.pwrite(self._handle, HEADER.pack(MAGIC, FORMAT), 0)


def _pieces(length: int) -> Iterator[tuple[int, int]]:
    """Offset and size of pieces of a few MB each, of whole pages but for the last."""
    for at in range(0, length, _PIECE_BYTES):
        yield at, min(_PIECE_BYTES, length - at)


def _write_content(writer: _Writer, parts: Sequence[Part], staging: Path) -> None:
    total = sum(part.text_bytes for part in parts)
    if total > MAX_CONTENT_BYTES:
        raise ValueError("more content than a segment can hold")
    # The content of part 0 lies where it belongs already.
    offset = writer.reserve("content", total)
    writer.copy(
        [content_path(staging, part.number) for part in parts[1:]], offset + parts[0].text_bytes
    )
    newlines = writer.reserve("newlines", 2 * sum(part.newlines for part in parts))
    writer.copy([newlines_path(staging, part.number) for part in parts], newlines)
    writer.add_page_checksums("newlines")


def _write_blocks(writer: _Writer, parts: Sequence[Part]) -> list[int]:
    """Returns the number of the first block of each container key."""
    text = np.cumsum([0, *(part.text_bytes for part in parts)])
    newlines = np.cumsum([0, *(part.newlines for part in parts)])
    starts = [p.block_position + at for p, at in zip(parts, text.tolist(), strict=False)]
    lines = [p.block_newline + at for p, at in zip(parts, newlines.tolist(), strict=False)]
    writer.add("starts", _u32([*starts, text[-1:]]))
    writer.add("line_starts", _u32([*lines, newlines[-1:]]))
    writer.add("block_checks", _u32([part.block_check for part in parts]))
    first_block = [0] * (max((run.key for run in _runs(parts)), default=-1) + 1)
    before = 0
    for run in _runs(parts):
        first_block[run.key] = before
        before += run.blocks
    return first_block


def _write_documents(
    writer: _Writer,
    parts: Sequence[Part],
    skipped: Sequence[tuple[bytes, SkipReason]],
    oid_bytes: int,
) -> None:
    oids = b"".join(part.oids for part in parts)
    order = np.argsort(np.frombuffer(oids, f"S{oid_bytes}"), kind="stable")
    writer.add("oids", oids)
    writer.add("order", _u32([order]))
    writer.add("lengths", _u32([part.lengths for part in parts]))
    writer.add("blocks", _u32([part.document_blocks for part in parts]))
    writer.add("flags", np.concatenate([part.flags for part in parts]))
    skip_oids = [part.skip_oids for part in parts] + [oid for oid, _ in skipped]
    why = np.array([reason for _, reason in skipped], np.uint8)
    writer.add("skip_oids", b"".join(skip_oids))
    writer.add("skip_why", np.concatenate([*(part.skip_why for part in parts), why]))


def _write_postings(writer: _Writer, parts: Sequence[Part], path: Path, join: Joiner) -> int:
    """Returns how many trigrams occur."""
    runs = _runs(parts)
    if not runs:
        for name in ("postings", "postings.pages", "codes", "sizes", "counts"):
            writer.add(name, b"")
        return 0
    dictionary = plan_dictionary(runs)
    offset = writer.reserve("postings", int(dictionary.sizes.sum()))
    if len(runs) == 1:
        writer.copy([runs[0].path], offset)
    else:
        ranges = [(low, high, offset + at) for low, high, at in plan_ranges(dictionary)]
        join(runs, ranges, path)
    writer.add_page_checksums("postings")
    writer.add("codes", pack_column(np.diff(dictionary.codes.astype(np.int64), prepend=0)))
    writer.add("sizes", pack_column(dictionary.sizes))
    writer.add("counts", pack_column(dictionary.counts))
    return len(dictionary.codes)


def _runs(parts: Sequence[Part]) -> list[Run]:
    """All runs, in order of their keys and of their blocks in content."""
    return [run for part in parts for run in part.runs]


def _u32(arrays: Sequence[npt.NDArray[np.integer] | I64]) -> npt.NDArray[np.uint32]:
    return np.concatenate(arrays).astype("<u4")
