"""Runs the expression: exact spans over any number of whole lines at once.

RE2 is linear, but a pattern whose automaton has very many states falls back to following all of
them at once, at some 50 µs per byte instead of one nanosecond, and nothing stops RE2 inside a call.
So under a deadline a text is handed over in slices of whole lines that grow while they are fast,
and a line longer than a slice is tried piece by piece before it is searched as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from re2 import _re2

from search.pattern.boundary import mark, unmark
from search.pattern.compile import compile_expression, expression
from search.pattern.tree import Node, has_word_boundary
from sourcegraph_site.kernel.deadline import Deadline

Buffer = bytes | memoryview
Positions = npt.NDArray[np.int64]

_UNANCHORED = _re2.RE2.Anchor.UNANCHORED
# Between two looks at the clock: one match may read to the end of a 2 MiB line.
_MATCHES_PER_CHECK = 16
_FIRST_SLICE_BYTES = 4 << 10
_LARGEST_SLICE_BYTES = 4 << 20
_FAST_SLICE_SECONDS = 0.02
# How much slower the next piece of a long line may be than the one before.
_SLACK = 4


@dataclass(frozen=True, slots=True)
class Spans:
    """Matches in ascending order, none empty, none overlapping: `starts[i]` to `ends[i]`.

    `complete` is false when the limit or the deadline ended the work; the matches are then the
    first ones.
    """

    starts: Positions
    ends: Positions
    complete: bool


class Matcher:
    """The exact matcher of one pattern. Safe to share between threads."""

    def __init__(self, tree: Node) -> None:
        self._bounded = has_word_boundary(tree)
        self._plain = compile_expression(expression(tree))
        # Most searches of words meet ASCII lines only, so the second form waits for its first use.
        self._marked_source = expression(tree, marked=True) if self._bounded else b""

    @cached_property
    def _marked(self) -> Any:
        return compile_expression(self._marked_source)

    def spans(
        self,
        text: Buffer,
        start: int = 0,
        stop: int | None = None,
        *,
        limit: int | None = None,
        deadline: Deadline | None = None,
    ) -> Spans:
        """All matches in `text[start:stop]`, which must be whole lines parted by newlines.

        One call over a large text is far cheaper than one call for each line: about a
        microsecond for each match. `limit` bounds the number of matches.
        """
        stop = len(text) if stop is None else stop
        search = _Search(limit, deadline)
        if self._bounded and not _is_ascii(text, start, stop):
            complete = self._scan_around_words(search, text, start, stop)
        else:
            complete = search.scan(self._plain, text, start, stop)
        return search.spans(complete)

    def finditer(self, line: bytes) -> list[tuple[int, int]]:
        """All matches in one line without its newline."""
        spans = self.spans(line)
        return list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True))

    def _scan_around_words(self, search: _Search, text: Buffer, start: int, stop: int) -> bool:
        """As `scan`, with lines that are not ASCII rewritten so that word boundaries are right."""
        at = start
        for first, last in _sections_beyond_ascii(text, start, stop):
            if not search.scan(self._plain, text, at, first):
                return False
            if not self._scan_marked(search, text, first, last):
                return False
            at = last
        return search.scan(self._plain, text, at, stop)

    def _scan_marked(self, search: _Search, text: Buffer, start: int, stop: int) -> bool:
        marked = mark(bytes(text[start:stop]))
        inner = _Search(search.room, search.deadline)
        complete = inner.scan(self._marked, marked, 0, len(marked))
        search.starts += (start + unmark(marked, inner.starts)).tolist()
        search.ends += (start + unmark(marked, inner.ends)).tolist()
        return complete


@dataclass(slots=True)
class _Search:
    """Matches so far, and when to stop."""

    limit: int | None
    deadline: Deadline | None
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    @property
    def room(self) -> int | None:
        """How many matches more; None for any number."""
        return None if self.limit is None else self.limit - len(self.starts)

    def spans(self, complete: bool) -> Spans:
        return Spans(
            np.array(self.starts, dtype=np.int64), np.array(self.ends, dtype=np.int64), complete
        )

    def scan(self, expression: Any, text: Buffer, start: int, stop: int) -> bool:
        """Find everything in `text[start:stop]`; false if limit or deadline came first."""
        if self.deadline is None:
            return self._scan_slice(expression, text, start, stop)
        size = _FIRST_SLICE_BYTES
        while start < stop:
            began = time.monotonic()
            end = _line_end(text, start + size, stop)
            if end - start > 2 * size and not self._bearable(expression, text, start, end, size):
                return False
            if not self._scan_slice(expression, text, start, end):
                return False
            if time.monotonic() - began < _FAST_SLICE_SECONDS:
                size = min(2 * size, _LARGEST_SLICE_BYTES)
            start = end
        return True

    def _scan_slice(self, expression: Any, text: Buffer, start: int, stop: int) -> bool:
        match = expression.Match
        while True:
            if self.deadline is not None and self.deadline.expired:
                return False
            room = self.room
            if room == 0:
                # Full: complete only if nothing more would have been found.
                ((begin, _),) = match(_UNANCHORED, text, start, stop)
                return bool(begin < 0)
            for _ in range(min(_MATCHES_PER_CHECK, room or _MATCHES_PER_CHECK)):
                ((begin, end),) = match(_UNANCHORED, text, start, stop)
                if begin < 0:
                    return True
                self.starts.append(begin)
                self.ends.append(end)
                start = end

    def _bearable(self, expression: Any, text: Buffer, start: int, stop: int, size: int) -> bool:
        """Whether a long line can be searched before the deadline, judging by its pieces."""
        assert self.deadline is not None
        spent = 0.0
        while start < stop:
            began = time.monotonic()
            expression.Match(_UNANCHORED, text, start, min(start + size, stop))
            took = time.monotonic() - began
            spent += took
            # Ahead lie the next piece, twice as long, and then the line as a whole.
            if _SLACK * took + spent > self.deadline.remaining():
                return False
            start += size
            size *= 2
        return True


def _line_end(text: Buffer, at: int, stop: int) -> int:
    """Behind the first newline at or after `at`, at most `stop`."""
    while at < stop:
        piece = bytes(text[at : min(at + _FIRST_SLICE_BYTES, stop)])
        newline = piece.find(b"\n")
        if newline >= 0:
            return at + newline + 1
        at += len(piece)
    return stop


def _is_ascii(text: Buffer, start: int, stop: int) -> bool:
    if isinstance(text, bytes) and start == 0 and stop == len(text):
        return text.isascii()
    return not bool((np.frombuffer(text, np.uint8)[start:stop] & 0x80).any())


def _sections_beyond_ascii(text: Buffer, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Runs of lines that each hold a byte beyond ASCII, with their newlines, in order.

    There is at least one.
    """
    data = np.frombuffer(text, np.uint8)[start:stop]
    newlines = np.flatnonzero(data == 0x0A)
    lines = np.unique(np.searchsorted(newlines, np.flatnonzero(data >= 0x80)))
    line_starts = start + np.concatenate(([0], newlines + 1))
    line_stops = start + np.append(newlines + 1, len(data))
    breaks = np.flatnonzero(np.diff(lines) > 1)
    first = lines[np.concatenate(([0], breaks + 1))]
    last = lines[np.append(breaks, len(lines) - 1)]
    yield from zip(line_starts[first].tolist(), line_stops[last].tolist(), strict=True)
