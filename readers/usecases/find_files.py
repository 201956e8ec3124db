"""Find files of one commit by their names."""

from dataclasses import dataclass
from typing import Literal

from django.conf import settings

from readers.filenames import check_query, glob_matcher, matching
from readers.pages import check_first, decode_offset, next_cursor
from readers.snapshot import open_snapshot
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.paging import binding_of

MAX_FIRST = 100


class FindFiles(Input):
    repo: str
    revision: str | None = Field(
        None, description="Monitored branch or full SHA; empty for the default branch."
    )
    query: str = Field(description="A glob, or letters of the path in their order.")
    mode: Literal["glob", "fuzzy"] = Field("glob", description="How the query is read.")
    first: int = Field(30, description="Page size, 1 to 100.")
    after: str | None = Field(None, description="NextCursor of the page before.")


@dataclass(frozen=True, slots=True)
class FoundFile:
    path: str
    blob_oid: str
    size: int | None  # bytes


@dataclass(frozen=True, slots=True)
class FoundPage:
    commit: str
    files: tuple[FoundFile, ...]
    next_cursor: str | None
    has_more_results: bool


def find_files(actor: Actor, params: FindFiles) -> FoundPage:
    """Files and links whose path matches, in pages; no index is needed.

    With `glob`, in the order of the paths' bytes, by the rules of a search's include globs.
    With `fuzzy`, the best fit first: the path must contain the query's letters in their
    order, whatever their case.

    Raises:
        InvalidQuery, InvalidLimit, InvalidCursor: the request.
        GitOutputLimit: the commit has too many files.
        ContentNotReady: a group of the monorepo is not prepared at this commit.
        … and for repository and revision what `repos.revisions.readable` raises.
    """
    check_query(params.query)
    if params.mode == "glob":
        glob_matcher(params.query)
    check_first(params.first, MAX_FIRST)
    deadline = Deadline.after(settings.REQUEST_SECONDS)
    snapshot = open_snapshot(actor, params.repo, params.revision, deadline)
    binding = binding_of("find", params.repo, snapshot.commit, params.query, params.mode)
    offset = decode_offset(params.after, binding)
    snapshot.coverage.require_below(b"")
    names, found = matching(snapshot, params.query, params.mode)
    page = found[offset : offset + params.first]
    infos = snapshot.objects.info([names.oids[number] for number in page])
    cursor = next_cursor(binding, offset + len(page), len(found))
    return FoundPage(
        commit=snapshot.commit,
        files=tuple(
            FoundFile(names.paths[number].decode(), names.oids[number], info.size if info else None)
            for number, info in zip(page, infos, strict=True)
        ),
        next_cursor=cursor,
        has_more_results=cursor is not None,
    )
