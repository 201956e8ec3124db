"""Sets of code points as sorted, disjoint, non-adjacent inclusive ranges."""

from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]

LAST = 0x10FFFF
ANY: Ranges = ((0, LAST),)
NOTHING: Ranges = ()


def normalised(pairs: Iterable[tuple[int, int]]) -> Ranges:
    """Sort and join ranges that overlap or touch."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(pairs):
        if out and low <= out[-1][1] + 1:
            if high > out[-1][1]:
                out[-1] = (out[-1][0], high)
        else:
            out.append((low, high))
    return tuple(out)


def complement(ranges: Ranges) -> Ranges:
    out: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if low > start:
            out.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        out.append((start, LAST))
    return tuple(out)


def difference(left: Ranges, right: Ranges) -> Ranges:
    """What is in `left` and not in `right`, in one pass over both."""
    out: list[tuple[int, int]] = []
    at = 0
    for low, high in left:
        while at < len(right) and right[at][1] < low:
            at += 1
        i = at
        while i < len(right) and right[i][0] <= high:
            if right[i][0] > low:
                out.append((low, right[i][0] - 1))
            low = right[i][1] + 1
            i += 1
        if low <= high:
            out.append((low, high))
    return tuple(out)


def intersection(left: Ranges, right: Ranges) -> Ranges:
    return difference(left, difference(left, right))


def count(ranges: Ranges) -> int:
    return sum(high - low + 1 for low, high in ranges)
