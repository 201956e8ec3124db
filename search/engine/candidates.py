"""From a trigram condition to the pieces of text that may match, in the order of the result.

Postings name blocks; a generation says which blocks are alive, at which paths their
documents stand, and the request which of those paths are wanted. What is left are *rows*,
one for each path, in path order, and for each row its *ranges* of content: runs of candidate
blocks that lie side by side.
"""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from weakref import WeakKeyDictionary

import numpy as np

from search.engine.arrays import begins, ends
from search.engine.languages import language_of
from search.engine.plan import Plan
from search.engine.request import EngineRequest
from search.engine.short_texts import blocks_with_any
from search.globs import PathFilter
from search.index.format import I64, U32, Bools
from search.index.generation import Generation
from search.index.segment import Segment
from search.pattern.condition import All, And, Condition, Or, Trigrams

_NONE = np.zeros(0, np.int64)
# Filters that are kept per generation, each one boolean for each path.
_KEPT_MASKS = 64
# With fewer candidates than this share of the paths, only those are looked at.
_WHOLE_TABLE_SHARE = 4


@dataclass(frozen=True, slots=True)
class Rows:
    """Candidate paths in order, and where their candidate text lies.

    Row i stands for the path `path[i]` of the generation, its document is `document[i]` of
    segment `segment[i]`, and its text are the ranges `first[i]` to `last[i]` (exclusive).
    """

    path: I64
    segment: I64
    document: I64
    first: I64
    last: I64
    ranges: "Ranges"
    text_bytes: I64  # of all rows up to and including each

    def __len__(self) -> int:
        return len(self.path)


@dataclass(frozen=True, slots=True)
class Ranges:
    """Runs of whole blocks of one document each: [start, end) of its segment's content."""

    segment: I64
    start: I64
    end: I64
    first_block: I64
    last_block: I64  # exclusive


_NO_ROWS = Rows(_NONE, _NONE, _NONE, _NONE, _NONE, Ranges(*[_NONE] * 5), _NONE)


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates, and how many of what led to them (for explain)."""

    rows: Rows
    blocks: int | None  # None: every block was let through
    documents: int


def find_candidates(generation: Generation, plan: Plan, request: EngineRequest) -> Found:
    """Everything that may match. Raises CorruptIndex."""
    parts = []
    passed: int | None = 0
    documents = 0
    kept = _kept_mask(generation, request.path_filter)
    for number, segment in enumerate(generation.segments):
        blocks = matching_blocks(segment, plan.condition)
        if blocks is None and plan.shapes:
            blocks = blocks_with_any(segment, plan.shapes)
        if blocks is None:
            passed = None
            part = _all_rows(generation, number)
        else:
            if len(blocks):
                alive = kept.blocks(generation, number) if kept else generation.live_blocks(number)
                blocks = blocks[alive[blocks]]
            if not len(blocks):
                continue
            passed = None if passed is None else passed + len(blocks)
            part = _rows_of_blocks(generation, number, blocks)
        documents += len(part)
        parts.append(_wanted(generation, part, request))
    return Found(_in_path_order(parts) if parts else _NO_ROWS, passed, documents)


def matching_blocks(segment: Segment, condition: Condition) -> U32 | None:
    """Blocks that fulfil the condition, ascending; None means that any may.

    Raises CorruptIndex.
    """
    match condition:
        case All():
            return None
        case Trigrams(codes=codes):
            return segment.intersect(codes)
        case And(conditions=parts):
            return _and(segment, parts)
        case Or(conditions=parts):
            return _or(segment, parts)


def _and(segment: Segment, parts: tuple[Condition, ...]) -> U32 | None:
    found: U32 | None = None
    # Plain trigrams first: they cost least, and often leave nothing to do for the rest.
    for part in sorted(parts, key=lambda part: not isinstance(part, Trigrams)):
        blocks = matching_blocks(segment, part)
        if blocks is not None:
            found = blocks if found is None else _common(found, blocks)
        if found is not None and not len(found):
            break
    return found


def _or(segment: Segment, parts: tuple[Condition, ...]) -> U32 | None:
    found = []
    for part in parts:
        blocks = matching_blocks(segment, part)
        if blocks is None:
            return None
        found.append(blocks)
    if not found:
        return np.zeros(0, np.uint32)
    return found[0] if len(found) == 1 else np.unique(np.concatenate(found))


def _common(left: U32, right: U32) -> U32:
    """Numbers that two ascending arrays share."""
    if len(left) > len(right):
        left, right = right, left
    if not len(left):
        return left
    at = right.searchsorted(left)
    at[at == len(right)] = 0
    common: U32 = left[right[at] == left]
    return common


def _all_rows(generation: Generation, number: int) -> Rows:
    """Every path of a segment whose document is not empty."""
    segment = generation.segments[number]
    path = np.flatnonzero(generation.path_segment == number)
    document = generation.path_document[path].astype(np.int64)
    filled = segment.document_blocks[document] > 0
    path, document = path[filled], document[filled]
    start = segment.document_start[document].astype(np.int64)
    ranges = Ranges(
        segment=np.full(len(path), number, np.int64),
        start=start,
        end=start + segment.document_length[document],
        first_block=segment.document_first_block[document],
        last_block=segment.document_first_block[document + 1],
    )
    first = np.arange(len(path))
    return Rows(path, ranges.segment, document, first, first + 1, ranges, _NONE)


def _rows_of_blocks(generation: Generation, number: int, blocks: U32) -> Rows:
    segment = generation.segments[number]
    owners = segment.block_document[blocks]
    first = (begins(owners) | begins(blocks, step=1)).nonzero()[0]
    last_block = blocks[ends(first, len(blocks)) - 1].astype(np.int64) + 1
    first_block = blocks[first].astype(np.int64)
    starts = segment.block_start
    ranges = Ranges(
        segment=np.full(len(first), number, np.int64),
        start=starts[first_block].astype(np.int64),
        end=starts[last_block].astype(np.int64),
        first_block=first_block,
        last_block=last_block,
    )
    owners = owners[first]
    first = begins(owners).nonzero()[0]
    document = owners[first].astype(np.int64)
    paths = generation.paths_of(number, document)
    last = ends(first, len(owners))
    if len(paths.paths) > len(document):
        copies = np.diff(paths.starts)
        document, first, last = (column.repeat(copies) for column in (document, first, last))
    segments = np.full(len(document), number, np.int64)
    return Rows(paths.paths, segments, document, first, last, ranges, _NONE)


def _wanted(generation: Generation, rows: Rows, request: EngineRequest) -> Rows:
    """The rows whose path the request's globs, paths and language let through."""
    keep = np.ones(len(rows.path), np.bool_)
    if not request.path_filter.is_all:
        keep &= _by_globs(generation, rows.path, request.path_filter)
    if request.language is not None:
        language = request.language
        kept = keep.nonzero()[0]
        paths = map(generation.paths.__getitem__, rows.path[kept].tolist())
        keep[kept] = [language_of(path) == language for path in paths]
    if keep.all():
        return rows
    return Rows(
        rows.path[keep],
        rows.segment[keep],
        rows.document[keep],
        rows.first[keep],
        rows.last[keep],
        rows.ranges,
        _NONE,
    )


class _Mask:
    """What a filter lets through of a generation: paths, and blocks of each segment."""

    def __init__(self, paths: Bools) -> None:
        self.paths = paths
        self._blocks: dict[int, Bools] = {}

    def blocks(self, generation: Generation, number: int) -> Bools:
        """Which blocks of a segment stand at one of the paths."""
        blocks = self._blocks.get(number)
        if blocks is None:
            segment = generation.segments[number]
            at = generation.path_document[self.paths & (generation.path_segment == number)]
            documents = np.zeros(len(segment.document_blocks), np.bool_)
            documents[at] = True
            blocks = self._blocks[number] = documents.repeat(segment.document_blocks)
        return blocks


# By generation and filter; None until a filter is used for the second time.
_masks: WeakKeyDictionary[Generation, dict[object, _Mask | None]] = WeakKeyDictionary()


def _kept_mask(generation: Generation, path_filter: PathFilter) -> _Mask | None:
    if path_filter.is_all:
        return None
    return _masks.get(generation, {}).get(path_filter.cache_key)


def _by_globs(generation: Generation, paths: I64, path_filter: PathFilter) -> Bools:
    """Does the filter let these paths through?

    A filter that is used again, as it is for further pages and while somebody refines a
    pattern, is worked out for all paths of the generation.
    """
    masks = _masks.setdefault(generation, {})
    key = path_filter.cache_key
    mask = masks.get(key)
    if mask is None:
        if len(masks) >= _KEPT_MASKS:
            masks.clear()
        if key not in masks and len(paths) * _WHOLE_TABLE_SHARE < len(generation.paths):
            masks[key] = None
            return path_filter.select([generation.paths[i] for i in paths.tolist()])
        mask = masks[key] = _Mask(path_filter.select(generation.paths))
    return mask.paths[paths]


def _in_path_order(parts: list[Rows]) -> Rows:
    """The rows of all segments as one table."""
    rows = parts[0] if len(parts) == 1 else _joined(parts)
    order = rows.path.argsort(kind="stable")
    first, last = rows.first[order], rows.last[order]
    ranges = rows.ranges
    before = np.zeros(len(ranges.start) + 1, np.int64)
    np.cumsum(ranges.end - ranges.start, out=before[1:])
    return Rows(
        rows.path[order],
        rows.segment[order],
        rows.document[order],
        first,
        last,
        ranges,
        np.cumsum(before[last] - before[first]),
    )


def _joined(parts: list[Rows]) -> Rows:
    """One table behind the other, over the ranges of all."""

    def join(column: Callable[[Rows], I64]) -> I64:
        return np.concatenate([_NONE, *map(column, parts)])

    names = Ranges.__slots__
    ranges = Ranges(*(join(attrgetter(f"ranges.{name}")) for name in names))
    sizes = [len(part.ranges.start) for part in parts]
    shift = np.repeat(np.cumsum([0, *sizes])[:-1], [len(part) for part in parts])
    return Rows(
        join(attrgetter("path")),
        join(attrgetter("segment")),
        join(attrgetter("document")),
        join(attrgetter("first")) + shift,
        join(attrgetter("last")) + shift,
        ranges,
        _NONE,
    )
