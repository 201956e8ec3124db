"""Reading lines of one path at one commit; what `read_file` and `read_many` share."""

from dataclasses import dataclass

from readers.blobs import blob_of, is_lfs_pointer
from readers.errors import InvalidLineRange, NotAFile, ReadBudgetExceeded
from readers.links import Place, locate
from readers.paths import MAX_PATH_BYTES
from readers.snapshot import Snapshot
from readers.text import MAX_BYTES, MAX_LINES, Cut, Lines, cut, decode
from readers.trees import Kind
from sourcegraph_site.kernel.wire import optional


@dataclass(frozen=True, slots=True)
class FileText:
    """Lines of a file at one commit; the fields are those of contract 4.3."""

    path: str
    blob_oid: str
    commit: str
    kind: Kind
    encoding: str
    content: str
    returned_start_line: int | None
    returned_end_line: int | None
    next_start_line: int | None
    truncated: bool
    has_more: bool | None
    is_lfs_pointer: bool = False
    via: str | None = optional()
    follow_error: str | None = optional()


@dataclass(slots=True)
class Budget:
    """What is left for the items that share one request."""

    lines: int
    bytes: int

    def take(self, text: FileText) -> None:
        if text.returned_start_line is not None and text.returned_end_line is not None:
            self.lines -= text.returned_end_line - text.returned_start_line + 1
            self.bytes -= len(text.content.encode())


def check_range(start: int, end: int) -> None:
    """Raises InvalidLineRange unless 1 ≤ start ≤ end."""
    if start < 1 or end < start:
        raise InvalidLineRange("StartLine is at least 1, and EndLine at least StartLine.")


def file_at(snapshot: Snapshot, path: bytes) -> Place:
    """The file, link or submodule at a path.

    Raises:
        FileNotFound, LinkError: as `locate`.
        PathNotRegistered, ContentNotReady: in a monorepo.
        NotAFile: it is a directory.
    """
    place = locate(snapshot, path)
    if place.entry.kind is Kind.DIRECTORY:
        where = place.path.decode() or "the root"
        raise NotAFile(f"This is a directory: {where}. List it.")
    snapshot.coverage.require(place.path)
    return place


def lines_of(snapshot: Snapshot, oid: str) -> Lines:
    return Lines(decode(blob_of(snapshot.objects, oid)))


def read_lines(
    snapshot: Snapshot, path: bytes, start: int, end: int, budget: Budget | None = None
) -> tuple[FileText, ReadBudgetExceeded | None]:
    """Lines `start` to `end` of what stands at `path`; with a budget, it is used up.

    The second value says that lines were withheld by the budget alone.

    Raises: what `file_at`, `decode` and `cut` raise.
    """
    place = file_at(snapshot, path)
    if place.follow_error is not None:
        return _link(snapshot, place), None
    if place.entry.kind is Kind.SUBMODULE:
        return _text(snapshot, path, place, "gitlink", Cut("", None, None, False, False)), None
    blob = blob_of(snapshot.objects, place.entry.oid)
    lines = Lines(decode(blob))
    found = cut(
        lines,
        start,
        end,
        max_lines=min(MAX_LINES, budget.lines) if budget else MAX_LINES,
        max_bytes=min(MAX_BYTES, budget.bytes) if budget else MAX_BYTES,
    )
    text = _text(snapshot, path, place, lines.text.encoding, found, lfs=is_lfs_pointer(blob))
    if budget is None:
        return text, None
    budget.take(text)
    alone = cut(lines, start, end)
    over = ReadBudgetExceeded("The budget that the items share cut this one short.")
    return text, over if alone.last != found.last else None


def _text(
    snapshot: Snapshot, asked: bytes, place: Place, encoding: str, found: Cut, *, lfs: bool = False
) -> FileText:
    return FileText(
        path=place.path.decode(),
        blob_oid=place.entry.oid,
        commit=snapshot.commit,
        kind=place.entry.kind,
        encoding=encoding,
        content=found.content,
        returned_start_line=found.first,
        returned_end_line=found.last,
        next_start_line=found.next_line,
        truncated=found.truncated,
        has_more=found.has_more,
        is_lfs_pointer=lfs,
        via=asked.decode() if asked != place.path else None,
    )


def _link(snapshot: Snapshot, place: Place) -> FileText:
    """A link that cannot be followed: its own text, whatever lines were asked for.

    A target that is too long, or not UTF-8, is left out: it could not be used anyway.
    """
    blob = blob_of(snapshot.objects, place.entry.oid)
    content = ""
    if blob.size <= MAX_PATH_BYTES and b"\0" not in blob.data:
        content = blob.data.decode("utf-8", "ignore")
        content = content if content.encode() == blob.data else ""
    last = content.count("\n") + (not content.endswith("\n")) if content else None
    assert place.follow_error is not None
    return FileText(
        path=place.path.decode(),
        blob_oid=place.entry.oid,
        commit=snapshot.commit,
        kind=Kind.SYMLINK,
        encoding="utf-8",
        content=content,
        returned_start_line=1 if content else None,
        returned_end_line=last,
        next_start_line=None,
        truncated=False,
        has_more=False,
        follow_error=place.follow_error.code,
    )
