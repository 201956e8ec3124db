"""Parts of a segment too long to be checked at once: each piece is checked on first use.

Checking a whole segment of 1 GB takes 0.7 s, too long before a first search, and a check
that every search repeats costs every search. So a piece is checked once per process:
CRC-32 runs at about 2 GB/s, 2 microseconds for 4 KiB, and later searches pay one look at
an array of booleans.
"""

import zlib

import numpy as np
import numpy.typing as npt

from search.index.format import U32, Bools, CorruptIndex


class CheckedPieces:
    """Bytes of a segment, in pieces that have a checksum each.

    Safe for threads: a piece is only ever marked as good, so two threads can at worst check
    the same one twice.
    """

    def __init__(self, name: str, data: memoryview, bounds: U32, checksums: U32) -> None:
        """Piece i is `data[bounds[i]:bounds[i + 1]]`. Raises CorruptIndex."""
        if len(bounds) != len(checksums) + 1 or bounds[-1] != len(data):
            raise CorruptIndex(name, "checksums do not fit what they are of")
        self._name = name
        self._data = data
        self._bounds = bounds
        self._checksums = checksums
        self._good: Bools = np.zeros(len(checksums), np.bool_)

    def check(self, pieces: npt.NDArray[np.integer]) -> None:
        """Make sure that these pieces are what the builder wrote.

        Raises:
            CorruptIndex: one of them is damaged.
        """
        good = self._good[pieces]
        if good.all():
            return
        for piece in pieces[~good].tolist():
            start, end = self._bounds[piece : piece + 2].tolist()
            if zlib.crc32(self._data[start:end]) != self._checksums[piece]:
                raise CorruptIndex(self._name, f"damaged at byte {start}")
            self._good[piece] = True

    def check_range(self, start: int, end: int) -> None:
        """Make sure of all pieces that have a byte in [start, end). Raises CorruptIndex."""
        if start < end:
            first = int(np.searchsorted(self._bounds, start, "right")) - 1
            last = int(np.searchsorted(self._bounds, end, "left"))
            if not self._good[first:last].all():
                self.check(np.arange(first, last))

    def check_all(self) -> None:
        """Check every piece. Raises CorruptIndex."""
        self.check(np.arange(len(self._good)))
