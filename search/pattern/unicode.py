"""Character classes and case folding exactly as Debian's ripgrep 13 has them: Unicode 14.

`unicode.tsv` holds one set per line: a name, a tab, inclusive hexadecimal ranges. The last line,
`fold`, lists the classes of characters that are equal under simple case folding
(CaseFolding.txt, status C and S), members joined by `=`. The file was written by asking ripgrep
about every code point, and `tests/search/against_rg/test_unicode_tables.py` asks it again.
A table and not `unicodedata`: that module changes with Python's version, and it has neither
Alphabetic nor scripts.
"""

from bisect import bisect_left, bisect_right
from functools import cache
from pathlib import Path

from search.pattern.ranges import ANY, Ranges, complement, normalised

_TABLE = Path(__file__).with_name("unicode.tsv")

# RE2 calls these groups by one letter; the table has their two-letter parts.
_MAJOR = "LMNPSZ"

ASCII_CLASSES: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": ((0x30, 0x39),),
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}


@cache
def _rows() -> dict[str, str]:
    with _TABLE.open(encoding="ascii") as lines:
        return dict(line.rstrip("\n").split("\t", 1) for line in lines)


@cache
def _row(name: str) -> Ranges:
    pairs = (item.partition("-") for item in _rows()[name].split())
    return tuple((int(low, 16), int(high or low, 16)) for low, _, high in pairs)


@cache
def perl_class(letter: str) -> Ranges:
    """`w`, `d`, `s` or the capital that negates it."""
    ranges = _row({"w": "word", "d": "Nd", "s": "space"}[letter.lower()])
    return complement(ranges) if letter.isupper() else ranges


@cache
def unicode_class(name: str) -> Ranges | None:
    """A general category or script by RE2's name, e.g. `L`, `Lu`, `Greek`; None if unknown."""
    if name == "Any":
        return ANY
    if name == "C":
        return complement(_major(_MAJOR))
    if len(name) == 1 and name in _MAJOR:
        return _major(name)
    if name in ("word", "space", "fold") or name not in _rows():
        return None
    return _row(name)


def _major(letters: str) -> Ranges:
    names = [name for name in _rows() if len(name) == 2 and name[0] in letters]
    return normalised(pair for name in names for pair in _row(name))


@cache
def _orbits() -> tuple[list[int], dict[int, tuple[int, ...]]]:
    orbit_of: dict[int, tuple[int, ...]] = {}
    for item in _rows()["fold"].split():
        orbit = tuple(int(member, 16) for member in item.split("="))
        for member in orbit:
            orbit_of[member] = orbit
    return sorted(orbit_of), orbit_of


def case_closed(ranges: Ranges) -> Ranges:
    """The ranges with every character that simple case folding makes equal to one of theirs."""
    cased, orbit_of = _orbits()
    extra: list[tuple[int, int]] = []
    for low, high in ranges:
        for at in range(bisect_left(cased, low), bisect_right(cased, high)):
            extra.extend((member, member) for member in orbit_of[cased[at]])
    return normalised([*ranges, *extra]) if extra else ranges


def case_orbit(code: int) -> tuple[int, ...]:
    """Every character equal to this one under simple case folding, itself included, sorted."""
    return _orbits()[1].get(code, (code,))


@cache
def _word_bounds() -> tuple[list[int], list[int]]:
    ranges = _row("word")
    return [low for low, _ in ranges], [high for _, high in ranges]


def is_word(code: int) -> bool:
    """Whether `\\w` matches this code point."""
    lows, highs = _word_bounds()
    at = bisect_left(highs, code)
    return at < len(highs) and lows[at] <= code
