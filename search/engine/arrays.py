"""Runs in arrays: where they begin, where they end, and what numbers they hold."""

import numpy as np
import numpy.typing as npt

from search.index.format import I64, Bools


def begins(values: npt.NDArray[np.integer], step: int = 0) -> Bools:
    """Where an element is not the one before plus `step`; true for the first."""
    changes = np.empty(len(values), np.bool_)
    changes[:1] = True
    np.not_equal(values[1:], values[:-1] + step if step else values[:-1], out=changes[1:])
    return changes


def ends(first: I64, total: int) -> I64:
    """Where runs end that begin at `first` and together are `total` long."""
    stops = np.empty_like(first)
    stops[:-1] = first[1:]
    stops[-1:] = total
    return stops


def expand(first: I64, last: I64) -> I64:
    """The numbers of [first[0], last[0]), then those of [first[1], last[1]), and so on.

    >>> expand(np.array([5, 1]), np.array([7, 3])).tolist()
    [5, 6, 1, 2]
    """
    counts = last - first
    stops = counts.cumsum()
    total = int(stops[-1]) if len(stops) else 0
    numbers: I64 = np.arange(total) + np.repeat(first - stops + counts, counts)
    return numbers
