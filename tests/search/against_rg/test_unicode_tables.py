"""`search/pattern/unicode.tsv` says of every code point what ripgrep says."""

import subprocess
from pathlib import Path

import pytest

from search.pattern import unicode
from search.pattern.ranges import Ranges, difference
from search.pattern.unicode import case_orbit, perl_class, unicode_class
from tests.search.against_rg.ripgrep import ensure_ripgrep

pytestmark = [pytest.mark.needs_rg, pytest.mark.long]

# No line can hold them: the newline, and code points that UTF-8 does not encode.
_UNASKABLE: Ranges = ((0x0A, 0x0A), (0xD800, 0xDFFF))


@pytest.fixture(scope="module")
def every_character(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Line n + 1 holds code point n."""
    path = tmp_path_factory.mktemp("unicode") / "all"
    skipped = {code for low, high in _UNASKABLE for code in range(low, high + 1)}
    lines = ("" if code in skipped else chr(code) for code in range(0x110000))
    path.write_bytes("\n".join(lines).encode())
    return path


def asked(path: Path, pattern: str, *flags: str) -> set[int]:
    command = [ensure_ripgrep(), "--no-config", "-a", "-n", *flags, "-e", pattern, str(path)]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    rows = (row.partition(b":") for row in done.stdout.split(b"\n"))
    return {int(number) - 1 for number, colon, _ in rows if colon and number.isdigit()}


def told(ranges: Ranges) -> set[int]:
    kept = difference(ranges, _UNASKABLE)
    return {code for low, high in kept for code in range(low, high + 1)}


def test_perl_classes_are_ripgreps(every_character: Path) -> None:
    for letter in "wds":
        assert told(perl_class(letter)) == asked(every_character, f"\\{letter}")


def test_categories_and_scripts_are_ripgreps(every_character: Path) -> None:
    names = [name for name in unicode._rows() if name not in ("word", "space", "fold", "Cs")]
    for name in [*names, *"LMNPSZC"]:
        # ripgrep 13 takes Sc, Cf and others for abbreviations of something else.
        pattern = f"\\p{{gc={name}}}" if len(name) <= 2 and name != "Yi" else f"\\p{{{name}}}"
        ranges = unicode_class(name)
        assert ranges is not None
        assert told(ranges) == asked(every_character, pattern), name


def test_folding_is_ripgreps(tmp_path: Path) -> None:
    changing = [chr(c) for c in range(0x20000) if not 0xD800 <= c < 0xE000]
    changing = [c for c in changing if {c, c.lower(), c.upper(), c.casefold()} != {c}]
    path = tmp_path / "cased"
    path.write_text("\n".join(changing), encoding="utf-8", newline="")
    for char in changing:
        equal = {changing[line] for line in asked(path, f"\\x{{{ord(char):x}}}", "-i")}
        assert equal == {chr(code) for code in case_orbit(ord(char))}, char
