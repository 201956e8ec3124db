"""Escapes and bracket classes: the part of the syntax that ends in a set of code points."""

from __future__ import annotations

from dataclasses import dataclass

from search.errors import PatternInvalid
from search.pattern.ranges import LAST, Ranges, complement, difference, normalised
from search.pattern.unicode import ASCII_CLASSES, case_closed, perl_class, unicode_class

NEWLINE: Ranges = ((0x0A, 0x0A),)
# Text that is valid UTF-8 holds no surrogates, and ripgrep's classes have none.
_NEVER: Ranges = ((0x0A, 0x0A), (0xD800, 0xDFFF))

PERL_CLASSES = "dDsSwW"
_CONTROL = {"a": 0x07, "f": 0x0C, "t": 0x09, "n": 0x0A, "r": 0x0D, "v": 0x0B}
_OCTAL = "01234567"
_HEX = "0123456789abcdefABCDEF"

_UNKNOWN_ESCAPES = {
    "C": "\\C matches single bytes, which can cut a character; use . for any character",
    "Z": "\\Z is not part of the syntax; use $ or \\z for the end of a line",
    "G": "\\G is not part of the syntax; a search has no earlier match to start from",
    "K": "\\K is not part of the syntax; leave it out, the whole match is shown",
    "R": "\\R is not part of the syntax; lines are matched without their line break",
    "X": "\\X is not part of the syntax; use . or \\P{M}\\p{M}*",
    "h": "\\h is not part of the syntax; use [ \\t]",
    "N": "\\N is not part of the syntax; use . which never matches a newline",
    "u": "\\u is not part of the syntax; write \\x{...} with hexadecimal digits",
    "E": "\\E without a \\Q before it",
}


@dataclass(slots=True)
class Source:
    """The pattern and how far it has been read."""

    text: str
    at: int = 0

    def rest_starts_with(self, prefix: str) -> bool:
        return self.text.startswith(prefix, self.at)

    def peek(self, ahead: int = 0) -> str:
        """The character there, or the empty string past the end."""
        return self.text[self.at + ahead : self.at + ahead + 1]

    def take(self, prefix: str) -> bool:
        """Step over `prefix` if it comes next."""
        if not self.rest_starts_with(prefix):
            return False
        self.at += len(prefix)
        return True

    def next(self) -> str:
        char = self.text[self.at]
        self.at += 1
        return char


def matchable(ranges: Ranges, position: int) -> Ranges:
    """What of a class can stand in a line.

    Raises:
        PatternInvalid: a newline is all that it could match.
    """
    left = difference(ranges, _NEVER)
    if not left and difference(ranges, ((0xD800, 0xDFFF),)):
        raise PatternInvalid(
            "This can only match a newline, and a search never crosses lines. Search for one line "
            "at a time, or use $ for the end of a line.",
            position,
        )
    return left


def parse_class_escape(source: Source, ignore_case: bool) -> Ranges | None:
    """Read `\\d`, `\\pN`, `\\p{Greek}` and the like; None, and nothing read, if none comes."""
    letter = source.peek(1)
    if letter and letter in PERL_CLASSES:
        source.at += 2
        return perl_class(letter)
    if not letter or letter not in "pP":
        return None
    start = source.at
    source.at += 2
    negated = letter == "P"
    if source.take("{"):
        end = source.text.find("}", source.at)
        if end < 0:
            raise PatternInvalid("This Unicode class is not closed: a } is missing.", start)
        name = source.text[source.at : end]
        source.at = end + 1
        if name.startswith("^"):
            negated, name = not negated, name[1:]
    elif source.peek():
        name = source.next()
    else:
        raise PatternInvalid("\\p needs the name of a Unicode class, as in \\p{Greek}.", start)
    ranges = unicode_class(name)
    if ranges is None:
        raise PatternInvalid(
            f"There is no Unicode class named {name!r}. Use a general category such as L, Lu or "
            "Nd, or a script such as Greek or Han, written exactly so.",
            start,
        )
    # Fold first, negate second: so do RE2 and ripgrep.
    ranges = case_closed(ranges) if ignore_case else ranges
    return complement(ranges) if negated else ranges


def parse_escape(source: Source) -> int:
    """Read a backslash and what belongs to it; return the code point it stands for."""
    start = source.at
    source.at += 1
    if not source.peek():
        raise PatternInvalid("The pattern ends in a lone \\; write \\\\ for a backslash.", start)
    char = source.next()
    if char in _CONTROL:
        return _CONTROL[char]
    if char == "x":
        return _parse_hex(source, start)
    if char in _OCTAL:
        if char != "0" and (not source.peek() or source.peek() not in _OCTAL):
            raise _backreference(start)
        digits = char
        while len(digits) < 3 and source.peek() and source.peek() in _OCTAL:
            digits += source.next()
        return int(digits, 8)
    if char in "89" or (char == "k" and source.peek() and source.peek() in "<{'"):
        raise _backreference(start)
    if char.isascii() and not char.isalnum() and char != "_":
        return ord(char)
    reason = _UNKNOWN_ESCAPES.get(char, f"\\{char} is not an escape; write {char} without the \\")
    raise PatternInvalid(reason + ".", start)


def _backreference(start: int) -> PatternInvalid:
    return PatternInvalid(
        "Backreferences are not supported: they cannot be matched in linear time. Spell out the "
        "alternatives, or search for one part and filter the results.",
        start,
    )


def _parse_hex(source: Source, start: int) -> int:
    if source.take("{"):
        end = source.text.find("}", source.at)
        digits = source.text[source.at : end] if end >= 0 else ""
        source.at = end + 1
    else:
        digits = source.text[source.at : source.at + 2]
        source.at += 2
        if len(digits) < 2:
            digits = ""
    if not digits or any(digit not in _HEX for digit in digits) or int(digits, 16) > LAST:
        raise PatternInvalid(
            "\\x needs two hexadecimal digits, or up to 10FFFF in braces: \\x41, \\x{1F600}.", start
        )
    return int(digits, 16)


def parse_bracket(source: Source, ignore_case: bool) -> Ranges:
    """Read `[...]` from its bracket on."""
    start = source.at
    source.at += 1
    negated = source.take("^")
    ranges: list[tuple[int, int]] = []
    first = True
    while first or source.peek() != "]":
        if not source.peek():
            raise PatternInvalid(
                "This character class is not closed: a ] is missing. Write \\[ for a bracket.",
                start,
            )
        first = False
        ranges.extend(_parse_item(source, ignore_case, start))
    source.at += 1
    joined = normalised(ranges)
    joined = case_closed(joined) if ignore_case else joined
    return complement(joined) if negated else joined


def _parse_item(source: Source, ignore_case: bool, start: int) -> Ranges:
    if source.rest_starts_with("[:"):
        named = _parse_ascii_class(source, ignore_case)
        if named is not None:
            return named
    if source.peek() == "\\":
        named = parse_class_escape(source, ignore_case)
        if named is not None:
            return named
    item_start = source.at
    low = high = _parse_member(source)
    if source.peek() == "-" and source.peek(1) not in ("", "]"):
        source.at += 1
        high = _parse_member(source)
        if high < low:
            text = source.text[item_start : source.at]
            raise PatternInvalid(f"The range {text} runs backwards.", item_start)
    return ((low, high),)


def _parse_member(source: Source) -> int:
    return parse_escape(source) if source.peek() == "\\" else ord(source.next())


def _parse_ascii_class(source: Source, ignore_case: bool) -> Ranges | None:
    """Read `[:alpha:]` or `[:^alpha:]`; None, and nothing read, if it is not closed."""
    end = source.text.find(":]", source.at + 2)
    if end < 0:
        return None
    name = source.text[source.at + 2 : end]
    ranges = ASCII_CLASSES.get(name.removeprefix("^"))
    if ranges is None:
        known = ", ".join(sorted(ASCII_CLASSES))
        raise PatternInvalid(f"There is no class [:{name}:]; there are {known}.", source.at)
    source.at = end + 2
    ranges = case_closed(ranges) if ignore_case else ranges
    return complement(ranges) if name.startswith("^") else ranges
