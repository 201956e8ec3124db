"""The case files of `cases/`: what a pattern finds in a text, and what globs select.

A case is a block of `key: value` lines; blank lines part the cases, `#` starts a comment line.

    case: branches are not joined into one prefix      name, once
    source: ripgrep#2884                               where it comes from (optional)
    flags: ignore_case fixed_strings                   (optional)
    pattern: e.x|ex                                    everything behind the blank
    text: e-x                                          one line of the file; a newline is added
    utf8: k \\u212a                                    the same with Python's escapes
    bytes: caf\\xe9                                     bytes, escaped; nothing is added
    hit: 1 0-3 5-8                                     line number, spans in bytes; in order
    line: 1 needle                                     the line as it is shown (optional)
    error: INVALID_PATTERN 4 lookahead                 code, position, a part of the message

A glob case has `glob`, `path` (prefix) and `files` (names, parted by blanks), and `selects` or
`error`. A case with neither hits nor an error finds nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).with_name("cases")

Spans = tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Case:
    name: str
    file: str
    source: str = ""
    flags: frozenset[str] = frozenset()
    pattern: str = ""
    blob: bytes = b""
    hits: list[tuple[int, Spans]] = field(default_factory=list)
    lines: dict[int, bytes] = field(default_factory=dict)
    error: tuple[str, int, str] | None = None
    globs: list[str] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    selects: list[str] = field(default_factory=list)

    @property
    def ignore_case(self) -> bool:
        return "ignore_case" in self.flags

    @property
    def fixed_strings(self) -> bool:
        return "fixed_strings" in self.flags


def pattern_cases() -> list[Case]:
    """Cases about one pattern and one file, of all `cases/*.txt` but `globs*.txt`."""
    return [case for case in _all() if not case.file.startswith("globs")]


def glob_cases() -> list[Case]:
    """Cases about globs and path prefixes, of `cases/globs*.txt`."""
    return [case for case in _all() if case.file.startswith("globs")]


def _all() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            # Not splitlines(): it would cut at U+2028 and others that belong to a text.
            rows = [row for row in block.split("\n") if row and not row.startswith("#")]
            if rows:
                yield _case(path.stem, rows)


def _case(file: str, rows: list[str]) -> Case:
    case = Case(name="", file=file)
    for row in rows:
        key, _, value = row.partition(": ")
        _read(case, key.removesuffix(":"), value)
    assert case.name, f"{file}: a case without a name: {rows}"
    return case


def _read(case: Case, key: str, value: str) -> None:
    match key:
        case "case":
            case.name = value
        case "source":
            case.source = value
        case "flags":
            case.flags = frozenset(value.split())
        case "pattern":
            case.pattern = value
        case "text":
            case.blob += value.encode() + b"\n"
        case "utf8":
            escaped = value.encode("ascii").decode("unicode_escape")
            case.blob += escaped.encode() + b"\n"
        case "bytes":
            case.blob += value.encode("latin-1").decode("unicode_escape").encode("latin-1")
        case "hit":
            number, *spans = value.split()
            pairs = (span.split("-") for span in spans)
            case.hits.append((int(number), tuple((int(low), int(high)) for low, high in pairs)))
        case "line":
            number, _, line = value.partition(" ")
            case.lines[int(number)] = line.encode()
        case "error":
            code, position, text = value.split(" ", 2)
            case.error = (code, int(position), text)
        case "glob":
            case.globs.append(value)
        case "path":
            case.prefixes.append(value)
        case "files":
            case.files += value.split()
        case "selects":
            case.selects += value.split()
        case _:
            raise AssertionError(f"{case.file}: unknown key {key!r} in {case.name!r}")
