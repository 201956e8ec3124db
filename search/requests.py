"""What a caller may ask of a search: the fields of contract section 3, and their limits."""

from repos.errors import InvalidRevision
from search.errors import OutputInvalid
from search.globs import PathFilter, compile_globs
from search.pattern import CompiledPattern, compile_pattern
from sourcegraph_site.kernel.errors import InvalidLimit
from sourcegraph_site.kernel.inputs import Field, Input

MAX_FILES, MAX_MATCHES, MAX_CONTEXT = 100, 1000, 10
MAX_REPOSITORY_GLOBS = 64


class SearchFields(Input):
    """The part that a search of one and of many repositories share.

    Ranges that have a code of their own are checked by `check_limits` and by the compilers,
    not here, so that the caller gets INVALID_LIMIT, INVALID_PATTERN, INVALID_GLOB …
    """

    pattern: str = Field("", description="Line-oriented RE2 expression, or literal text.")
    fixed_strings: bool = Field(False, description="The pattern is literal text.")
    ignore_case: bool = Field(False, description="Unicode simple case folding.")
    glob: list[str] = Field(
        default_factory=list, description="ripgrep's -g: include, or !exclude; the last wins."
    )
    paths: list[str] = Field(default_factory=list, description="Files or directories to search in.")
    output: str = Field("", description="content (default) or files.")
    context: int = Field(0, description="Lines before and after each match, 0 to 10.")
    max_files: int = Field(MAX_FILES, description="Files a page, 1 to 100.")
    max_matches: int = Field(MAX_MATCHES, description="Matching lines a page, 1 to 1000.")
    after: str = Field("", description="Meta.NextCursor of the previous page.")
    language: str = Field("", description="One language name, any case.")
    explain: bool = Field(False, description="Add the plan and what each step cost.")


class SearchCode(SearchFields):
    repo: str = Field(description="Repository, as owner/name.")
    revision: str = Field("", description="Monitored branch or full SHA; empty: default branch.")


class SearchEverywhere(SearchFields):
    revision: str = Field(
        "", description="Must be empty: every repository is searched at its head."
    )
    repos: list[str] = Field(
        default_factory=list, description="Globs over repository names; at most 64."
    )

    def check_revision(self) -> None:
        if self.revision:
            raise InvalidRevision("A search over all repositories takes no revision.")


def check_limits(params: SearchFields) -> None:
    """Refuse what is outside its range, before anything is looked up."""
    for name, value, low, high in (
        ("MaxFiles", params.max_files, 1, MAX_FILES),
        ("MaxMatches", params.max_matches, 1, MAX_MATCHES),
        ("Context", params.context, 0, MAX_CONTEXT),
    ):
        if not low <= value <= high:
            raise InvalidLimit(f"{name} must lie between {low} and {high}.")
    if params.output not in ("", "content", "files"):
        raise OutputInvalid("Output is content or files.")


def compiled(params: SearchFields) -> tuple[CompiledPattern, PathFilter]:
    """Check everything that can be checked without looking anything up; compile the rest."""
    check_limits(params)
    pattern = compile_pattern(
        params.pattern, fixed_strings=params.fixed_strings, ignore_case=params.ignore_case
    )
    return pattern, compile_globs(params.glob, params.paths)
