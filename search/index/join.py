"""Joins the postings of several runs into one section."""

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from search.index.extract import Run, columns_path
from search.index.format import I64, U32
from search.kernel.host import Kernel

_RANGE_BYTES = 6 << 20  # postings that are joined at once


@dataclass(frozen=True)
class Dictionary:
    """Which trigrams occur, and the bytes and blocks of each one's posting."""

    codes: U32
    sizes: I64
    counts: I64


def plan_dictionary(runs: Sequence[Run]) -> Dictionary:
    """The dictionary of the joined runs."""
    columns = np.concatenate([run.columns for run in runs], axis=1)
    if len(runs) == 1:
        codes, sizes, counts = columns
        return Dictionary(codes, sizes.astype(np.int64), counts.astype(np.int64))
    codes, row = np.unique(columns[0], return_inverse=True)
    sizes = np.bincount(row, weights=columns[1]).astype(np.int64)
    counts = np.bincount(row, weights=columns[2]).astype(np.int64)
    return Dictionary(codes, sizes, counts)


def plan_ranges(dictionary: Dictionary) -> list[tuple[int, int, int]]:
    """Ranges of codes of a few MB each: first code, end code, offset in the section."""
    offsets = np.concatenate(([0], np.cumsum(dictionary.sizes)))
    steps = np.arange(0, offsets[-1], _RANGE_BYTES)
    firsts = np.unique(np.searchsorted(offsets[:-1], steps))
    codes = dictionary.codes[firsts].tolist()
    ends = [*codes[1:], 1 << 24]
    return list(zip(codes, ends, offsets[firsts].tolist(), strict=True))


def join_ranges(
    kernel: Kernel,
    scratch: int,
    runs: Sequence[Path],
    ranges: Sequence[tuple[int, int, int]],
    target: Path,
) -> None:
    """Join some ranges of `runs`, in order of their keys, and write them to `target`.

    The third element of a range is where its postings go in that file. `scratch` is kernel
    memory that nothing else needs any more.
    """
    inputs = [_RunFile(path) for path in runs]
    handle = os.open(target, os.O_WRONLY | os.O_CLOEXEC)
    try:
        for low, high, offset in ranges:
            data = _join_range(kernel, scratch, inputs, low, high)
            while data:
                written = os.pwrite(handle, data, offset)
                data, offset = data[written:], offset + written
    finally:
        os.close(handle)
        for each in inputs:
            each.close()


class _RunFile:
    def __init__(self, path: Path) -> None:
        self.codes, self.sizes, self.counts = np.load(columns_path(path))
        self.offsets = np.concatenate(([0], np.cumsum(self.sizes, dtype=np.int64)))
        self._handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        os.close(self._handle)

    def read(self, first: int, end: int, target: npt.NDArray[np.uint8]) -> None:
        """Read the postings of the entries [first, end)."""
        left, offset = target.data, int(self.offsets[first])
        while left:
            size = os.preadv(self._handle, [left], offset)
            if not size:
                raise OSError(errno.EIO, "a run is shorter than its columns say")
            left, offset = left[size:], offset + size


def _join_range(
    kernel: Kernel, scratch: int, runs: Sequence[_RunFile], low: int, high: int
) -> memoryview:
    bounds = [np.searchsorted(run.codes, (low, high)).tolist() for run in runs]
    entries = sum(end - first for first, end in bounds)
    size = sum(
        int(run.offsets[end] - run.offsets[first])
        for run, (first, end) in zip(runs, bounds, strict=True)
    )
    at = scratch + 24 * (len(runs) + 1)
    kernel.reserve(at + 24 * entries + 2 * size + 8 * len(runs) + (1 << 16))
    rows = []
    for run, (first, end) in zip(runs, bounds, strict=True):
        count = end - first
        columns = [at + 4 * count * i for i in range(3)]
        for address, column in zip(columns, (run.codes, run.sizes, run.counts), strict=True):
            kernel.view(address, count, np.uint32)[:] = column[first:end]
        length = int(run.offsets[end] - run.offsets[first])
        at += 12 * count
        run.read(first, end, kernel.view(at, length))
        rows.append((*columns, at, count, 0))
        at += length + 3 & ~3
    result = at + 12 * entries
    rows.append((at, at + 4 * entries, at + 8 * entries, result, 0, 0))
    table = kernel.view(scratch, 6 * len(rows), np.uint32)
    table[:] = np.array(rows, np.uint32).ravel()
    kernel.merge(scratch, len(runs), scratch + 24 * len(runs))
    return kernel.view(result, int(table[-1])).data
