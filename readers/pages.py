"""Pages of a sequence that cannot change: the cursor is a position, bound to its request."""

from sourcegraph_site.kernel.errors import InvalidCursor, InvalidLimit
from sourcegraph_site.kernel.paging import decode_cursor, encode_cursor

MAX_OFFSET = 1 << 40


def check_first(first: int, most: int) -> None:
    """Raises InvalidLimit unless 1 ≤ first ≤ most."""
    if not 1 <= first <= most:
        raise InvalidLimit(f"First is 1 to {most}.")


def decode_offset(cursor: str | None, binding: str) -> int:
    """Where the page begins; 0 without a cursor.

    Raises:
        InvalidCursor: damaged, or of another request.
    """
    if not cursor:
        return 0
    offset = decode_cursor(cursor, binding)
    if type(offset) is not int or not 0 < offset < MAX_OFFSET:
        raise InvalidCursor("The cursor is damaged; start again without it.")
    return offset


def next_cursor(binding: str, offset: int, total: int) -> str | None:
    """The cursor of the page that begins at `offset`, if there is one."""
    return encode_cursor(binding, offset) if offset < total else None
