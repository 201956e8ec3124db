"""ripgrep's `-g` globs and path prefixes, for all paths of a tree at once. Pure.

A glob is a line of a gitignore file with the sense of `!` turned round:

    *.py        include; with no slash inside it matches at any depth
    src/*.py    a slash anywhere but at the end anchors it at the root, as does a leading one
    !vendor     exclude; a directory that is excluded takes all below it along
    !build/     exclude directories of this name only

`*`, `?` and `[...]` stop at `/`; `**` as a whole segment does not. `{a,b}` is an alternative, not
nested; an empty branch of it is dropped, as ripgrep 13 does. `?` and `[...]` work on bytes, so a
letter beyond ASCII takes as many as it has bytes. For a directory and for a file alike the last
glob that matches wins; once there is an include, a file that none matches is out.

Paths never hold a newline (such names are not addressable), so a whole table of them is one text
with a path to a line, and each glob is one expression over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile
from typing import Any

import numpy as np
import numpy.typing as npt
import re2
from re2 import _re2

from search.errors import GlobInvalid
from search.glob_syntax import Rule, parse_glob
from search.index.generation import PathTable
from sourcegraph_site.kernel.errors import InvalidPaths

MAX_GLOBS = 64
MAX_GLOB_BYTES = 1_024
MAX_PATHS = 64
MAX_PATH_BYTES = 4_096

Mask = npt.NDArray[np.bool_]

_UNANCHORED = _re2.RE2.Anchor.UNANCHORED


@dataclass(frozen=True, slots=True)
class PathFilter:
    """Which paths of a tree a search looks at. Immutable.

    `cache_key` is equal for filters that select the same, so that a mask can be kept for each
    tree; `is_all` means that there is nothing to select.
    """

    rules: tuple[Rule, ...]
    prefixes: tuple[bytes, ...]

    @property
    def is_all(self) -> bool:
        return not self.rules and not self.prefixes

    @property
    def cache_key(self) -> tuple[object, ...]:
        return (self.rules, self.prefixes)

    def matches(self, path: bytes) -> bool:
        return bool(self.select((path,))[0])

    def select(self, paths: Sequence[bytes]) -> Mask:
        """One bool for each path, in any order of paths."""
        if self.is_all or not len(paths):
            return np.ones(len(paths), np.bool_)
        lines = _Lines(paths)
        selected = np.full(len(paths), not any(rule.include for rule in self.rules))
        for rule in self.rules:
            if not rule.directories_only:
                selected[lines.of(rule)] = rule.include
        if any(not rule.include for rule in self.rules):
            selected &= ~_below_excluded(paths, lines, self.rules)
        if self.prefixes:
            selected &= lines.matching(_prefix_expression(self.prefixes))
        return selected


def compile_globs(globs: Sequence[str], paths: Sequence[str]) -> PathFilter:
    """Read the globs and the path prefixes of a request.

    A path selects the file of that name, or everything below the directory of that name. A path
    that does not exist selects nothing.

    Raises:
        GlobInvalid: too many, too long, or not a glob.
        InvalidPaths: too many, or not the name of something inside a repository.
    """
    if len(globs) > MAX_GLOBS:
        raise GlobInvalid(f"There are {len(globs)} globs; the most is {MAX_GLOBS}.")
    if len(paths) > MAX_PATHS:
        raise InvalidPaths(f"There are {len(paths)} paths; the most is {MAX_PATHS}.")
    rules = []
    for glob in globs:
        _check_glob_text(glob)
        rules.append(parse_glob(glob))
    return PathFilter(tuple(rules), tuple(sorted({_prefix(path) for path in paths})))


def _check_glob_text(glob: str) -> None:
    size = len(glob.encode("utf-8", "surrogatepass"))
    if size > MAX_GLOB_BYTES:
        raise GlobInvalid(
            f"The glob {glob[:40]!r}… has {size} bytes; the most is {MAX_GLOB_BYTES}.", glob[:40]
        )
    for at, char in enumerate(glob):
        if char in "\0\n" or 0xD800 <= ord(char) < 0xE000:
            reason = "a NUL, a newline or a lone surrogate, which no path has"
            raise GlobInvalid(f"The glob {glob!r} holds {reason}.", glob, at)


def _prefix(path: str) -> bytes:
    """A path as it stands in a tree.

    Raises:
        InvalidPaths: empty, absolute, with `.`, `..`, `.git` or empty segments, or with
            characters that no addressable path has.
    """
    try:
        encoded = path.encode()
    except UnicodeEncodeError as exc:
        raise InvalidPaths(f"The path {path!r} is not valid Unicode text.") from exc
    reason = ""
    if not path:
        reason = "is empty; leave paths out to search everything"
    elif len(encoded) > MAX_PATH_BYTES:
        reason = f"has {len(encoded)} bytes; the most is {MAX_PATH_BYTES}"
    elif path.startswith("/"):
        reason = "starts with a slash; paths count from the root of the repository"
    elif any(char < " " or char in "\x7f\\" for char in path):
        reason = "holds a control character or a backslash, which no path here has"
    elif any(part in (".", "..", "") for part in path.removesuffix("/").split("/")):
        reason = "has an empty, . or .. segment; write it in full"
    elif any(part.lower() == ".git" for part in path.split("/")):
        reason = "has a .git segment, which is never part of a tree"
    if reason:
        shown = path if len(path) <= 80 else path[:80] + "…"
        raise InvalidPaths(f"The path {shown!r} {reason}.", path=shown)
    return encoded.removesuffix(b"/")


def _prefix_expression(prefixes: Iterable[bytes]) -> str:
    names = "|".join("".join(f"\\x{byte:02x}" for byte in prefix) for prefix in prefixes)
    return f"(?:{names})(?:/[^\\n]*)?"


class _Lines:
    """Paths as the lines of one text."""

    def __init__(self, paths: Sequence[bytes]) -> None:
        table = paths if isinstance(paths, PathTable) else PathTable.of(paths)
        offsets = table.offsets.astype(np.int64)
        rows = np.arange(len(offsets), dtype=np.int64)
        self._starts = offsets + rows
        self._ends = self._starts[1:] - 1  # of the newlines
        # Each path is followed by one newline; the rest of the text is the table as it is.
        text = np.empty(len(table.blob) + len(table), np.uint8)
        is_path = np.ones(len(text), np.bool_)
        is_path[self._ends] = False
        text[is_path] = np.frombuffer(table.blob, np.uint8)
        text[self._ends] = 0x0A
        self._bytes = text
        self._text = text.tobytes()

    def of(self, rule: Rule) -> Mask:
        """Which lines a rule matches."""
        return self.ending(rule.suffix) if rule.suffix else self.matching(rule.expression)

    def ending(self, suffix: bytes) -> Mask:
        """Which lines end with these bytes, none of which is a newline."""
        mask = self._ends >= len(suffix)
        for back, byte in enumerate(reversed(suffix), start=1):
            # Where a path is shorter, any byte will do: it is out already, or a newline is.
            mask &= self._bytes[np.maximum(self._ends - back, 0)] == byte
        return mask

    def matching(self, expression: str) -> Mask:
        """Which lines match as a whole."""
        # A run of neighbours that match is one find: paths of one directory, or of one kind,
        # stand together, so there are far fewer runs than paths.
        match = _compiled(f"(?m:^)(?:(?:{expression})\\n)+").Match
        edges: list[int] = []
        at, stop = 0, len(self._text)
        while at < stop:
            ((begin, end),) = match(_UNANCHORED, self._text, at, stop)
            if begin < 0:
                break
            edges += (begin, end)
            at = end
        steps = np.zeros(len(self._starts), np.int64)
        rows = np.searchsorted(self._starts, np.array(edges, np.int64))
        steps[rows[0::2]] += 1
        steps[rows[1::2]] -= 1
        return np.cumsum(steps[:-1]).astype(np.bool_)


@lru_cache(maxsize=256)
def _compiled(expression: str) -> Any:
    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    compiled = _re2.RE2(expression.encode("latin-1"), options)
    if not compiled.ok():
        raise GlobInvalid("The globs are too large together.")
    return compiled


def _below_excluded(paths: Sequence[bytes], lines: _Lines, rules: Sequence[Rule]) -> Mask:
    """Which paths lie, at any depth, in a directory that the rules exclude."""
    below = np.zeros(len(paths), np.bool_)
    for rule in rules:
        if not rule.include:
            below |= lines.matching(f"(?:{rule.expression})/[^\\n]*")
    reopened = any(rule.include for rule in dropwhile(lambda rule: rule.include, rules))
    if reopened and below.any():
        # An include behind an exclude may match the directory itself and so open it again.
        rows = np.flatnonzero(below)
        below[rows] = _in_closed([paths[row] for row in rows.tolist()], rules)
    return below


def _in_closed(paths: Sequence[bytes], rules: Sequence[Rule]) -> Mask:
    """As `_below_excluded`, by looking at each directory on the way to each path."""
    parents = [_parent(path) for path in paths]
    directories = sorted({each for parent in set(parents) for each in _with_ancestors(parent)})
    lines = _Lines(directories)
    excluded = np.zeros(len(directories), np.bool_)
    for rule in rules:
        excluded[lines.of(rule)] = not rule.include
    closed: set[bytes] = set()
    # Ascending order: a directory comes after the one that it lies in.
    for directory, own in zip(directories, excluded.tolist(), strict=True):
        if own or _parent(directory) in closed:
            closed.add(directory)
    return np.fromiter((parent in closed for parent in parents), np.bool_, len(paths))


def _parent(path: bytes) -> bytes:
    """The directory that a path lies in; empty for the root."""
    return path[: max(path.rfind(b"/"), 0)]


def _with_ancestors(directory: bytes) -> Iterator[bytes]:
    """The directory and those that it lies in, without the root."""
    while directory:
        yield directory
        directory = _parent(directory)
