"""Two commits → changed paths with their patches. Git compares; we parse and bound.

One call lists all changes; a second makes the patches of a page. The second prints its own
list first and then the patches in the same order, so the n-th patch belongs to the n-th row
and no name has to be parsed out of a patch. Inside a patch every line begins with a space,
`+`, `-`, `@` or `\\`, so a line that begins with `diff --git ` always begins the next one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from readers.errors import UnsupportedPathEncoding
from readers.gitcalls import ask_git
from readers.objects import Objects
from readers.paths import addressable
from repos.errors import GitOperationFailed, GitOutputLimit
from sourcegraph_site.kernel.errors import QueryDeadlineExceeded

MAX_LIST_BYTES = 8 << 20
MAX_PATCH_BYTES = 64 << 10
MAX_PAGE_BYTES = 256 << 10
MAX_BLOB_BYTES = 8 << 20  # beyond, no patch is asked for
_JOINT_BYTES = 4 << 20  # of one process for a whole page; beyond, one process per path

_RAW = re.compile(
    rb":(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) ([AMDTRC])(\d*)\0([^\0]*)\0", re.DOTALL
)
_HEADER = re.compile(rb"^diff --git ", re.MULTILINE)
_BINARY = re.compile(rb"^(?:Binary files .* differ|GIT binary patch)$", re.MULTILINE)
_OPTIONS = ("-r", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative")


@dataclass(frozen=True, slots=True)
class RawChange:
    """One changed path; `kind` is A, M, D, T, or R with `old_path` and `similarity` (%)."""

    path: bytes
    kind: str
    old_mode: bytes
    new_mode: bytes
    old_oid: str
    new_oid: str
    old_path: bytes | None = None
    similarity: int | None = None

    @property
    def sections(self) -> int:
        """How many patches Git prints: a change of type is a removal and an addition."""
        return 2 if self.kind == "T" else 1


@dataclass(frozen=True, slots=True)
class Patch:
    text: str = ""
    binary: bool = False
    truncated: bool = False


def changes_between(
    objects: Objects, base: str, head: str, paths: Sequence[bytes], *, renames: bool
) -> list[RawChange]:
    """Every changed path, in Git's order, which is that of the path's bytes.

    Raises:
        GitOutputLimit: the list is larger than 8 MiB.
        UnsupportedPathEncoding: a changed path cannot be written in an answer.
    """
    out = ask_git(
        objects,
        *("diff-tree", "--raw", "-z", "--no-abbrev", *_OPTIONS, *_detection(renames)),
        *("--end-of-options", base, head, "--", *_arguments(paths)),
        max_output=MAX_LIST_BYTES,
    )
    found, _ = parse_raw(out)
    for change in found:
        for path in (change.path, change.old_path):
            if path is not None and addressable(path) is None:
                raise UnsupportedPathEncoding(
                    "A changed path has a name that cannot be shown; narrow the request by paths."
                )
    return sorted(found, key=lambda change: change.path)


def _detection(renames: bool, least: str = "50%") -> tuple[str, ...]:
    return (f"--find-renames={least}", "-l1000") if renames else ("--no-renames",)


def _arguments(paths: Sequence[bytes]) -> list[str]:
    return [path.decode("utf-8", "surrogateescape") for path in paths]


def parse_raw(out: bytes) -> tuple[list[RawChange], int]:
    """The rows of `diff-tree --raw -z`, and the offset behind them, where patches may follow.

    Raises:
        GitOperationFailed: it has another form.
    """
    found, at = [], 0
    while at < len(out) and out[at : at + 1] != b"\0":
        row = _RAW.match(out, at)
        if row is None:
            raise GitOperationFailed("Git listed the changes in a form that is not known.")
        at = row.end()
        old_mode, new_mode, old_oid, new_oid, kind, score, path = row.groups()
        old_path = None
        if kind in b"RC":
            end = out.index(b"\0", at)
            old_path, path, at = path, out[at:end], end + 1
        found.append(
            RawChange(
                path,
                kind.decode(),
                old_mode,
                new_mode,
                old_oid.decode(),
                new_oid.decode(),
                old_path,
                int(score) if score else None,
            )
        )
    return found, at


def patches(objects: Objects, base: str, head: str, changes: Sequence[RawChange]) -> list[Patch]:
    """A patch for each change, within 64 KiB each and 256 KiB together.

    A patch that does not fit is left out and marked; one that is binary, or not UTF-8, too.
    """
    small = _small_enough(objects, changes)
    plain = [c for c, fits in zip(changes, small, strict=True) if fits and c.kind != "R"]
    texts = _texts(objects, base, head, plain)
    left, found = MAX_PAGE_BYTES, []
    for change, fits in zip(changes, small, strict=True):
        if fits and change.kind == "R":
            # By itself: among the paths of one page Git might pair the names differently.
            texts |= _alone(objects, base, head, change)
        patch = _judge(texts.get(change.path), left)
        left -= len(patch.text.encode())
        found.append(patch)
    return found


def _small_enough(objects: Objects, changes: Sequence[RawChange]) -> list[bool]:
    """Which changes have blobs that Git can compare in little time."""
    oids = [oid for change in changes for oid in (change.old_oid, change.new_oid)]
    infos = objects.info(oids)
    sizes = [info.size if info else 0 for info in infos]  # the null id and submodules
    return [max(pair) <= MAX_BLOB_BYTES for pair in zip(sizes[::2], sizes[1::2], strict=True)]


def _judge(text: bytes | None, left: int) -> Patch:
    if text is None:
        return Patch(truncated=True)
    if _BINARY.search(text):
        return Patch(binary=True)
    if len(text) > min(MAX_PATCH_BYTES, left):
        return Patch(truncated=True)
    try:
        return Patch(text.decode())
    except UnicodeDecodeError:
        return Patch(binary=True)


def _texts(
    objects: Objects, base: str, head: str, changes: Sequence[RawChange]
) -> dict[bytes, bytes]:
    """The patches by path, from one process if they fit; what is too large is left out."""
    if not changes:
        return {}
    try:
        return _ask(objects, base, head, changes, _JOINT_BYTES)
    except (GitOutputLimit, QueryDeadlineExceeded):
        objects.deadline.check()
    found: dict[bytes, bytes] = {}
    for change in changes:
        found |= _alone(objects, base, head, change)
    return found


def _alone(objects: Objects, base: str, head: str, change: RawChange) -> dict[bytes, bytes]:
    try:
        return _ask(objects, base, head, [change], 2 * MAX_PATCH_BYTES)
    except (GitOutputLimit, QueryDeadlineExceeded):
        objects.deadline.check()
        return {}


def _ask(
    objects: Objects, base: str, head: str, changes: Sequence[RawChange], most: int
) -> dict[bytes, bytes]:
    renames = any(change.kind == "R" for change in changes)
    paths = {path for change in changes for path in (change.path, change.old_path) if path}
    out = ask_git(
        objects,
        *("diff-tree", "--raw", "-p", "-z", "-U3", "--full-index", "--no-abbrev", *_OPTIONS),
        *(*_detection(renames, "1%"), "--end-of-options", base, head),
        *("--", *_arguments(sorted(paths))),
        max_output=most,
    )
    rows, at = parse_raw(out)
    body = out[at + 1 :]
    starts = [match.start() for match in _HEADER.finditer(body)]
    sections = [body[a:b] for a, b in zip(starts, [*starts[1:], len(body)], strict=True)]
    if len(sections) != sum(row.sections for row in rows):
        raise GitOperationFailed("Git made another number of patches than it listed changes.")
    found, at = {}, 0
    for row in rows:
        found[row.path] = b"".join(sections[at : at + row.sections])
        at += row.sections
    return found
