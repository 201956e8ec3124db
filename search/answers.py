"""Rendered answers, kept while there is room.

A commit never changes, so an answer at one generation is right for ever; only the rights of
the caller can change, and they are checked before an answer is looked up here. What is kept
is the body as it went out, within a budget of bytes for the process; the least recently used
answers go first. Partial answers and explanations are not kept.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable

# What a kept answer costs beside its bytes: key, object and dictionary entry.
_OVERHEAD_BYTES = 1024


class AnswerCache:
    """Bytes by key, at most `max_bytes` in all. May be shared by threads."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._mutex = threading.Lock()
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._size = 0

    def get(self, key: Hashable) -> bytes | None:
        with self._mutex:
            body = self._kept.get(key)
            if body is not None:
                self._kept.move_to_end(key)
            return body

    def put(self, key: Hashable, body: bytes) -> None:
        """Keep an answer; one that is larger than a quarter of the room is not worth it."""
        cost = len(body) + _OVERHEAD_BYTES
        if cost * 4 > self._max_bytes:
            return
        with self._mutex:
            old = self._kept.pop(key, None)
            if old is not None:
                self._size -= len(old) + _OVERHEAD_BYTES
            self._kept[key] = body
            self._size += cost
            while self._size > self._max_bytes:
                _, gone = self._kept.popitem(last=False)
                self._size -= len(gone) + _OVERHEAD_BYTES

    @property
    def size(self) -> int:
        """Bytes that are kept, overhead included."""
        return self._size

    def __len__(self) -> int:
        return len(self._kept)
