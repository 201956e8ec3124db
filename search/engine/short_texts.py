"""Candidate blocks for texts of two bytes, which have no trigram of their own.

A line of three bytes or more that holds `zx` holds a trigram `zx?` or `?zx`, and the blocks
of all of those are known. What is left are lines that are nothing but `zx`: they are looked
up in a table of all lines of two bytes, made once for each segment.
"""

from dataclasses import dataclass
from itertools import product
from weakref import WeakKeyDictionary

import numpy as np

from search.index.format import U16, U32
from search.index.segment import Segment
from search.pattern import Shape
from search.pattern.condition import Trigrams, trigrams_of

# Above these, looking up costs more than scanning the text.
_MOST_TRIGRAMS = 256
_MOST_SHARE = 4
# The table of a larger segment takes seconds to make, and that work cannot look at the clock.
_LARGEST_TABLE_BYTES = 256 << 20
# They fold to letters beyond ASCII, whose lines are longer.
_LONG_CASES = frozenset(b"ks")


def blocks_with_any(segment: Segment, shapes: tuple[Shape, ...]) -> U32 | None:
    """Blocks that may hold one of the texts, ascending; None if that cannot be told cheaply.

    Raises CorruptIndex.
    """
    found = []
    for shape in shapes:
        condition = trigrams_of(shape.text)
        if isinstance(condition, Trigrams):
            blocks: U32 | None = segment.intersect(condition.codes)
        elif len(shape.text) == 2:
            blocks = _blocks_with_pair(segment, shape)
        else:
            return None
        if blocks is None:
            return None
        found.append(blocks)
    return np.unique(np.concatenate(found)) if found else None


def _blocks_with_pair(segment: Segment, shape: Shape) -> U32 | None:
    if shape.folded and _LONG_CASES.intersection(shape.text):
        return None
    pair = shape.text[0] | shape.text[1] << 8
    codes = segment.codes
    first, last = np.searchsorted(codes, [pair << 8, pair + 1 << 8]).tolist()
    rows = np.concatenate([np.arange(first, last), np.flatnonzero(codes & 0xFFFF == pair)])
    blocks_in_all = len(segment.block_start) - 1
    common = segment.posting_cardinality[rows].sum() * _MOST_SHARE > blocks_in_all
    if len(rows) > _MOST_TRIGRAMS or common or len(segment.content) > _LARGEST_TABLE_BYTES:
        return None
    lines = _lines_of_two(segment)
    found = [segment.intersect([code]) for code in codes[rows].tolist()]
    found += [lines.blocks(pair) for pair in _cases(shape)]
    return np.unique(np.concatenate(found))


def _cases(shape: Shape) -> list[int]:
    """The pair itself, and in every case if the shape asks for that."""
    if not shape.folded:
        return [shape.text[0] | shape.text[1] << 8]
    text = shape.text.decode()
    cases = product({text[0], text[0].upper()}, {text[1], text[1].upper()})
    return [ord(first) | ord(second) << 8 for first, second in cases]


@dataclass(frozen=True, slots=True)
class _LinesOfTwo:
    """The lines of two bytes of a segment: their text as a number, ascending, and their block."""

    pair: U16
    block: U32

    def blocks(self, pair: int) -> U32:
        first, last = np.searchsorted(self.pair, [pair, pair + 1]).tolist()
        return self.block[first:last]


_tables: WeakKeyDictionary[Segment, _LinesOfTwo] = WeakKeyDictionary()


def _lines_of_two(segment: Segment) -> _LinesOfTwo:
    table = _tables.get(segment)
    if table is None:
        table = _tables[segment] = _find_lines_of_two(segment)
    return table


def _find_lines_of_two(segment: Segment) -> _LinesOfTwo:
    """All lines of two bytes. Raises CorruptIndex."""
    segment.check_all_newlines()
    newlines = segment.newlines
    start, newline = segment.block_start.astype(np.int64), segment.block_newline.astype(np.int64)
    filled = np.flatnonzero(newline[1:] > newline[:-1])
    # Lines behind another one of their block, and first lines.
    inner = np.flatnonzero(newlines[1:] - newlines[:-1] == 3) + 1
    inner = np.setdiff1d(inner, newline[filled], assume_unique=True)
    outer = newline[filled][newlines[newline[filled]] == 2]
    ends = np.concatenate([inner, outer])
    block = np.searchsorted(newline, ends, "right") - 1
    begin = start[block] + newlines[ends] - 2
    # Last lines of documents without a newline.
    after = start[:-1].copy()
    after[filled] += newlines[newline[filled + 1] - 1].astype(np.int64) + 1
    open_ended = np.flatnonzero(start[1:] - after == 2)
    block = np.concatenate([block, open_ended])
    begin = np.concatenate([begin, after[open_ended]])
    segment.check_blocks(np.unique(block))
    content = np.frombuffer(segment.content, np.uint8)
    pair = content[begin].astype(np.uint16) | content[begin + 1].astype(np.uint16) << 8
    order = np.argsort(pair, kind="stable")
    return _LinesOfTwo(pair[order], block[order].astype(np.uint32))
