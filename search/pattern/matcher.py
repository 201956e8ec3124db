"""Runs the expression: exact spans over any number of whole lines at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from re2 import _re2

from search.pattern.boundary import Unmark, mark
from search.pattern.compile import compile_expression, expression
from search.pattern.tree import Node, has_word_boundary
from sourcegraph_site.kernel.deadline import Deadline

Buffer = bytes | memoryview
Positions = npt.NDArray[np.int64]

_UNANCHORED = _re2.RE2.Anchor.UNANCHORED
# Between two looks at the clock: one match may read to the end of a 2 MiB line.
_MATCHES_PER_CHECK = 64
_SHOWN_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Spans:
    """Matches in ascending order, none empty, none overlapping: `starts[i]` to `ends[i]`.

    `complete` is false when the limit or the deadline ended the work; the matches are then the
    first ones.
    """

    starts: Positions
    ends: Positions
    complete: bool


@dataclass(slots=True)
class _Found:
    """Matches so far, and when to stop."""

    limit: int | None
    deadline: Deadline | None
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def scan(self, expression: Any, text: Buffer, start: int, stop: int) -> bool:
        """Find everything in `text[start:stop]`; false if limit or deadline came first."""
        match = expression.Match
        room = None if self.limit is None else self.limit - len(self.starts)
        while room is None or room > 0:
            if self.deadline is not None and self.deadline.expired:
                return False
            step = _MATCHES_PER_CHECK if room is None else min(_MATCHES_PER_CHECK, room)
            for _ in range(step):
                ((begin, end),) = match(_UNANCHORED, text, start, stop)
                if begin < 0:
                    return True
                self.starts.append(begin)
                self.ends.append(end)
                start = end
            room = None if room is None else room - step
        # Full: complete only if nothing more would have been found.
        ((begin, _),) = match(_UNANCHORED, text, start, stop)
        return bool(begin < 0)

    def spans(self, complete: bool) -> Spans:
        return Spans(
            np.array(self.starts, dtype=np.int64), np.array(self.ends, dtype=np.int64), complete
        )


class Matcher:
    """The exact matcher of one pattern. Safe to share between threads."""

    def __init__(self, tree: Node) -> None:
        self._bounded = has_word_boundary(tree)
        self._source = expression(tree)
        self._plain = compile_expression(self._source)
        # Most searches of words meet ASCII lines only, so the second form waits for its first use.
        self._marked_source = expression(tree, marked=True) if self._bounded else b""

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

        One call over a large text is far cheaper than one call for each line. `limit` bounds
        the number of matches. The clock is read between matches, not inside one: hand over at
        most 8 MiB at a time.
        """
        stop = len(text) if stop is None else stop
        if self._bounded and not _is_ascii(text, start, stop):
            return self._spans_around_words(text, start, stop, limit, deadline)
        found = _Found(limit, deadline)
        return found.spans(found.scan(self._plain, text, start, stop))

    def finditer(self, line: bytes) -> list[tuple[int, int]]:
        """All matches in one line without its newline."""
        spans = self.spans(line)
        return list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True))

    def describe(self) -> str:
        """The engine's expression, for people; long ones are cut."""
        text = self._source.decode()
        return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"

    @cached_property
    def _marked(self) -> Any:
        return compile_expression(self._marked_source)

    def _spans_around_words(
        self, text: Buffer, start: int, stop: int, limit: int | None, deadline: Deadline | None
    ) -> Spans:
        """As `spans`, with lines that are not ASCII rewritten so that word boundaries are right."""
        found = _Found(limit, deadline)
        complete = True
        at = start
        for first, last in _sections_beyond_ascii(text, start, stop):
            complete = complete and found.scan(self._plain, text, at, first)
            complete = complete and self._scan_marked(found, text, first, last)
            at = last
        complete = complete and found.scan(self._plain, text, at, stop)
        return found.spans(complete)

    def _scan_marked(self, found: _Found, text: Buffer, start: int, stop: int) -> bool:
        marked = mark(bytes(text[start:stop]))
        room = None if found.limit is None else found.limit - len(found.starts)
        inner = _Found(room, found.deadline)
        complete = inner.scan(self._marked, marked, 0, len(marked))
        unmark = Unmark(marked)
        for begin, end in zip(inner.starts, inner.ends, strict=True):
            found.starts.append(start + unmark.position(begin))
            found.ends.append(start + unmark.position(end))
        return complete


def _is_ascii(text: Buffer, start: int, stop: int) -> bool:
    if isinstance(text, bytes) and start == 0 and stop == len(text):
        return text.isascii()
    return not bool((np.frombuffer(text, np.uint8)[start:stop] & 0x80).any())


def _sections_beyond_ascii(text: Buffer, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Runs of lines that each hold a byte beyond ASCII, with their newlines, in order."""
    data = np.frombuffer(text, np.uint8)[start:stop]
    newlines = np.flatnonzero(data == 0x0A)
    lines = np.unique(np.searchsorted(newlines, np.flatnonzero(data >= 0x80)))
    starts = np.concatenate(([0], newlines + 1))
    stops = np.append(newlines + 1, len(data))
    breaks = np.flatnonzero(np.diff(lines) > 1)
    first = lines[np.concatenate(([0], breaks + 1))]
    last = lines[np.append(breaks, len(lines) - 1)]
    yield from zip((start + starts[first]).tolist(), (start + stops[last]).tolist(), strict=True)
