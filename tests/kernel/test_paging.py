import base64
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcegraph_site.kernel.errors import InvalidCursor
from sourcegraph_site.kernel.paging import (
    MAX_CURSOR_CHARS,
    binding_of,
    decode_cursor,
    encode_cursor,
    peek_cursor,
)


def test_a_cursor_gives_back_its_position():
    binding = binding_of("list", "a" * 40, {"path": "x"})
    assert decode_cursor(encode_cursor(binding, ["x/y", 3]), binding) == ["x/y", 3]
    assert peek_cursor(encode_cursor(binding, 7)) == 7


def test_a_cursor_of_another_request_is_refused():
    cursor = encode_cursor(binding_of("list", "a"), 1)
    with pytest.raises(InvalidCursor, match="another request"):
        decode_cursor(cursor, binding_of("list", "b"))


@pytest.mark.parametrize(
    "cursor", ["", "x", "!!!!", "bnVsbA", "W10", "é", "A" * 50_000, "W" * 4000, "eAEAAA"]
)
def test_a_damaged_cursor_is_refused(cursor):
    with pytest.raises(InvalidCursor):
        decode_cursor(cursor, binding_of("list"))


@given(st.text(max_size=200))
def test_any_text_is_refused_or_decoded_never_a_crash(cursor):
    with pytest.raises(InvalidCursor):
        decode_cursor(cursor, binding_of("list", "nothing makes this"))


@pytest.mark.parametrize("character", ["x", '"', "é", "语", "\U0001f600"])
def test_the_longest_position_of_a_search_over_a_thousand_repositories_fits(character):
    def path() -> str:
        seed = random.Random(3)
        letters = [chr(ord(character) + seed.randrange(20)) for _ in range(4_096)]
        return "".join(letters).encode()[: 4_096 // 12 * 12].decode()

    commits = base64.b64encode(random.Random(4).randbytes(20 * 1_000)).decode()
    numbers = random.Random(5).sample(range(100_000), 1_000)
    name = "o" * 100 + "/" + "n" * 100
    position = [numbers, commits, name, [path(), 9, [1, 2, 3], path()[::-1], False], name]
    cursor = encode_cursor(binding_of("search"), position)
    assert len(cursor) <= MAX_CURSOR_CHARS
    assert decode_cursor(cursor, binding_of("search")) == position
    if character == "x":
        alone = encode_cursor(binding_of("search"), ["a" * 40, position[3]])
        assert len(alone) <= 16_384


def test_a_cursor_that_would_grow_without_bound_is_refused():
    bomb = base64.urlsafe_b64encode(zlib.compress(b"[" + b" " * 10_000_000)).decode().rstrip("=")
    with pytest.raises(InvalidCursor):
        decode_cursor(bomb, binding_of("search"))
