"""AND of postings, in every combination of container kinds."""

import itertools
import random

import numpy as np
import pytest

from search.kernel.host import KernelFailed, QueryKernel, query_kernel

BLOCKS = 9_000  # of the chunk: its bitmaps are cut to 1,125 bytes


def as_array(values):
    return 0, np.array(values, "<u2").tobytes()


def as_bitmap(values):
    bits = np.zeros(-(-BLOCKS // 8) * 8, np.uint8)
    bits[values] = 1
    return 1, np.packbits(bits, bitorder="little").tobytes()


def as_gaps(values):
    out = bytearray()
    last = 0
    for value in values:
        gap = value - last
        last = value
        out += b"\xff" * (gap // 255) + bytes([gap % 255])
    return 2, bytes(out)


def posting(lists, encode):
    """A posting of (key, values) with all containers of one kind."""
    out = b""
    for key, values in lists:
        if values:
            kind, body = encode(values)
            out += bytes([key, kind]) + len(body).to_bytes(2, "little") + body
    return out


def intersect(postings, kernel=None):
    buffers = [np.frombuffer(each, np.uint8) for each in postings]
    addresses = np.array([each.ctypes.data for each in buffers], np.int64)
    sizes = np.array([len(each) for each in buffers], np.int64)
    return (kernel or query_kernel()).intersect(addresses, sizes).tolist()


def some_values(rng, count):
    return sorted(rng.sample(range(BLOCKS), count))


@pytest.mark.parametrize("kinds", list(itertools.product([as_array, as_bitmap, as_gaps], repeat=3)))
@pytest.mark.parametrize("counts", [(5, 4000, 8000), (600, 600, 600), (8000, 8500, 9000)])
def test_intersection_is_that_of_the_sets(kinds, counts):
    rng = random.Random(repr((counts, [k.__name__ for k in kinds])))
    lists = [[(key, some_values(rng, n)) for key in (0, 3, 200)] for n in counts]
    lists[1][1] = (3, [])  # one list lacks a key that the others have
    got = intersect([posting(each, kind) for each, kind in zip(lists, kinds, strict=True)])
    expected = [
        key << 16 | value
        for i, key in enumerate((0, 3, 200))
        for value in sorted(set.intersection(*(set(each[i][1]) for each in lists)))
    ]
    assert got == expected


@pytest.mark.parametrize("kind", [as_array, as_bitmap, as_gaps])
@pytest.mark.parametrize("values", [[0], [BLOCKS - 1], [0, 254, 255, 510, 766, 8999], [8191]])
def test_one_posting_alone_is_decoded(kind, values):
    assert intersect([posting([(7, values)], kind)]) == [7 << 16 | v for v in values]


def test_gaps_reach_the_end_of_a_chunk():
    values = [0, 65_535]
    assert intersect([posting([(1, values)], as_gaps)]) == [1 << 16, 1 << 16 | 65_535]


def test_many_results_do_not_outgrow_their_room():
    full = posting([(key, list(range(BLOCKS))) for key in range(40)], as_bitmap)
    assert len(intersect([full, full])) == 40 * BLOCKS


def test_a_damaged_posting_cannot_leave_the_sandbox_and_the_next_call_is_right():
    kernel = QueryKernel()
    for junk in (b"\0\0\xff\xff", b"\0\2\xff\xff" + b"\xfe" * 100, bytes(range(256)) * 40):
        try:
            intersect([junk, junk], kernel)
        except KernelFailed:
            continue
    good = posting([(0, [1, 2, 3])], as_array)
    assert intersect([good, good], QueryKernel()) == [1, 2, 3]


def test_the_checked_call_gives_what_the_unchecked_one_gives(monkeypatch):
    import wasmtime._bindings

    monkeypatch.delattr(wasmtime._bindings, "wasmtime_func_call_unchecked")
    kernel = QueryKernel()
    left, right = posting([(0, [1, 5, 9])], as_array), posting([(0, [5, 9, 11])], as_gaps)
    assert intersect([left, right], kernel) == [5, 9]


def test_a_forked_child_can_intersect(tmp_path):
    import os

    good = posting([(0, [4, 8])], as_array)
    assert intersect([good]) == [4, 8]
    child = os.fork()
    if child == 0:
        os._exit(0 if intersect([good], QueryKernel()) == [4, 8] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
