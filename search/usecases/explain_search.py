"""Run one search and say how it went: the plan, what each step cost, what the index holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from search.engine.explain import trigrams_of
from search.index.generation import Generation
from search.pattern.condition import text_of
from search.requests import SearchCode
from search.usecases.search_code import prepare_search, run_search
from sourcegraph_site.kernel.actor import Actor


@dataclass(frozen=True, slots=True)
class SegmentSize:
    """One segment of a commit: all of it, and what of it belongs to the commit."""

    id: str
    documents: int
    blocks: int
    live_blocks: int
    text_bytes: int


@dataclass(frozen=True, slots=True)
class TrigramCount:
    """In how many blocks of all segments a trigram is posted."""

    text: str
    blocks: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """`plan` and `steps` are those of `Explain: true`; `duration` in nanoseconds."""

    repository: str
    commit: str
    paths: int
    segments: list[SegmentSize]
    trigrams: list[TrigramCount]
    plan: dict[str, Any]
    steps: list[dict[str, Any]]
    duration: int
    file_count: int
    line_count: int
    match_count: int
    partial_reason: str | None


def explain_search(actor: Actor, params: SearchCode) -> Explanation:
    """Run the first page of a search, once, with whatever is in the caches of this process.

    Raises:
        what `search_code` raises.
    """
    prepared = prepare_search(actor, params.model_copy(update={"explain": True}))
    answer = run_search(prepared)
    generation, result = prepared.generation, answer.result
    explained = result.explain or {}
    return Explanation(
        repository=prepared.repo.name,
        commit=generation.commit,
        paths=len(generation.paths),
        segments=list(_segments(generation)),
        trigrams=_trigrams(generation, trigrams_of(prepared.request.pattern.condition)),
        plan=explained["Plan"],
        steps=explained["Steps"],
        duration=result.duration,
        file_count=result.file_count,
        line_count=result.line_count,
        match_count=result.match_count,
        partial_reason=answer.meta.partial_reason,
    )


def _segments(generation: Generation) -> Iterator[SegmentSize]:
    for number, segment in enumerate(generation.segments):
        live = generation.live_blocks(number)
        yield SegmentSize(
            id=segment.id,
            documents=len(segment.document_oids),
            blocks=len(live),
            live_blocks=int(live.sum()),
            text_bytes=len(segment.content),
        )


def _trigrams(generation: Generation, codes: list[int]) -> list[TrigramCount]:
    """Rarest first, which is the order in which the engine takes them."""
    counts = [
        TrigramCount(text_of(code), sum(each.cardinality(code) for each in generation.segments))
        for code in codes
    ]
    return sorted(counts, key=lambda count: count.blocks)
