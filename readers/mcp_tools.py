"""MCP tools for reading at one commit."""

from typing import Any, Literal

from readers.mcp_text import MAX_BLOCK_BYTES, item_block, read_block
from readers.text import MAX_LINES
from readers.usecases.blame_file import BlameFile, blame_file
from readers.usecases.diff_revisions import Change, DiffRevisions, diff_revisions
from readers.usecases.find_files import FindFiles, find_files
from readers.usecases.list_refs import ListRefs, list_refs
from readers.usecases.list_tree import ListTree, TreeRow, list_tree
from readers.usecases.log_commits import LogCommits, log_commits
from readers.usecases.path_status import PathStatus, path_status
from readers.usecases.read_file import ReadFile, read_file
from readers.usecases.read_many import ItemResult, ReadItem, ReadMany, read_many
from readers.usecases.resolve_revision import ResolveRevision, resolve_revision
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.wire import to_wire
from sourcegraph_site.mcp.call import advice
from sourcegraph_site.mcp.plugin_choice import PluginArgument, plugin_blocks
from sourcegraph_site.mcp.registry import Caller, tool
from sourcegraph_site.mcp.text import compact

REPO = "Repository, as owner/name."
REVISION = "Monitored branch or full 40-character SHA; omit for the default branch."
PLUGINS = "Read plugins to run; omit for the connection's choice, [] for none."
MAX_CHARS = "Most characters of text; what does not fit is left out, and the text says so."


class ResolveInput(Input):
    repo: str = Field(min_length=1, description=REPO)
    revision: str | None = Field(None, description="Branch, tag or full SHA; omit for the default.")


@tool(
    title="Resolve a revision to a commit",
    description=(
        "Turn a branch, tag or full SHA into one commit and say whether it is indexed. Needed"
        " only for a tag or a branch that is not monitored: other tools take monitored branches"
        " and SHAs themselves."
    ),
    input=ResolveInput,
    read_only=True,
)
def resolve(caller: Caller, params: ResolveInput) -> str:
    asked = ResolveRevision(repo=params.repo, revision=params.revision)
    return compact(to_wire(resolve_revision(caller.actor, asked)))


class RefsInput(Input):
    repo: str = Field(min_length=1, description=REPO)
    kind: Literal["branch", "tag", "all"] = Field("branch", description="What to list.")
    query: str | None = Field(None, description="Part of the name, whatever its case.")
    author: str | None = Field(None, description="Part of the author's or tagger's name.")
    title: str | None = Field(None, description="Part of the commit title or tag message.")
    since: str | None = Field(None, description="RFC 3339 time or YYYY-MM-DD, included.")
    until: str | None = Field(None, description="RFC 3339 time or YYYY-MM-DD, included.")
    sort: Literal["created", "name"] | None = Field(
        None, description="created: newest first, the default."
    )
    first: int = Field(30, ge=1, le=100, description="Page size.")
    after: str | None = Field(None, description="next_cursor of the page before.")


@tool(
    title="List branches and tags",
    description=(
        "Find a branch or tag of the remote by name, author, title or date. To use one that is"
        " not monitored, resolve it to a SHA."
    ),
    input=RefsInput,
    read_only=True,
)
def refs(caller: Caller, params: RefsInput) -> str:
    wanted = {name: value for name, value in dict(params).items() if value is not None}
    return compact(to_wire(list_refs(caller.actor, ListRefs(**wanted))))


class ReadInput(Input):
    repo: str = Field(min_length=1, description=REPO)
    path: str = Field(min_length=1, description="Path from the repository's root.")
    revision: str | None = Field(None, description=REVISION)
    start_line: int = Field(1, ge=1, description="First line.")
    end_line: int | None = Field(
        None,
        ge=1,
        description="Last line, included: a line number, not a count. At most 500 lines.",
    )
    max_chars: int = Field(MAX_BLOCK_BYTES, ge=2_000, le=MAX_BLOCK_BYTES, description=MAX_CHARS)
    plugins: list[PluginArgument] | None = Field(None, max_length=16, description=PLUGINS)


@tool(
    title="Read lines of a file",
    description=(
        "Read up to 500 numbered lines of one file at one commit. Use read_many for several"
        " files or ranges of the same commit."
    ),
    input=ReadInput,
    read_only=True,
)
def read(caller: Caller, params: ReadInput) -> list[str]:
    end = params.end_line
    asked = ReadFile(
        repo=params.repo,
        revision=params.revision,
        path=params.path,
        start_line=params.start_line,
        end_line=params.start_line + MAX_LINES - 1 if end is None else end,
    )
    text = read_file(caller.actor, asked)
    block = read_block(params.repo, text, params.max_chars)
    return [block, *plugin_blocks(caller.plugins, params.plugins)]


class ReadManyInput(Input):
    repo: str = Field(min_length=1, description=REPO)
    files: list[ReadItem] = Field(
        min_length=1, max_length=10, description="Files or ranges, read in this order."
    )
    revision: str | None = Field(None, description=REVISION)
    plugins: list[PluginArgument] | None = Field(None, max_length=16, description=PLUGINS)


@tool(
    title="Read several files or ranges",
    description=(
        "Read 1 to 10 known files or line ranges of one repository at one commit in one call."
        " They share 1,000 lines and 256 KiB; each item has its own content and error."
    ),
    input=ReadManyInput,
    read_only=True,
)
def read_many_(caller: Caller, params: ReadManyInput) -> list[str]:
    asked = ReadMany(repo=params.repo, revision=params.revision, files=params.files)
    found = read_many(caller.actor, asked)
    blocks = [
        _item(caller, params.repo, found.commit, item, wish)
        for item, wish in zip(found.items, params.files, strict=True)
    ]
    return [*blocks, *plugin_blocks(caller.plugins, params.plugins)]


def _item(caller: Caller, repo: str, commit: str, item: ItemResult, wish: ReadItem) -> str:
    start = 1 if wish.start_line is None else wish.start_line
    end = start + MAX_LINES - 1 if wish.end_line is None else wish.end_line
    error = item.error
    if error is not None:
        error = type(error)(error.code, advice(error.code, error.message, caller))
    return item_block(
        repo, item.index + 1, f"{start}-{end}", (item.file, error), (commit, wish.path)
    )


class ListInput(Input):
    repo: str = Field(min_length=1, description=REPO)
    first: int = Field(ge=1, le=1000, description="Page size.")
    path: str | None = Field(None, description="Directory; omit for the root.")
    revision: str | None = Field(None, description=REVISION)
    after: str | None = Field(None, description="next_cursor of the page before.")


@tool(
    title="List a directory",
    description="List the direct children of one directory at one commit. To look for a file by"
    " its name, use find.",
    input=ListInput,
    read_only=True,
)
def list_(caller: Caller, params: ListInput) -> str:
    asked = ListTree(
        repo=params.repo,
        revision=params.revision,
        path=params.path or "",
        first=params.first,
        after=params.after,
    )
    page = list_tree(caller.actor, asked)
    answer: dict[str, Any] = {
        "commit": page.commit,
        "entries": [_entry(row) for row in page.entries],
        "has_more": page.has_more_results,
        "next_cursor": page.next_cursor,
        "via": page.via,
        "unsupported_paths_skipped": page.unsupported_paths_skipped,
    }
    return compact(_without_none(answer))


def _entry(row: TreeRow) -> dict[str, Any]:
    return _without_none(
        {
            "path": row.path,
            "kind": row.kind.value,
            "target": row.target,
            "target_kind": row.target_kind.value if row.target_kind else None,
            "follow_error": row.follow_error,
            "size": row.size,
        }
    )


def _without_none(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


class FindInput(Input):
    repo: str = Field(min_length=1, description=REPO)
    query: str = Field(min_length=1, description="A glob like *.py or src/**/a?.c, or letters.")
    mode: Literal["glob", "fuzzy"] = Field(
        "glob", description="fuzzy: the path holds the letters in this order; best fit first."
    )
    revision: str | None = Field(None, description=REVISION)
    first: int = Field(30, ge=1, le=100, description="Page size.")
    after: str | None = Field(None, description="next_cursor of the page before.")


@tool(
    title="Find files by name",
    description="Find files of one commit by a glob over their paths, or by a fuzzy name. Needs"
    " no index. To search in files, use search.",
    input=FindInput,
    read_only=True,
)
def find(caller: Caller, params: FindInput) -> str:
    page = to_wire(find_files(caller.actor, FindFiles(**dict(params))))
    for file in page["files"]:
        del file["blob_oid"]  # no tool takes one, and it would be half of the answer
    return compact(page)


class DiffInput(Input):
    repo: str = Field(min_length=1, description=REPO)
    base: str = Field(min_length=1, description="Old side: monitored branch or full SHA.")
    head: str = Field(min_length=1, description="New side: monitored branch or full SHA.")
    first: int = Field(ge=1, le=100, description="Page size, in changed files.")
    paths: list[str] | None = Field(None, max_length=64, description="Files or directories only.")
    renames: bool = Field(False, description="Show a renamed file as one change of kind R.")
    after: str | None = Field(None, description="next_cursor of the page before.")


@tool(
    title="Compare two commits",
    description=(
        "Changed files between two commits (A added, M modified, D deleted, T type changed, R"
        " renamed) with unified patches. A patch over its budget is left out and marked"
        " patch_truncated: read the file instead."
    ),
    input=DiffInput,
    read_only=True,
)
def diff(caller: Caller, params: DiffInput) -> str:
    asked = DiffRevisions(
        repo=params.repo,
        base=params.base,
        head=params.head,
        paths=params.paths,
        renames=params.renames,
        first=params.first,
        after=params.after,
    )
    page = diff_revisions(caller.actor, asked)
    answer: dict[str, Any] = {
        "base_commit": page.base_commit,
        "head_commit": page.head_commit,
        "changes": [_change(change) for change in page.changes],
        "has_more": page.has_more_results,
    }
    if params.paths:
        # At the commits of the page: a branch may have moved since.
        sides = PathStatus(
            repo=params.repo, base=page.base_commit, head=page.head_commit, paths=params.paths
        )
        answer["path_status"] = to_wire(path_status(caller.actor, sides))
    if page.next_cursor is not None:
        answer["next_cursor"] = page.next_cursor
    return compact(answer)


def _change(change: Change) -> dict[str, Any]:
    row: dict[str, Any] = {"path": change.path, "change": change.change_kind}
    if change.old_path is not None:
        row["old_path"] = change.old_path
    if change.patch:
        row["patch"] = change.patch
    if change.binary:
        row["binary"] = True
    if change.patch_truncated:
        row["patch_truncated"] = True
    return row


class LogInput(Input):
    repo: str = Field(min_length=1, description=REPO)
    revision: str | None = Field(None, description=REVISION)
    path: str | None = Field(None, description="Only commits that changed this file or directory.")
    first_parent: bool = Field(False, description="Follow only the first parent of merges.")
    first: int = Field(30, ge=1, le=100, description="Page size.")
    after: str | None = Field(None, description="next_cursor of the page before.")


@tool(
    title="List commits",
    description=(
        "Commits that lead to one commit, newest first; with path, those that changed it (a"
        " file is followed through renames)."
    ),
    input=LogInput,
    read_only=True,
)
def log(caller: Caller, params: LogInput) -> str:
    return compact(to_wire(log_commits(caller.actor, LogCommits(**dict(params)))))


class BlameInput(Input):
    repo: str = Field(min_length=1, description=REPO)
    path: str = Field(min_length=1, description="Path from the repository's root.")
    start_line: int = Field(ge=1, description="First line.")
    end_line: int = Field(ge=1, description="Last line, included; at most 500 lines.")
    revision: str | None = Field(None, description=REVISION)


@tool(
    title="Blame lines of a file",
    description="For each line of a range, the commit, author and time that it comes from.",
    input=BlameInput,
    read_only=True,
)
def blame(caller: Caller, params: BlameInput) -> str:
    return compact(to_wire(blame_file(caller.actor, BlameFile(**dict(params)))))
