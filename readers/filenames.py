"""All file names of a commit, and finding some of them by a glob or by a few letters."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import re2

from readers.caching import WeightedCache
from readers.errors import InvalidQuery
from readers.gitcalls import ask_git
from readers.objects import Objects
from readers.paths import addressable
from readers.snapshot import Snapshot

MAX_LISTING_BYTES = 128 << 20
MAX_QUERY_BYTES = 1024
_CACHE_BYTES = 128 << 20  # per process
_ENTRY_OVERHEAD = 200  # bytes of a row beside its name, roughly

_ROW = re.compile(rb"(100\d{3}|120000) blob ([0-9a-f]{40})\t([^\0]+)\0|[^\0]*\0", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Names:
    """The files and links of a tree, by their paths' bytes; `oids[n]` belongs to `paths[n]`."""

    paths: list[bytes]
    oids: list[str]


_names: WeightedCache[tuple[str, str], Names] = WeightedCache(_CACHE_BYTES)


def names_of(objects: Objects, root: str) -> Names:
    """Every addressable file and link below a tree; directories and submodules are not.

    Raises:
        GitOutputLimit: the tree is too large to be listed.
    """
    key = (str(objects.git_dir), root)
    found = _names.get(key)
    if found is None:
        out = ask_git(
            objects, "ls-tree", "-r", "-z", "--full-tree", root, max_output=MAX_LISTING_BYTES
        )
        rows = sorted((path, oid) for mode, oid, path in _ROW.findall(out) if mode)
        rows = [row for row in rows if addressable(row[0]) is not None]
        found = Names([path for path, _ in rows], [oid.decode() for _, oid in rows])
        _names.put(key, found, len(out) + _ENTRY_OVERHEAD * len(rows))
    return found


def matching(snapshot: Snapshot, query: str, mode: str) -> tuple[Names, list[int]]:
    """The numbers of the names that match, best or first ones first.

    Raises:
        InvalidQuery: see `glob_matcher` and `fuzzy_ranking`.
    """
    names = names_of(snapshot.objects, snapshot.root)
    covered = snapshot.coverage.contains
    if mode == "glob":
        fits = glob_matcher(query)
        return names, [n for n, path in enumerate(names.paths) if fits(path) and covered(path)]
    rank = fuzzy_ranking(query)
    ranked = []
    for number, path in enumerate(names.paths):
        score = rank(path)
        if score is not None and covered(path):
            ranked.append((score, number))
    return names, [number for _, number in sorted(ranked)]


def check_query(query: str) -> None:
    """Raises InvalidQuery: empty, over 1,024 bytes, or with characters that no name has."""
    if not query.strip():
        raise InvalidQuery("The query is empty.")
    if len(query.encode("utf-8", "surrogatepass")) > MAX_QUERY_BYTES:
        raise InvalidQuery(f"The query is longer than {MAX_QUERY_BYTES} bytes.")
    if re.search("[\x00-\x1f\x7f\ud800-\udfff]", query):
        raise InvalidQuery("The query holds a character that no file name here has.")


# --- Letters ------------------------------------------------------------------------------

Score = tuple[int, int, int]


def fuzzy_ranking(query: str) -> Callable[[bytes], Score | None]:
    """How well a path fits letters that it must contain in this order; None if it does not.

    Case and blanks do not count. Lower is better: first by kind (the file's name is the
    query, begins with it, contains it, contains its letters; then the same for the whole
    path), then by how far the letters are spread, then by the path's length.
    """
    letters = "".join(query.split())
    plain = letters.lower()
    scattered = re2.compile("(?i)" + ".*?".join(re.escape(letter) for letter in letters))

    def rank(path: bytes) -> Score | None:
        found = scattered.search(path)
        if found is None:
            return None
        text = path.decode().lower()
        name = text.rpartition("/")[2]
        if name == plain:
            kind = 0
        elif name.startswith(plain):
            kind = 1
        elif plain in name:
            kind = 2
        elif scattered.search(path.rpartition(b"/")[2]):
            kind = 3
        else:
            kind = 4 if plain in text else 5
        return kind, found.end() - found.start(), len(path)

    return rank


# --- Globs --------------------------------------------------------------------------------


def glob_matcher(glob: str) -> Callable[[bytes], bool]:
    """A test of whole paths by one glob, with the rules of a search's include globs.

    `*` and `?` stop at a slash, `**` as a whole segment does not; `[...]` with `!` or `^`
    negates; `{a,b}` is not nested; a backslash escapes. Without a slash it matches the name
    at any depth, otherwise from the root; one leading slash is dropped. `?` and `[...]` work
    on bytes.

    Raises:
        InvalidQuery: an open bracket or brace, or a backslash at the end.
    """
    anchored = "/" in glob.rstrip("/")
    pattern = _Translation(glob.removeprefix("/").encode()).pattern
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    prefix = b"" if anchored else b"(?:.*/)?"
    try:
        compiled = re2.compile(prefix + pattern, options)
    except re2.error:
        raise InvalidQuery("The glob cannot be used: is a range in brackets upside down?") from None
    return lambda path: compiled.fullmatch(path) is not None


class _Translation:
    """One glob, byte by byte, to a regular expression."""

    def __init__(self, glob: bytes) -> None:
        self._glob = glob
        self._at = 0
        self._in_braces = False
        parts = []
        while self._at < len(glob):
            parts.append(self._next())
        if self._in_braces:
            raise InvalidQuery("The glob has an open brace.")
        self.pattern = b"".join(parts)

    def _next(self) -> bytes:
        glob, at = self._glob, self._at
        if glob.startswith(b"**/", at) and (at == 0 or glob[at - 1 : at] == b"/"):
            self._at += 3
            return b"(?:.*/)?"
        if glob[at:] == b"**" and (at == 0 or glob[at - 1 : at] == b"/"):
            self._at += 2
            return b".*"
        self._at += 1
        byte = glob[at : at + 1]
        if byte == b"*":
            return b"[^/]*"
        if byte == b"?":
            return b"[^/]"
        if byte == b"[":
            return self._brackets()
        if byte == b"\\":
            if self._at == len(glob):
                raise InvalidQuery("The glob ends in a backslash.")
            self._at += 1
            return _literal(glob[self._at - 1])
        return self._braces(byte)

    def _braces(self, byte: bytes) -> bytes:
        if byte == b"{":
            if self._in_braces:
                raise InvalidQuery("Braces of a glob cannot be nested.")
            self._in_braces = True
            return b"(?:"
        if self._in_braces and byte == b"}":
            self._in_braces = False
            return b")"
        return b"|" if self._in_braces and byte == b"," else _literal(byte[0])

    def _brackets(self) -> bytes:
        negated = self._glob[self._at : self._at + 1] in (b"!", b"^")
        start = self._at + negated
        # A bracket that comes first stands for itself.
        end = self._glob.find(b"]", start + 1)
        if end < 0:
            raise InvalidQuery("The glob has an open bracket.")
        self._at = end + 1
        chosen = _members(self._glob[start:end])
        wanted = {b for b in range(256) if (b in chosen) != negated} - {ord("/")}
        return (
            b"[" + b"".join(map(_literal, sorted(wanted))) + b"]" if wanted else b"[^\\x00-\\xff]"
        )


def _members(inside: bytes) -> set[int]:
    """The bytes of a bracket: single ones and ranges."""
    found: set[int] = set()
    at = 0
    while at < len(inside):
        if inside[at + 1 : at + 2] == b"-" and at + 2 < len(inside):
            low, high = inside[at], inside[at + 2]
            if low > high:
                raise InvalidQuery("A range in the glob's brackets is upside down.")
            found.update(range(low, high + 1))
            at += 3
        else:
            found.add(inside[at])
            at += 1
    return found


def _literal(byte: int) -> bytes:
    return b"\\x%02x" % byte
