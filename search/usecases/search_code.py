"""Search one repository at exactly one commit."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from repos.models import Repository
from repos.naming import is_object_id
from repos.revisions import Resolved, readable
from search.answer import Coverage, SearchAnswer, SearchMeta, SearchResult
from search.cursor import pack, unpack
from search.engine import search as engine
from search.engine.explain import explanation
from search.engine.languages import language_name
from search.engine.request import EngineRequest
from search.engine.results import SearchResult as EngineResult
from search.index.format import CorruptIndex
from search.index.generation import Generation
from search.render import file_matches, fits
from search.requests import SearchCode, SearchFields, compiled
from search.serving import damaged, generation_of, groups_for
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import InvalidCursor, InvalidRequest, ServerBusy

PROTOCOL = "zoekt-single-repo-v1"
PROFILE = "text-no-ctags"
BUSY_WAIT_SECONDS = 2.0

_places = threading.BoundedSemaphore(settings.SEARCH_CONCURRENCY)


@contextmanager
def search_place() -> Iterator[None]:
    """One of the places for searches of this process.

    Raises:
        ServerBusy: all are taken, and none became free within two seconds.
    """
    if not _places.acquire(timeout=BUSY_WAIT_SECONDS):
        raise ServerBusy("Too many searches are running; try again.", retry_after=1)
    try:
        yield
    finally:
        _places.release()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A search whose request is checked and whose commit and index are found."""

    repo: Repository
    at: Resolved
    generation: Generation
    request: EngineRequest
    params: SearchCode

    @property
    def pinned(self) -> bool:
        """Did the caller name the commit in full, so that the answer can never change?"""
        return is_object_id(self.params.revision)

    @property
    def cache_key(self) -> tuple[Any, ...]:
        """Equal exactly for requests that have the same answer, rights aside."""
        generation, params = self.generation, self.params
        return (
            self.repo.storage_key,
            self.repo.name,
            generation.commit,
            generation.group,
            generation.options,
            tuple(segment.id for segment in generation.segments),
            params.model_dump_json(exclude={"repo"}),
        )


def prepare_search(actor: Actor, params: SearchCode) -> Prepared:
    """Check the request, then the caller's rights, then the commit, then its index.

    Raises:
        PatternInvalid, GlobInvalid, InvalidPaths, OutputInvalid, InvalidLimit: the request,
            before anything is looked up.
        InvalidCursor: `after` belongs to another request or commit.
        …and what `readable` and `generation_of` raise.
    """
    pattern, path_filter = compiled(params)
    language = language_of(params)
    cursor = unpack(params)
    revision = params.revision
    if cursor is not None:
        # The page goes on where it was, even if the branch has moved meanwhile.
        if is_object_id(revision) and revision != cursor[0]:
            raise InvalidCursor("The cursor belongs to another commit; start again without it.")
        revision = cursor[0]
    repo, at = readable(actor, params.repo, revision)
    request = EngineRequest(
        pattern=pattern,
        path_filter=path_filter,
        output="files" if params.output == "files" else "content",
        context=params.context,
        max_files=params.max_files,
        max_lines=params.max_matches,
        after=cursor[1] if cursor else None,
        language=language,
    )
    generation = generation_of(repo, at, params.paths)
    return Prepared(repo, at, generation, request, params)


def search_code(actor: Actor, params: SearchCode) -> SearchAnswer:
    """Search one repository at one commit; the answer names it.

    Lines count from 1, offsets are bytes of the line without BOM and trailing CR. Counts are
    of the whole result, up to 10,000 matches.

    Raises:
        what `prepare_search` and `run_search` raise.
    """
    return run_search(prepare_search(actor, params))


def run_search(prepared: Prepared) -> SearchAnswer:
    """Run a prepared search.

    Raises:
        ServerBusy: too many searches at once.
        IndexCorrupt: a part that was needed is damaged; its rebuild is queued.
    """
    with search_place():
        try:
            found = engine.search(
                prepared.generation,
                prepared.request,
                Deadline.after(settings.SEARCH_SECONDS),
                fits=fits,
            )
        except CorruptIndex as exc:
            raise damaged(prepared.repo, prepared.at.commit, str(exc)) from exc
    params, commit = prepared.params, prepared.at.commit
    return SearchAnswer(
        result=result_of(found, params),
        meta=SearchMeta(
            **page_meta(found, pack(params, commit, found.next)),
            commit=commit,
            repository=prepared.repo.name,
            coverage=coverage_of(prepared.repo, params, found.indexed_documents, found.skipped),
        ),
    )


def language_of(params: SearchFields) -> str | None:
    if not params.language:
        return None
    name = language_name(params.language)
    if name is None:
        raise InvalidRequest(f"Unknown language {params.language!r}.")
    return name


def result_of(found: EngineResult, params: SearchFields) -> SearchResult:
    return SearchResult(
        duration=found.nanoseconds,
        file_count=found.counts.files,
        match_count=found.counts.matches,
        line_count=found.counts.lines,
        files=file_matches(found.files),
        explain=explanation(found) if params.explain else None,
    )


def page_meta(found: EngineResult, cursor: str | None) -> dict[str, Any]:
    """What searches of one and of many repositories say alike."""
    return {
        "protocol": PROTOCOL,
        "status": "partial" if found.partial else "ok",
        "partial": found.partial,
        "truncated": found.truncated,
        "has_more": found.has_more,
        "next_cursor": cursor,
        "partial_reason": found.partial_reason.value if found.partial_reason else None,
        "files_only": found.files_only if found.shrunk else None,
        "truncation_reason": "response_bytes" if found.shrunk else None,
    }


def coverage_of(
    repo: Repository, params: SearchFields, documents: int, left_out: Mapping[str, int]
) -> Coverage:
    """What was searched of a repository, and how many files were left out for which reason."""
    skipped = {reason: count for reason, count in left_out.items() if count}
    return Coverage(
        profile=PROFILE,
        indexed_documents=documents,
        complete_repository=False,
        index_mode=repo.index_mode,
        paths=list(params.paths),
        groups=groups_for(repo, params.paths),
        skipped=skipped,
        unsupported_paths_skipped=True if skipped.get("unsupported_path") else None,
    )
