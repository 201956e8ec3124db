"""Tell which commit each line of a range comes from."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from readers.blame import Origin, origins
from readers.errors import NotAFile, UnsupportedTextEncoding
from readers.history import details
from readers.paths import check_path
from readers.reading import check_range, file_at, lines_of
from readers.snapshot import Snapshot, open_snapshot
from readers.text import MAX_LINES
from readers.trees import Kind
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.inputs import Field, Input


class BlameFile(Input):
    repo: str
    revision: str | None = Field(
        None, description="Monitored branch or full SHA; empty for the default branch."
    )
    path: str = Field(description="Path from the repository's root.")
    start_line: int = Field(0, description="First line, from 1.")
    end_line: int = Field(0, description="Last line, included; at most 500 lines are answered.")


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """Line number `line` came with `commit`, as `original_line` of `original_path`."""

    line: int
    commit: str
    author_name: str
    author_time: datetime
    original_path: str
    original_line: int


@dataclass(frozen=True, slots=True)
class Blame:
    commit: str
    path: str
    lines: tuple[BlamedLine, ...]


def blame_file(actor: Actor, params: BlameFile) -> Blame:
    """For each line of a range, the newest commit that changed it, through renames.

    A range that runs past the end is cut, and so is one of more than 500 lines. Links are
    followed inside the commit; `path` is the canonical path.

    Raises:
        InvalidPath, InvalidLineRange: the request.
        FileNotFound, NotAFile, LinkError: nothing there; not a file; a bad link.
        BinaryFile, UnsupportedTextEncoding: not text, or in UTF-16 (Git cuts its lines).
        LineRangeNotSatisfiable, ReadScanLimit: `start_line` is behind the end, behind 8 MiB.
        QueryDeadlineExceeded: the file's history is too long.
        PathNotRegistered, ContentNotReady: in a monorepo.
        … and for repository and revision what `repos.revisions.readable` raises.
    """
    path = check_path(params.path)
    check_range(params.start_line, params.end_line)
    deadline = Deadline.after(settings.REQUEST_SECONDS)
    snapshot = open_snapshot(actor, params.repo, params.revision, deadline)
    place = file_at(snapshot, path)
    if place.follow_error is not None:
        raise place.follow_error
    if place.entry.kind is Kind.SUBMODULE:
        raise NotAFile("This is a submodule.")
    lines = lines_of(snapshot, place.entry.oid)
    if lines.text.encoding != "utf-8":
        raise UnsupportedTextEncoding("Lines of a UTF-16 file cannot be blamed.")
    lines.check_start(params.start_line)
    last = min(params.end_line, len(lines), params.start_line + MAX_LINES - 1)
    found = []
    if last >= params.start_line:
        found = origins(snapshot.objects, snapshot.commit, place.path, params.start_line, last)
    return Blame(snapshot.commit, place.path.decode(), _rows(snapshot, found))


def _rows(snapshot: Snapshot, found: list[Origin]) -> tuple[BlamedLine, ...]:
    ids = sorted({row.commit for row in found})
    commits = dict(zip(ids, details(snapshot.objects, ids), strict=True))
    return tuple(
        BlamedLine(
            line=row.line,
            commit=row.commit,
            author_name=commits[row.commit].author,
            author_time=commits[row.commit].author_time,
            original_path=row.original_path.decode("utf-8", "replace"),
            original_line=row.original_line,
        )
        for row in found
    )
