"""The cursor of a search: the commit, where the page ended, and what is counted so far.

Carrying the commit makes paging go on at the same snapshot for ever, whatever a branch does
meanwhile; carrying the counts means that no page counts again.
"""

from typing import Any

from search.engine.request import Counted, Counts, Position
from search.requests import SearchFields
from sourcegraph_site.kernel.errors import InvalidCursor
from sourcegraph_site.kernel.paging import binding_of, decode_cursor, encode_cursor


def binding(params: SearchFields) -> str:
    """Everything but the page itself and `explain`."""
    return binding_of("search", params.model_dump(exclude={"after", "explain"}))


def pack(params: SearchFields, commit: str, position: Position | None) -> str | None:
    """The cursor behind a page, or None at the end."""
    if position is None:
        return None
    return encode_cursor(binding(params), [commit, position_data(position)])


def unpack(params: SearchFields) -> tuple[str, Position] | None:
    """Commit and position of `after`, or None on the first page.

    Raises:
        InvalidCursor: damaged, or of another request.
    """
    if not params.after:
        return None
    value = decode_cursor(params.after, binding(params))
    if not (isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)):
        raise InvalidCursor("The cursor is damaged; start again without it.")
    return value[0], position_of(value[1])


def position_data(position: Position) -> list[Any]:
    counted = position.counted
    return [
        position.path.decode(),
        position.line,
        [counted.counts.files, counted.counts.lines, counted.counts.matches],
        None if counted.until is None else counted.until.decode(),
        counted.capped,
    ]


def position_of(data: Any) -> Position:
    """What `position_data` packed. Raises InvalidCursor."""
    try:
        path, line, (files, lines, matches), until, capped = data
        numbers = [files, lines, matches, *([] if line is None else [line])]
        if (
            not all(type(n) is int and 0 <= n < 1 << 53 for n in numbers)
            or type(capped) is not bool
        ):
            raise ValueError
        counted = Counted(
            Counts(files, lines, matches), None if until is None else until.encode(), capped
        )
        return Position(path.encode(), line, counted)
    except (ValueError, TypeError, AttributeError):
        raise InvalidCursor("The cursor is damaged; start again without it.") from None
