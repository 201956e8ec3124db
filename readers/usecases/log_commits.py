"""List the commits behind one commit."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from readers.history import Step, commits_of, commits_of_file, details
from readers.pages import check_first, decode_offset
from readers.paths import addressable, check_path
from readers.snapshot import Snapshot, open_snapshot
from readers.trees import Kind, find
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.paging import binding_of, encode_cursor
from sourcegraph_site.kernel.wire import optional

MAX_FIRST = 100


class LogCommits(Input):
    repo: str
    revision: str | None = Field(
        None, description="Monitored branch or full SHA; empty for the default branch."
    )
    path: str | None = Field(None, description="Only commits that changed this file or directory.")
    first_parent: bool = Field(False, description="Follow the first parent of merges only.")
    first: int = Field(30, description="Page size, 1 to 100.")
    after: str | None = Field(None, description="NextCursor of the page before.")


@dataclass(frozen=True, slots=True)
class LogRow:
    """One commit. For the history of a file, `path` is its name in that commit, and
    `old_path` the name that the commit changed it from."""

    commit: str
    parents: tuple[str, ...]
    author_name: str
    author_time: datetime
    committer_time: datetime
    subject: str
    path: str | None = optional()
    old_path: str | None = optional()


@dataclass(frozen=True, slots=True)
class LogPage:
    commit: str
    commits: tuple[LogRow, ...]
    next_cursor: str | None
    has_more_results: bool


def log_commits(actor: Actor, params: LogCommits) -> LogPage:
    """The commits that can be reached from one commit, newest first, in pages.

    With `path`, those that changed it; a file is followed through renames, a directory (and a
    path that is gone at this commit) is not. Commits are described even when they lie outside
    the versions that can be read.

    Raises:
        InvalidPath, InvalidLimit, InvalidCursor: the request.
        PathNotRegistered, ContentNotReady: in a monorepo.
        QueryDeadlineExceeded, GitOutputLimit: the history is too long for this page.
        … and for repository and revision what `repos.revisions.readable` raises.
    """
    path = check_path(params.path) if params.path else None
    check_first(params.first, MAX_FIRST)
    deadline = Deadline.after(settings.REQUEST_SECONDS)
    snapshot = open_snapshot(actor, params.repo, params.revision, deadline)
    binding = binding_of(
        "log", params.repo, snapshot.commit, params.path or "", params.first_parent
    )
    offset = decode_offset(params.after, binding)
    # One more than the page tells whether there is another.
    steps = _steps(snapshot, path, offset, params.first + 1, params.first_parent)
    page = steps[: params.first]
    more = len(steps) > len(page)
    commits = details(snapshot.objects, [step.commit for step in page])
    return LogPage(
        commit=snapshot.commit,
        commits=tuple(
            LogRow(
                commit=step.commit,
                parents=commit.parents,
                author_name=commit.author,
                author_time=commit.author_time,
                committer_time=commit.committer_time,
                subject=commit.title,
                path=addressable(step.path) if step.path else None,
                old_path=addressable(step.old_path) if step.old_path else None,
            )
            for step, commit in zip(page, commits, strict=True)
        ),
        next_cursor=encode_cursor(binding, offset + len(page)) if more else None,
        has_more_results=more,
    )


def _steps(
    snapshot: Snapshot, path: bytes | None, skip: int, count: int, first_parent: bool
) -> list[Step]:
    objects, commit = snapshot.objects, snapshot.commit
    if path is not None:
        snapshot.coverage.require_below(path)
        entry = find(objects, snapshot.root, path)
        if entry is not None and entry.kind in (Kind.FILE, Kind.SYMLINK):
            return commits_of_file(objects, commit, path, skip, count, first_parent=first_parent)
    return commits_of(objects, commit, skip, count, path=path, first_parent=first_parent)
