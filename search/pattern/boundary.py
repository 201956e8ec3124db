"""Unicode word boundaries with an engine whose `\\b` knows ASCII only.

RE2 decides `\\b` from the byte before and the byte after. So the text is rewritten until that is
right: each character becomes a code whose first and last bytes are ASCII word bytes exactly if
the character is a Unicode word character, and the expression is compiled for the same codes.

    ASCII but _, and what is no word character    itself
    other word character c                        _c_
    _                                             _ÿÿ_
    a byte that is not UTF-8                      itself

Then RE2's `\\b` between two codes is Unicode's between the two characters, and all of
alternation, repetition and preference stays RE2's. A code is only ever recognised where one
stands: word characters beyond ASCII occur only between their own two `_`, never bare, and ÿÿ
only in the code of `_`; so neither a closing `_`, what follows it and the next opening `_`, nor
any other misaligned piece, reads as a code. Only lines that are not pure ASCII need this; in the
others RE2's `\\b` is right as it is.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from search.pattern.unicode import is_word

_UNDERSCORE = "_\u00ff\u00ff_"
_UNDERSCORE_BYTES = _UNDERSCORE.encode()


class _Codes(dict[int, str]):
    """Code of each code point, made when first met; at most one entry per code point."""

    def __missing__(self, code: int) -> str:
        if code == 0x5F:
            value = _UNDERSCORE
        elif code >= 0x80 and is_word(code):
            value = f"_{chr(code)}_"
        else:
            value = chr(code)
        self[code] = value
        return value


_CODES = _Codes()


def mark(text: bytes) -> bytes:
    """Rewrite text (any bytes) into codes; newlines stay."""
    decoded = text.decode("utf-8", "surrogateescape")
    return decoded.translate(_CODES).encode("utf-8", "surrogateescape")


def unmark(marked: bytes, positions: Sequence[int]) -> npt.NDArray[np.int64]:
    """Where positions between the codes of a marked text stand in the original."""
    data = np.frombuffer(marked, np.uint8)
    bars = np.flatnonzero(data == 0x5F)
    # Each code with marks has two, which is all that it adds; that of _ adds three more.
    doubled = np.flatnonzero(_starts_with(data, bars, _UNDERSCORE_BYTES))
    at = np.array(positions, dtype=np.int64)
    return at - np.searchsorted(bars, at) - 3 * np.searchsorted(bars[doubled], at)


def _starts_with(
    data: npt.NDArray[np.uint8], at: npt.NDArray[np.int64], text: bytes
) -> npt.NDArray[np.bool_]:
    """Whether `text` stands at each of the positions."""
    padded = np.append(data, np.zeros(len(text), np.uint8))
    equal = [padded[at + i] == byte for i, byte in enumerate(text)]
    same: npt.NDArray[np.bool_] = np.logical_and.reduce(equal)
    return same
