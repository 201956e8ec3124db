"""One glob → an expression over the bytes of a path, by the rules of ripgrep 13."""

from __future__ import annotations

from dataclasses import dataclass

from search.errors import GlobInvalid

_SPECIAL = frozenset("*?[]{}\\/")
_NOT_SLASH = "[^/\\n]"


@dataclass(frozen=True, slots=True)
class Rule:
    """A glob that was read. `expression` matches the whole path, in Latin-1.

    `suffix`: what the path must end with, if that is all that the glob says.
    """

    expression: str
    include: bool
    directories_only: bool
    suffix: bytes


def parse_glob(glob: str) -> Rule:
    """Read one glob; `!` in front makes it an exclude.

    Raises:
        GlobInvalid: quotes the glob and says what is wrong with it.
    """
    # As in gitignore files, blanks at the end do not count unless the last is escaped.
    body = glob if glob.endswith("\\ ") else glob.rstrip()
    include = not body.startswith("!")
    body = body if include else body[1:]
    if not body.strip("/"):
        raise GlobInvalid(f"The glob {glob!r} is empty.", glob)
    anchored = body.startswith("/")
    body = body[1:] if anchored else body
    directories_only = body.endswith("/")
    if directories_only:
        if include:
            raise GlobInvalid(
                f"The glob {glob!r} ends in a slash, which names a directory and so selects no "
                f"file. Write {glob.rstrip('/')}/** for what is below it.",
                glob,
                len(glob) - 1,
            )
        body = body[:-1]
    suffix = body[1:] if body.startswith("*") and not _SPECIAL.intersection(body[1:]) else ""
    if not anchored and "/" not in body and body != "**":
        body = "**/" + body
    else:
        suffix = ""
    if body.endswith("/**"):
        body += "/*"  # what is below the directory, not the directory itself
    expression = _Translator(glob, body).expression()
    return Rule(expression, include, directories_only, suffix.encode())


class _Translator:
    """Reads a glob from left to right and writes the expression."""

    def __init__(self, glob: str, body: str) -> None:
        self._glob = glob  # as the caller wrote it, for messages
        self._shift = len(glob) - len(body)
        self._body = body
        self._at = 0
        self._out: list[str] = []
        self._branches: list[str] | None = None  # of the alternative that is open
        self._outer: list[str] = []  # what stands before it

    def expression(self) -> str:
        if self._body == "**":
            return "[^\\n]*"
        while self._at < len(self._body):
            self._step()
        if self._branches is not None:
            raise self._invalid("a { is not closed; write [{] for the character", len(self._body))
        return "".join(self._out)

    def _invalid(self, reason: str, at: int) -> GlobInvalid:
        position = max(0, min(at + self._shift, len(self._glob) - 1))
        return GlobInvalid(
            f"The glob {self._glob!r} cannot be read: {reason}.", self._glob, position
        )

    def _step(self) -> None:
        char, at = self._body[self._at], self._at
        self._at += 1
        if char == "?":
            self._out.append(_NOT_SLASH)
        elif char == "*":
            self._star()
        elif char == "[":
            self._class()
        elif char == "{":
            if self._branches is not None:
                raise self._invalid("a { inside another { } is not supported", at)
            self._branches, self._outer, self._out = [], self._out, []
        elif char == "}":
            self._close(at)
        elif char == "," and self._branches is not None:
            self._branches.append("".join(self._out))
            self._out = []
        elif char == "\\":
            if self._at == len(self._body):
                raise self._invalid("it ends in a lone \\", at)
            self._out.append(_literal(self._body[self._at]))
            self._at += 1
        else:
            self._out.append(_literal(char))

    def _close(self, at: int) -> None:
        if self._branches is None:
            raise self._invalid("a } closes nothing; write [}] for the character", at)
        branches = [branch for branch in (*self._branches, "".join(self._out)) if branch]
        self._branches, self._out = None, self._outer
        # Without a branch that is not empty, {} stands for nothing at all.
        if branches:
            self._out.append(f"(?:{'|'.join(branches)})")

    def _star(self) -> None:
        body = self._body
        start = self._at - 1
        if not body.startswith("**", start):
            self._out.append(f"{_NOT_SLASH}*")
            return
        self._at += 1
        before = body[start - 1] if start else ""
        after = body[self._at : self._at + 1]
        ends = after == "" or (after in ",}" and self._branches is not None)
        if not self._out:
            if after in ("", "/"):
                self._at += 1
                self._out.append("(?:/?|[^\\n]*/)")
                return
        elif before == "/" and (ends or after == "/"):
            self._slash_star(ends)
            return
        # Not a segment of its own: the same as one star.
        self._out.append(f"{_NOT_SLASH}*")

    def _slash_star(self, ends: bool) -> None:
        """`/**/` or a final `/**`: the slash before it is already written, and goes."""
        previous = self._out.pop()
        if not ends:
            self._at += 1
        if previous != "/":
            self._out.append(previous)  # after another ** it adds nothing
        else:
            self._out.append("/[^\\n]*" if ends else "(?:/|/[^\\n]*/)")

    def _class(self) -> None:
        start = self._at - 1
        body = self._body
        negated = body[self._at : self._at + 1] in ("!", "^")
        self._at += negated
        ranges: list[tuple[str, str]] = []
        in_range = False
        while True:
            if self._at == len(body):
                raise self._invalid("a [ is not closed; write [[] for the character", start)
            char = body[self._at]
            self._at += 1
            if char == "]" and ranges:
                break
            if char == "-" and ranges and not in_range:
                in_range = True
            elif in_range:
                low = ranges[-1][0]
                if char < low:
                    raise self._invalid(f"the range {low}-{char} runs backwards", start)
                ranges[-1] = (low, char)
                in_range = False
            else:
                ranges.append((char, char))
        if in_range:
            ranges.append(("-", "-"))
        self._out.append(_class(ranges, negated))


def _literal(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode()) if char != "/" else "/"


def _class(ranges: list[tuple[str, str]], negated: bool) -> str:
    """A class of bytes without the slash.

    A range from é to ü is, byte by byte, é's first byte, then its last to ü's first, then ü's
    last: so does ripgrep, whose globs know no characters beyond ASCII in classes.
    """
    members: set[int] = set()
    for low, high in ranges:
        first, last = low.encode(), high.encode()
        if low == high:
            members.update(first)
            continue
        members.update(first[:-1], last[1:], range(first[-1], last[0] + 1))
    kept = set(range(256)) - members if negated else members
    kept -= {0x2F, 0x0A}
    if not kept:
        return "[^\\x00-\\xff]"
    return "[" + "".join(f"\\x{byte:02x}" for byte in sorted(kept)) + "]"
