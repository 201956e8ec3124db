"""Read lines of one file at one commit."""

from django.conf import settings

from readers.paths import check_path
from readers.reading import FileText, check_range, read_lines
from readers.snapshot import open_snapshot
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.inputs import Field, Input


class ReadFile(Input):
    repo: str
    revision: str | None = Field(
        None, description="Monitored branch or full SHA; empty for the default branch."
    )
    path: str = Field(description="Path from the repository's root.")
    start_line: int = Field(0, description="First line, from 1.")
    end_line: int = Field(0, description="Last line, included; an absolute line number.")


def read_file(actor: Actor, params: ReadFile) -> FileText:
    """Lines of a text file as it was at one commit, unchanged.

    Lines count from 1 and `end_line` is included. A range that runs past the end is cut, not
    refused. At most 500 lines and 256 KiB, whole lines only: `truncated` says that a cap
    withheld lines, `has_more` that the file goes on, `next_start_line` where. Only the first
    8 MiB of a file are scanned; `has_more` is null where that limit ends the answer.

    Links are followed inside the commit: `path` is then the canonical path and `via` the one
    that was asked for. A link that cannot be followed comes back as its own text, with
    `follow_error`; a submodule without content.

    Raises:
        InvalidPath, InvalidLineRange: the request.
        FileNotFound, NotAFile, LinkError: nothing there; a directory; a bad link on the way.
        BinaryFile, UnsupportedTextEncoding, FileLineTooLarge: the content.
        LineRangeNotSatisfiable, ReadScanLimit: `start_line` is behind the end, behind 8 MiB.
        PathNotRegistered, ContentNotReady: in a monorepo.
        … and for repository and revision what `repos.revisions.readable` raises.
    """
    path = check_path(params.path)
    check_range(params.start_line, params.end_line)
    deadline = Deadline.after(settings.REQUEST_SECONDS)
    snapshot = open_snapshot(actor, params.repo, params.revision, deadline)
    text, _ = read_lines(snapshot, path, params.start_line, params.end_line)
    return text
