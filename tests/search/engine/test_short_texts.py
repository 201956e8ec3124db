"""Texts of two bytes are found wherever they stand in a line, also where no trigram is."""

import itertools

import pytest

from search.engine.short_texts import blocks_with_any
from search.pattern import Shape
from tests.search.engine.world import all_rows, ask, generation_of, scan

FILLER = b"nothing to see in this line\n" * 200


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    texts = [
        b"zx",
        b"zx\n",
        b"\nzx\n",
        b"a\nzx\nb\n",
        b"azx",
        b"zxa\n",
        b"a\n\nZX\n",
        b"zX",
        b"xz\nz\nx\n",
        b"zz\nzzx\n",
        FILLER + b"zx\n" + FILLER,
        FILLER + b"zx",
        b"q" * 70_000 + b"\nzx\n",
        b"q" * 65_538 + b"\n",
        b"zx" * 40_000 + b"\n",
        "é\nzé\n\u212ax\nKX\nkx".encode(),
    ]
    files = {f"f{number:02}": text for number, text in enumerate(texts)}
    # Enough other text that looking up is cheaper than scanning.
    files |= {f"g{number:02}": b"%d " % number + FILLER * 5 for number in range(40)}
    return generation_of(tmp_path_factory.mktemp("short"), files), files


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("text", ["zx", "xz", "zz", "kx", "é", "zé", "qz", "a1"])
def test_pairs_are_found_as_by_a_scan(made, text, ignore_case):
    generation, files = made
    request = ask(text, fixed=True, ignore_case=ignore_case)
    assert [row[:3] for row in all_rows(generation, request)] == [
        row[:3] for row in scan(files, request)
    ]


@pytest.mark.parametrize("pattern", [r"\bzx\b", "zx|absent_word", "zx.?$", r"\w*zx", "(?i)^zx$"])
def test_patterns_with_pairs_are_found_as_by_a_scan(made, pattern):
    generation, files = made
    request = ask(pattern)
    assert [row[:3] for row in all_rows(generation, request)] == [
        row[:3] for row in scan(files, request)
    ]


def test_only_some_blocks_are_looked_at(made):
    (segment,) = made[0].segments
    blocks = blocks_with_any(segment, (Shape(b"zx"),))
    assert blocks is not None and len(blocks) < (len(segment.block_start) - 1) // 4


def test_common_pairs_and_single_bytes_are_scanned_for(made):
    (segment,) = made[0].segments
    assert blocks_with_any(segment, (Shape(b"in"),)) is None
    assert blocks_with_any(segment, (Shape(b"zx"), Shape(b"z"))) is None
    assert blocks_with_any(segment, (Shape(b"kx", folded=True),)) is None


def test_every_pair_of_a_text_leads_to_its_block(tmp_path):
    letters = b"ab1-"
    lines = [bytes(pair) for pair in itertools.product(letters, repeat=2)]
    files = {f"f{number}": line + b"\n" for number, line in enumerate(lines)}
    files |= {f"g{number:02}": b"%d " % number + FILLER * 5 for number in range(40)}
    generation = generation_of(tmp_path, files)
    for line in lines:
        request = ask(line.decode(), fixed=True)
        assert all_rows(generation, request) == scan(files, request)


def test_a_segment_too_large_for_a_table_is_scanned_with_the_same_answer(made, monkeypatch):
    generation, files = made
    assert blocks_with_any(generation.segments[0], (Shape(b"zx", folded=False),)) is not None
    monkeypatch.setattr("search.engine.short_texts._LARGEST_TABLE_BYTES", 0)
    assert blocks_with_any(generation.segments[0], (Shape(b"zx", folded=False),)) is None
    request = ask("zx", fixed=True)
    assert [row[:3] for row in all_rows(generation, request)] == [
        row[:3] for row in scan(files, request)
    ]
