"""The MCP tool that searches."""

from typing import Literal

from search.answer import SearchAnswer
from search.answers import rendered
from search.mcp_text import MAX_BLOCK_BYTES, search_text
from search.requests import MAX_CONTEXT, MAX_FILES, MAX_MATCHES, SearchCode
from search.usecases.search_code import prepare_search
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.mcp.registry import Caller, tool


class SearchInput(Input):
    repo: str = Field(min_length=1, description="Repository, as owner/name.")
    pattern: str = Field(
        min_length=1, description="RE2 regular expression, matched line by line; no filters in it."
    )
    revision: str | None = Field(
        None, description="Monitored branch or full 40-character SHA; omit for the default branch."
    )
    fixed_strings: bool = Field(False, description="The pattern is literal text.")
    ignore_case: bool = Field(False, description="Ignore case.")
    glob: list[str] | None = Field(
        None, max_length=64, description="Like rg -g: include globs, or !exclude globs."
    )
    paths: list[str] | None = Field(
        None, max_length=64, description="Files or directories to search in."
    )
    language: str | None = Field(None, description="One language, such as Python.")
    output: Literal["content", "files"] = Field("content", description="files: paths only.")
    max_files: int = Field(MAX_FILES, ge=1, le=MAX_FILES, description="Files a page.")
    max_lines_per_file: int = Field(
        10, ge=1, le=MAX_MATCHES, description="Matching lines shown of each file."
    )
    context_lines: int = Field(
        0, ge=0, le=MAX_CONTEXT, description="Lines shown before and after each match."
    )
    max_chars: int = Field(
        MAX_BLOCK_BYTES,
        ge=2_000,
        le=MAX_BLOCK_BYTES,
        description="Budget of the answer; files over it are shown as counts.",
    )
    after: str | None = Field(
        None, description="NextCursor of the page before, with all other arguments unchanged."
    )


@tool(
    title="Search file contents",
    description=(
        "Search the text of all files at one commit, like rg -n; answers with path, line number"
        " and line. To find files by name, use find."
    ),
    input=SearchInput,
    read_only=True,
)
def search(caller: Caller, params: SearchInput) -> str:
    asked = SearchCode(
        repo=params.repo,
        revision=params.revision or "",
        pattern=params.pattern,
        fixed_strings=params.fixed_strings,
        ignore_case=params.ignore_case,
        glob=params.glob or [],
        paths=params.paths or [],
        language=params.language or "",
        output=params.output,
        context=params.context_lines,
        max_files=params.max_files,
        after=params.after or "",
    )

    def render(answer: SearchAnswer) -> bytes:
        return search_text(
            answer,
            files_output=params.output == "files",
            regex=None if params.fixed_strings else params.pattern,
            max_lines_per_file=params.max_lines_per_file,
            limit=params.max_chars,
        ).encode()

    form = ("text", params.max_lines_per_file, params.max_chars)
    body, _ = rendered(prepare_search(caller.actor, asked), form, render)
    return body.decode()
