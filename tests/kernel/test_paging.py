import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcegraph_site.kernel.errors import InvalidCursor
from sourcegraph_site.kernel.paging import binding_of, decode_cursor, encode_cursor, peek_cursor


def test_a_cursor_gives_back_its_position():
    binding = binding_of("list", "a" * 40, {"path": "x"})
    assert decode_cursor(encode_cursor(binding, ["x/y", 3]), binding) == ["x/y", 3]
    assert peek_cursor(encode_cursor(binding, 7)) == 7


def test_a_cursor_of_another_request_is_refused():
    cursor = encode_cursor(binding_of("list", "a"), 1)
    with pytest.raises(InvalidCursor, match="another request"):
        decode_cursor(cursor, binding_of("list", "b"))


@pytest.mark.parametrize(
    "cursor", ["", "x", "!!!!", "bnVsbA", "W10", "é", "A" * 20_000, "W" * 4000]
)
def test_a_damaged_cursor_is_refused(cursor):
    with pytest.raises(InvalidCursor):
        decode_cursor(cursor, binding_of("list"))


@given(st.text(max_size=200))
def test_any_text_is_refused_or_decoded_never_a_crash(cursor):
    with pytest.raises(InvalidCursor):
        decode_cursor(cursor, binding_of("list", "nothing makes this"))
