"""Where lines come from, by `git blame --porcelain`."""

import re
from dataclasses import dataclass

from readers.gitcalls import ask_git
from readers.objects import Objects
from repos.errors import GitOperationFailed

MAX_OUTPUT = 32 << 20  # the lines themselves are in the answer

_LINE = re.compile(rb"([0-9a-f]{40}) (\d+) (\d+)(?: \d+)?")
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_ESCAPED = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


@dataclass(frozen=True, slots=True)
class Origin:
    line: int
    commit: str
    original_path: bytes
    original_line: int


def origins(objects: Objects, commit: str, path: bytes, first: int, last: int) -> list[Origin]:
    """The origin of lines `first` to `last`, in order."""
    out = ask_git(
        objects,
        *("blame", "--porcelain", "-L", f"{first},{last}", commit),
        *("--", path.decode("utf-8", "surrogateescape")),
        max_output=MAX_OUTPUT,
    )
    return parse_porcelain(out)


def parse_porcelain(out: bytes) -> list[Origin]:
    """Per line: `<commit> <original line> <line> [<count>]`, headers, TAB and the text.

    A commit's headers, its `filename` among them, come with its first line only; `filename`
    comes again when the commit's lines are from another file.

    Raises:
        GitOperationFailed: it has another form.
    """
    found: list[Origin] = []
    names: dict[bytes, bytes] = {}
    rows = iter(out.split(b"\n"))
    for row in rows:
        if not row:
            continue
        head = _LINE.fullmatch(row)
        if head is None:
            raise GitOperationFailed("Git blamed the lines in a form that is not known.")
        commit, original, line = head.groups()
        for header in rows:
            if header.startswith(b"\t"):
                break
            if header.startswith(b"filename "):
                names[commit] = unquote(header.removeprefix(b"filename "))
        found.append(Origin(int(line), commit.decode(), names.get(commit, b""), int(original)))
    return found


def unquote(name: bytes) -> bytes:
    """A path as Git writes it in line-based answers.

    >>> unquote(b'"a\\\\tb\\\\303\\\\251"')
    b'a\\tb\\xc3\\xa9'
    """
    if not (len(name) > 1 and name.startswith(b'"') and name.endswith(b'"')):
        return name

    def plain(found: re.Match[bytes]) -> bytes:
        code = found[1]
        return bytes([int(code, 8) & 0xFF if len(code) == 3 else _ESCAPED[code[0]]])

    return _ESCAPE.sub(plain, name[1:-1])
