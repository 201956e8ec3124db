"""Sections too long to be checked at once: each page is checked when it is first used.

Checking a whole segment of 1 GB takes 0.5 s, too long before a first search, and every
check that a search repeats costs it time. So a page is checked once per process: CRC-32
runs at about 2 GB/s, 2 microseconds a page, and later searches pay one look at a bitmap.
"""

import zlib

import numpy as np

from search.index.format import U32, Bools, CorruptIndex


class CheckedPages:
    """The bytes of one section, with a checksum per page.

    Safe for threads: a page is only ever marked as good, so two threads can at worst
    check the same page twice.
    """

    def __init__(self, name: str, data: memoryview, checksums: U32, page_bytes: int) -> None:
        if page_bytes <= 0 or len(checksums) != -(-len(data) // page_bytes):
            raise CorruptIndex(name, "number of page checksums does not fit the section")
        self._name = name
        self._data = data
        self._checksums = checksums
        self._page_bytes = page_bytes
        self._good: Bools = np.zeros(len(checksums), np.bool_)

    def check(self, start: int, end: int) -> None:
        """Make sure that the bytes [start, end) are what the builder wrote.

        Raises:
            CorruptIndex: a page in the range is damaged.
        """
        if start >= end:
            return
        for page in range(start // self._page_bytes, (end - 1) // self._page_bytes + 1):
            if not self._good[page]:
                self._check_page(page)

    def check_all(self) -> None:
        """Check every page. Raises CorruptIndex."""
        self.check(0, len(self._data))

    def _check_page(self, page: int) -> None:
        at = page * self._page_bytes
        if zlib.crc32(self._data[at : at + self._page_bytes]) != self._checksums[page]:
            raise CorruptIndex(self._name, f"damaged page at byte {at}")
        self._good[page] = True
