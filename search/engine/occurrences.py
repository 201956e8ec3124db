"""Finds texts in pieces of content by SIMD (StringZilla), right in the mapped file.

Any case: one bit is set in every byte, which makes lower case of upper; what else that makes
alike is sorted out afterwards, by looking at the bytes themselves.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import stringzilla as sz

from search.engine.budget import MAX_BATCH_BYTES, MAX_BATCH_SPANS
from search.engine.pieces import NO_SPANS, Contents, Pieces, Spans, keys
from search.index.format import I64, U8, Bools
from search.pattern import Shape

_CASE_BIT = 0x20
# What folds to an ASCII letter and is not ASCII: KELVIN SIGN and LONG S.
_FOLDS_TO_ASCII = {b"k": b"\xe2\x84\xaa", b"s": b"\xc5\xbf"}
_WORD = np.zeros(256, np.bool_)
_WORD[list(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")] = True
_BEYOND_ASCII = 0x80

# With more occurrences in a text than this, the expression may as well look at all of it.
_BYTES_PER_POSITION = 64
_FEW = 1_024

_threads = threading.local()


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Matches of a shape; and positions whose lines hold what only the expression can judge."""

    spans: Spans
    doubtful: Spans


@dataclass(frozen=True, slots=True)
class _Found:
    """Positions, and the pieces that they are in. `seen` pieces were looked at, `full` if the
    last one has too many."""

    piece: I64
    position: I64
    seen: int
    full: bool


def find_shape(contents: Contents, pieces: Pieces, shape: Shape) -> Occurrences:
    """The matches of a shape in these pieces, in order, but for those on doubtful lines.

    A line is doubtful if a word may end at a byte that is not ASCII, or a letter may be one
    of those that fold to ASCII.
    """
    bounded = shape.word_start or shape.word_end
    symbols = shape.folded and not shape.text.isalpha()
    # An occurrence that turns out to be none must not hide one that overlaps with it.
    step = 1 if bounded or symbols else len(shape.text)
    found, others = _find(contents, pieces, shape, step, MAX_BATCH_SPANS)
    spans = _spans(pieces, found, len(shape.text))
    if not (bounded or symbols):
        return Occurrences(spans, others)
    keep = np.ones(len(spans), np.bool_)
    doubt = np.zeros(len(spans), np.bool_)
    if symbols:
        _check_symbols(contents, spans, shape.text, keep)
    if shape.word_start:
        inside = spans.start > pieces.start[found.piece]
        byte = contents.bytes_at(spans.segment, spans.start - inside)
        _check_boundary(np.where(inside, byte, 0), shape.text[0], keep, doubt)
    if shape.word_end:
        inside = spans.end < pieces.end[found.piece]
        byte = contents.bytes_at(spans.segment, spans.end - ~inside)
        _check_boundary(np.where(inside, byte, 0), shape.text[-1], keep, doubt)
    doubtful = join_spans(spans.select(keep & doubt), others)
    return Occurrences(_without_overlaps(spans.select(keep & ~doubt)), doubtful)


def find_positions(contents: Contents, pieces: Pieces, shapes: Sequence[Shape]) -> Spans | None:
    """Positions on all lines that can hold one of the texts, perhaps on some others too.

    None if there are so many that looking for them does not pay.
    """
    room = int((pieces.end - pieces.start).sum()) // _BYTES_PER_POSITION + _FEW
    parts = []
    for shape in shapes:
        # In any case, a false occurrence may lie across a newline and hide one behind it.
        step = 1 if shape.folded else len(shape.text)
        found, others = _find(contents, pieces, shape, step, room)
        room -= len(found.position) + len(others)
        if found.full or room <= 0:
            return None
        parts += [_spans(pieces, found, 0), others]
    return join_spans(*parts)


def join_spans(*parts: Spans) -> Spans:
    """All of them, in order, as far as all are done. Line numbers are lost."""
    some = [part for part in parts if len(part) or part.rows_done is not None]
    if len(some) == 1:
        return some[0]
    row, segment, start, end = (
        np.concatenate([np.zeros(0, np.int64), *(getattr(part, name) for part in some)])
        for name in ("row", "segment", "start", "end")
    )
    order = np.argsort(keys(row, start), kind="stable")
    joined = Spans(row[order], segment[order], start[order], end[order])
    done = min((part.rows_done for part in some if part.rows_done is not None), default=None)
    if done is None:
        return joined
    return joined.ending_at(done, cut=any(part.cut for part in some if part.rows_done == done))


def _spans(pieces: Pieces, found: _Found, length: int) -> Spans:
    row, segment = pieces.row[found.piece], pieces.segment[found.piece]
    spans = Spans(row, segment, found.position, found.position + length)
    if not found.full:
        return spans
    first, last = int(pieces.row[0]), int(pieces.row[found.seen - 1])
    # A single row with too many is cut; otherwise it is left to the next batch.
    return spans.ending_at(last + 1, cut=True) if first == last else spans.ending_at(last)


def _find(
    contents: Contents, pieces: Pieces, shape: Shape, step: int, room: int
) -> tuple[_Found, Spans]:
    """Occurrences, about `room` at most, and positions of what may fold to a letter of the text."""
    if not shape.folded:
        return _find_exact(contents, pieces, shape.text, step, room), NO_SPANS
    lowered, offsets = _lowered(contents, pieces)
    needle = bytes(byte | _CASE_BIT for byte in shape.text)
    found = _find_lowered(lowered, offsets, pieces, needle, step, room)
    others = [
        _spans(pieces, _find_lowered(lowered, offsets, pieces, other, len(other), room), 0)
        for letter, other in _FOLDS_TO_ASCII.items()
        if letter in shape.text
    ]
    return found, join_spans(*others)


def _find_exact(contents: Contents, pieces: Pieces, needle: bytes, step: int, room: int) -> _Found:
    finders = [sz.Str(segment.content).find for segment in contents.segments]
    if len(finders) == 1:
        finds = finders * len(pieces)
    else:
        finds = [finders[number] for number in pieces.segment.tolist()]
    found: list[int] = []
    marks: list[int] = []
    append, mark = found.append, marks.append
    for find, start, stop in zip(finds, pieces.start.tolist(), pieces.end.tolist(), strict=True):
        if stop - start > room:
            found += _positions(find, needle, start, stop, step, room)
        else:
            at = find(needle, start, stop)
            while at >= 0:
                append(at)
                at = find(needle, at + step, stop)
        mark(len(found))
        if len(found) > room:
            break
    counts = np.array(marks, np.int64)
    counts[1:] -= counts[:-1].copy()
    piece = np.repeat(np.arange(len(counts)), counts)
    full = len(found) > room
    return _Found(piece, np.array(found, np.int64), len(marks), full)


def _lowered(contents: Contents, pieces: Pieces) -> tuple[U8, I64]:
    """The text of all pieces with the case bit set, a zero between two, and where each starts."""
    sizes = pieces.end - pieces.start + 1
    offsets = sizes.cumsum() - sizes
    lowered = _scratch(int(sizes.sum()))
    views = [contents.view(number) for number in range(len(contents.segments))]
    for number, start, stop, at in zip(
        pieces.segment.tolist(),
        pieces.start.tolist(),
        pieces.end.tolist(),
        offsets.tolist(),
        strict=True,
    ):
        target = lowered[at : at + stop - start]
        np.bitwise_or(views[number][start:stop], _CASE_BIT, out=target)
    lowered[offsets + sizes - 1] = 0
    return lowered, offsets


def _scratch(size: int) -> U8:
    """Memory of this thread: asking the system for it costs more than filling it."""
    if size > MAX_BATCH_BYTES * 2:
        return np.empty(size, np.uint8)
    memory: U8 | None = getattr(_threads, "memory", None)
    if memory is None or len(memory) < size:
        memory = _threads.memory = np.empty(max(size, MAX_BATCH_BYTES), np.uint8)
    return memory[:size]


def _find_lowered(
    lowered: U8, offsets: I64, pieces: Pieces, needle: bytes, step: int, room: int
) -> _Found:
    needle = bytes(byte | _CASE_BIT for byte in needle)
    text = sz.Str(lowered.data)
    found = np.array(_positions(text.find, needle, 0, len(lowered), step, room), np.int64)
    piece = offsets.searchsorted(found, "right") - 1
    position = pieces.start[piece] + found - offsets[piece]
    full = len(found) > room
    return _Found(piece, position, int(piece[-1]) + 1 if full else len(pieces), full)


def _positions(
    find: Callable[[bytes, int, int], int],
    needle: bytes,
    start: int,
    stop: int,
    step: int,
    room: int,
) -> list[int]:
    """Positions of a text, at most `room` and one more."""
    found: list[int] = []
    at = find(needle, start, stop)
    while at >= 0 and len(found) <= room:
        found.append(at)
        at = find(needle, at + step, stop)
    return found


def _check_symbols(contents: Contents, spans: Spans, text: bytes, keep: Bools) -> None:
    """Drop occurrences in which something that is not a letter differs in its case bit."""
    for offset, byte in enumerate(text):
        if not bytes((byte,)).isalpha():
            keep &= contents.bytes_at(spans.segment, spans.start + offset) == byte


def _check_boundary(neighbour: U8, edge: int, keep: Bools, doubt: Bools) -> None:
    """Drop what has no word boundary between `edge` and its neighbour (0: there is none)."""
    keep &= (_WORD[neighbour] != _WORD[edge]) | (neighbour >= _BEYOND_ASCII)
    doubt |= neighbour >= _BEYOND_ASCII


def _without_overlaps(spans: Spans) -> Spans:
    """Leftmost first: an occurrence that overlaps with the one taken before it is none."""
    overlaps = (spans.start[1:] < spans.end[:-1]) & (spans.row[1:] == spans.row[:-1])
    if not overlaps.any():
        return spans
    taken = []
    row, end = -1, 0
    for index, (at, start, stop) in enumerate(
        zip(spans.row.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True)
    ):
        if at != row or start >= end:
            taken.append(index)
            row, end = at, stop
    return spans.select(np.array(taken, np.int64))
