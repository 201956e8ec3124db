"""Feeds texts to the kernel and writes what comes out: one part of a segment.

A part is what one process makes of its share of the blobs: content, newlines, and a run of
postings for each chunk of 65,536 blocks, all in files of the staging folder, and the arrays
of its documents and blocks. `writer.py` joins the parts.
"""

import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from search.index.format import (
    BLOCK_BYTES,
    HEADER,
    MAX_CHUNKS,
    MAX_DOCUMENT_BYTES,
    U8,
    U32,
    DocumentFlags,
    SkipReason,
)
from search.index.text import LFS_LONGEST, LFS_PREFIX, decode_utf16
from search.kernel.host import Kernel, build_kernel

INPUT_BYTES = 8 << 20  # texts that are handed to the kernel at once
MAX_TEXT_BYTES = MAX_DOCUMENT_BYTES * 3 // 2  # UTF-16 grows when it becomes UTF-8
_MAX_BATCH = 1 << 16
_CHUNK_ROWS = (1 << 16) + 2
_EMIT_BYTES = 8 << 20
_EMIT_ENTRIES = 1 << 19
_TRIGRAM_WORDS = (1 << 24) // 64
_SLACK = 1 << 16  # the kernel reads a few bytes beyond a text

_UTF16 = 2
_BINARY = 1 << 31


@dataclass(frozen=True)
class Run:
    """The postings of one chunk: a file of them, and codes, sizes and counts beside it."""

    path: Path
    key: int
    blocks: int
    columns: U32  # 3 rows

    @property
    def columns_path(self) -> Path:
        return columns_path(self.path)


def columns_path(run: Path) -> Path:
    return run.with_name(f"{run.name}.npy")


@dataclass(frozen=True)
class Part:
    """What one process made. Positions and newlines count from the start of the part."""

    number: int
    text_bytes: int
    newlines: int
    oids: bytes
    lengths: U32
    flags: U8
    document_blocks: U32
    block_position: U32
    block_newline: U32
    block_check: U32
    skip_oids: bytes
    skip_why: U8
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Texts:
    """Some texts in the memory of the kernel, in ascending order of address."""

    oids: list[bytes]
    spans: list[tuple[int, int]]  # address, length
    flags: npt.NDArray[np.uint8] | None  # of documents that are normalised already


class Memory:
    """How the memory of a building kernel is laid out. Pages never touched cost nothing."""

    def __init__(self, kernel: Kernel) -> None:
        self.batch = kernel.heap
        self.columns = self.batch + 1024
        self.documents = self.batch + 4096
        self.blocks = self.documents + _MAX_BATCH * 16
        self.newlines = self.blocks + _CHUNK_ROWS * 8
        self.input = self.newlines + 2 * MAX_TEXT_BYTES
        self.input_end = self.input + MAX_TEXT_BYTES
        self.decoded = self.input_end + _SLACK
        self.arena = self.decoded + MAX_TEXT_BYTES + _SLACK
        kernel.reserve(self.arena + (1 << 20))


class Extractor:
    """Makes one part. Not for use by several threads."""

    def __init__(self, staging: Path, number: int, keys: range, max_blob_bytes: int) -> None:
        """`keys` are for the chunks of this part; blobs above `max_blob_bytes` get a flag."""
        self.kernel = build_kernel()
        self.memory = Memory(self.kernel)
        self._staging = staging
        self._number = number
        self._keys = keys
        self._max_blob_bytes = max_blob_bytes
        self._rows = self.kernel.view(self.memory.documents, _MAX_BATCH * 4, np.uint32)
        self._rows = self._rows.reshape(-1, 4)
        self._batch = self.kernel.view(self.memory.batch, 10, np.uint32)
        self._position = self._block = self._newline = 0
        self._documents: list[tuple[bytes, U32, U8, U32]] = []
        self._blocks: list[npt.NDArray[np.uint32]] = []
        self._checks: list[int] = []
        self._skipped: list[tuple[bytes, SkipReason]] = []
        self._runs: list[Run] = []
        self._content = _create(content_path(staging, number))
        if number == 0:
            os.lseek(self._content, HEADER.size, os.SEEK_SET)
        self._newlines = _create(newlines_path(staging, number))

    def run(self, source: Iterator[Texts], tick: Callable[[], None]) -> Part:
        """Take all texts of the source; call `tick` now and then."""
        self.kernel.reset(self.memory.arena)
        try:
            for texts in source:
                tick()
                for start in range(0, len(texts.oids), _MAX_BATCH):
                    self._take(texts, start, min(start + _MAX_BATCH, len(texts.oids)))
            self._end_chunk()
        finally:
            os.close(self._content)
            os.close(self._newlines)
        return self._part()

    def _take(self, texts: Texts, start: int, end: int) -> None:
        count = end - start
        self._rows[:count, :2] = texts.spans[start:end]
        target = texts.spans[start][0]
        done = 0
        while done < count:
            taken, target = self._add(texts, start, done, count - done, target)
            done += taken
            if done == count:
                return
            if self._rows[done, 3] == _UTF16:
                self._take_utf16(texts, start, done)
                done += 1
            elif not self._block:
                raise AssertionError("a document does not fit an empty chunk")
            else:
                self._end_chunk()

    def _add(self, texts: Texts, start: int, done: int, count: int, target: int) -> tuple[int, int]:
        """Give the kernel rows [done, done + count). Returns how many it took, and where the
        next text goes."""
        memory = self.memory
        normalise = int(texts.flags is None)
        self._batch[:] = (
            memory.documents + 16 * done,
            count,
            normalise,
            BLOCK_BYTES,
            target,
            self._position,
            self._block,
            self._newline,
            memory.blocks,
            memory.newlines,
        )
        taken = self.kernel.add(memory.batch)
        text_end, position, block, newline = self._batch[4:8].tolist()
        first = start + done
        self._keep_documents(texts, first, self._rows[done : done + taken], target)
        self._keep_blocks(block - self._block, target)
        _write(self._content, self.kernel.view(target, text_end - target))
        _write(self._newlines, self.kernel.view(memory.newlines, newline - self._newline, "<u2"))
        self._position, self._block, self._newline = position, block, newline
        return taken, text_end

    def _take_utf16(self, texts: Texts, start: int, row: int) -> None:
        address, length = texts.spans[start + row]
        decoded = decode_utf16(self.kernel.view(address, length).tobytes())
        if decoded is None:
            self._skipped.append((texts.oids[start + row], SkipReason.ENCODING))
            return
        self.kernel.view(self.memory.decoded, len(decoded))[:] = np.frombuffer(decoded, np.uint8)
        self._rows[row, :2] = self.memory.decoded, len(decoded)
        documents = len(self._documents)
        taken, _ = self._add(texts, start, row, 1, self.memory.decoded)
        if not taken:
            self._end_chunk()
            self._add(texts, start, row, 1, self.memory.decoded)
        for _, _, flags, _ in self._documents[documents:]:
            flags |= DocumentFlags.UTF16.value

    def _keep_documents(self, texts: Texts, first: int, rows: U32, target: int) -> None:
        binary = rows[:, 3] >= _BINARY
        for i in np.flatnonzero(binary).tolist():
            self._skipped.append((texts.oids[first + i], SkipReason.BINARY))
        good = np.flatnonzero(~binary)
        if not len(good):
            return
        lengths, blocks = rows[good, 1].copy(), rows[good, 2].copy()
        if texts.flags is None:
            flags = rows[good, 3].astype(np.uint8)
            sizes = np.array([texts.spans[first + i][1] for i in good.tolist()])
            flags[sizes > self._max_blob_bytes] |= DocumentFlags.OVERSIZE.value
            self._flag_lfs_pointers(flags, lengths, target)
        else:
            flags = texts.flags[first + good]
        oids = b"".join(texts.oids[first + i] for i in good.tolist())
        self._documents.append((oids, lengths, flags, blocks))

    def _flag_lfs_pointers(self, flags: U8, lengths: U32, target: int) -> None:
        starts = target + np.cumsum(lengths, dtype=np.int64) - lengths
        small = np.flatnonzero((lengths >= len(LFS_PREFIX)) & (lengths <= LFS_LONGEST))
        for i in small.tolist():
            if self.kernel.view(int(starts[i]), len(LFS_PREFIX)).tobytes() == LFS_PREFIX:
                flags[i] |= DocumentFlags.LFS_POINTER.value

    def _keep_blocks(self, count: int, target: int) -> None:
        if not count:
            return
        rows = self.kernel.view(self.memory.blocks, 2 * count, np.uint32).reshape(-1, 2).copy()
        self._blocks.append(rows)
        bounds = (rows[:, 0] - np.uint32(self._position)).tolist()
        length = int(self._batch[5]) - self._position
        text = self.kernel.view(target, length).data
        for start, end in zip(bounds, [*bounds[1:], length], strict=True):
            self._checks.append(zlib.crc32(text[start:end]))

    def _end_chunk(self) -> None:
        """Write the postings of the chunk as a run, and begin the next."""
        if not self._block:
            return
        if len(self._runs) == len(self._keys):
            raise AssertionError("too many chunks for one segment")
        path = self._staging / f"run.{self._number}.{len(self._runs)}"
        columns = self._write_run(path)
        np.save(columns_path(path), columns)
        self._runs.append(Run(path, self._keys[len(self._runs)], self._block, columns))
        self.kernel.reset(self.memory.arena)
        self._block = 0

    def _write_run(self, path: Path) -> U32:
        top = _page(self.memory.arena + self.kernel.used())
        codes, sizes, counts = (top + 4 * _EMIT_ENTRIES * i for i in range(3))
        postings = top + 12 * _EMIT_ENTRIES
        self.kernel.reserve(postings + _EMIT_BYTES + _SLACK)
        out = self.kernel.view(self.memory.columns, 6, np.uint32)
        key = self._keys[len(self._runs)]
        word, pieces = 0, list[U32]()
        handle = _create(path)
        try:
            while word < _TRIGRAM_WORDS:
                out[:] = codes, sizes, counts, postings, 0, 0
                word = self.kernel.emit(
                    word, key, self._block, _EMIT_BYTES, _EMIT_ENTRIES, self.memory.columns
                )
                entries, size = out[4:].tolist()
                views = (self.kernel.view(at, entries, np.uint32) for at in (codes, sizes, counts))
                pieces.append(np.stack(list(views)))
                _write(handle, self.kernel.view(postings, size))
        finally:
            os.close(handle)
        return np.concatenate(pieces, axis=1)

    def _part(self) -> Part:
        documents, blocks = self._documents, self._blocks
        rows = np.concatenate(blocks) if blocks else np.zeros((0, 2), np.uint32)
        return Part(
            number=self._number,
            text_bytes=self._position,
            newlines=self._newline,
            oids=b"".join(d[0] for d in documents),
            lengths=_join([d[1] for d in documents], np.uint32),
            flags=_join([d[2] for d in documents], np.uint8),
            document_blocks=_join([d[3] for d in documents], np.uint32),
            block_position=rows[:, 0],
            block_newline=rows[:, 1],
            block_check=np.array(self._checks, np.uint32),
            skip_oids=b"".join(oid for oid, _ in self._skipped),
            skip_why=np.array([why for _, why in self._skipped], np.uint8),
            runs=tuple(self._runs),
        )


def content_path(staging: Path, number: int) -> Path:
    """Content of a part. That of part 0 lies where it will be in the finished segment."""
    return staging / f"content.{number}"


def newlines_path(staging: Path, number: int) -> Path:
    return staging / f"newlines.{number}"


def key_range(number: int, parts: int) -> range:
    """The container keys that part `number` of `parts` may use."""
    share = MAX_CHUNKS // parts
    return range(number * share, (number + 1) * share)


def _create(path: Path) -> int:
    return os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o644)


def _write(handle: int, data: npt.NDArray[np.generic]) -> None:
    left = data.data.cast("B") if len(data) else memoryview(b"")
    while left:
        left = left[os.write(handle, left) :]


def _join(arrays: list[npt.NDArray[np.generic]], kind: type[np.generic]) -> npt.NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.zeros(0, kind)


def _page(address: int) -> int:
    return -(-address // _SLACK) * _SLACK
