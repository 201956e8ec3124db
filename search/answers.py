"""Rendered answers, kept while there is room.

A commit never changes, so an answer at one generation is right for ever; only the rights of
the caller can change, and they are checked before an answer is looked up here. What is kept
is the body as it went out, within a budget of bytes for the process; the least recently used
answers go first. Partial answers and explanations are not kept.

Every form of an answer is kept as it is rendered: the JSON of REST, the text of MCP.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from django.conf import settings

from search.answer import SearchAnswer
from search.usecases.search_code import Prepared, run_search

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


_kept = AnswerCache(settings.ANSWER_CACHE_BYTES)


def rendered(
    prepared: Prepared, form: Hashable, render: Callable[[SearchAnswer], bytes]
) -> tuple[bytes, bool]:
    """The answer as `render` makes it, and whether it is the whole answer for ever.

    `form` names all that `render` depends on beside the answer. The rights of the caller are
    those that `prepare_search` has just checked.

    Raises:
        what `run_search` raises.
    """
    key = (form, prepared.cache_key)
    body = _kept.get(key)
    if body is not None:
        return body, True
    answer = run_search(prepared)
    body = render(answer)
    if answer.meta.partial:
        return body, False
    if not prepared.params.explain:
        _kept.put(key, body)
    return body, True
