"""Simple case folding: the C and S rows of Unicode's CaseFolding.txt.

The index, the patterns and the kernel fold with this one table, so that "equal without
regard to case" means the same to all of them, and the same as to RE2.
"""

import functools

FOLD_LIMIT = 0x20000  # no code point at or above it folds

# Of Unicode 15.1 and later; Python 3.11 has the tables of 14.
_LATER = {0x1FD3: 0x0390, 0x1FE3: 0x03B0, 0xFB05: 0xFB06}


def fold_codepoint(point: int) -> int:
    """The code point that `point` folds to; itself if it has no simple folding.

    >>> chr(fold_codepoint(0x212A))  # KELVIN SIGN
    'k'
    """
    if point in _LATER:
        return _LATER[point]
    if 0xD800 <= point < 0xE000:
        return point
    character = chr(point)
    folded = character.casefold()
    if len(folded) == 1:
        return ord(folded)
    # Full folding makes several characters of it; the S row then equals the lower case.
    lower = character.lower()
    return ord(lower) if len(lower) == 1 else point


@functools.lru_cache(1)
def table() -> dict[int, int]:
    """Every code point that folds to another one, with that one."""
    # What full folding leaves alone, simple folding does too.
    candidates = [ord(c) for c in map(chr, range(FOLD_LIMIT)) if c.casefold() != c]
    folds = {point: fold_codepoint(point) for point in candidates}
    return {point: folded for point, folded in folds.items() if folded != point}


def fold_bytes(text: bytes) -> bytes:
    """Fold UTF-8 text; bytes that are not UTF-8 stay. The length may change.

    >>> fold_bytes(b"\\xe2\\x84\\xaa \\xff A")
    b'k \\xff a'
    """
    characters = text.decode("utf-8", "surrogateescape")
    return characters.translate(table()).encode("utf-8", "surrogateescape")
