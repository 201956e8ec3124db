"""A bounded cache for things that never change: objects of a mirror, by id."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class WeightedCache(Generic[K, V]):
    """Least recently used out first; `capacity` and weights are in one unit, often bytes.

    Thread-safe. What weighs more than a quarter of the whole is not kept at all, so one giant
    cannot push out everything else.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._rows: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._weight = 0

    def get(self, key: K) -> V | None:
        with self._lock:
            row = self._rows.get(key)
            if row is None:
                return None
            self._rows.move_to_end(key)
            return row[0]

    def put(self, key: K, value: V, weight: int) -> None:
        if weight * 4 > self._capacity:
            return
        with self._lock:
            old = self._rows.pop(key, None)
            self._weight += weight - (old[1] if old else 0)
            self._rows[key] = (value, weight)
            while self._weight > self._capacity:
                _, (_, freed) = self._rows.popitem(last=False)
                self._weight -= freed

    @property
    def weight(self) -> int:
        return self._weight

    def clear(self) -> None:
        with self._lock:
            self._rows.clear()
            self._weight = 0
