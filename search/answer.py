"""What a search answers, as data; `to_wire(answer, "pascal")` is the reply of contract 3.4."""

from dataclasses import dataclass, field
from typing import Any

from sourcegraph_site.kernel.wire import optional


@dataclass(frozen=True, slots=True)
class LineFragment:
    """One match; both numbers count bytes of the line."""

    line_offset: int
    match_length: int


@dataclass(frozen=True, slots=True)
class LineMatch:
    """One matching line, without its newline; `lossy` when bytes of it are not UTF-8."""

    line_number: int
    line: str
    before: list[str]
    after: list[str]
    line_fragments: list[LineFragment]
    lossy: bool | None = optional()


@dataclass(frozen=True, slots=True)
class FileMatch:
    """One file; without `line_matches` when only files were asked for or fitted."""

    file_name: str
    language: str
    blob_oid: str
    repository: str | None = optional()
    commit: str | None = optional()
    line_matches: list[LineMatch] | None = optional()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Counts are of the whole result, not of this page; `duration` in nanoseconds."""

    duration: int
    file_count: int
    match_count: int
    line_count: int
    files: list[FileMatch]
    explain: dict[str, Any] | None = optional()


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was searched, and what was left out for which reason."""

    profile: str
    indexed_documents: int
    complete_repository: bool
    index_mode: str
    paths: list[str]
    groups: list[str]
    skipped: dict[str, int]
    symlinks: str = "not_followed"
    symlink_expansion_complete: bool = True
    symlink_skipped: dict[str, int] = field(default_factory=dict)
    unsupported_paths_skipped: bool | None = optional()


@dataclass(frozen=True, slots=True)
class SearchedRepository:
    """One repository of a search over many: at which commit, or why not."""

    repository: str
    commit: str | None
    partial: bool
    coverage: Coverage | None
    code: str | None = optional()


@dataclass(frozen=True, slots=True)
class SearchMeta:
    """Which snapshot answered, and whether that is all."""

    protocol: str
    status: str
    partial: bool
    truncated: bool
    has_more: bool
    next_cursor: str | None
    commit: str | None = optional()
    repository: str | None = optional()
    coverage: Coverage | None = optional()
    repositories: list[SearchedRepository] | None = optional()
    partial_reason: str | None = optional()
    files_only: bool | None = optional()
    truncation_reason: str | None = optional()


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    result: SearchResult
    meta: SearchMeta
