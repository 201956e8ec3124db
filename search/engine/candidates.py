"""From a trigram condition to the pieces of text that may match, in the order of the result.

Postings name blocks; a generation says which blocks are alive, at which paths their
documents stand, and the request which of those paths are wanted. What is left are *rows*,
one for each path, in path order, and for each row its *ranges* of content: runs of candidate
blocks that lie side by side.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from search.engine.arrays import begins, ends
from search.engine.languages import language_of
from search.engine.request import EngineRequest
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


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates, and how many of what led to them (for explain)."""

    rows: Rows
    blocks: int | None  # None: every block was let through
    documents: int


def find_candidates(generation: Generation, condition: Condition, request: EngineRequest) -> Found:
    """Everything that may match. Raises CorruptIndex."""
    parts = []
    blocks_total: int | None = 0
    documents = 0
    for number, segment in enumerate(generation.segments):
        blocks = matching_blocks(segment, condition)
        if blocks is None:
            blocks_total = None
            part = _all_rows(generation, number)
        else:
            blocks = blocks[generation.live_blocks(number)[blocks]]
            blocks_total = None if blocks_total is None else blocks_total + len(blocks)
            part = _rows_of_blocks(generation, number, blocks)
        documents += len(part.path)
        parts.append(_wanted(generation, part, request))
    return Found(_in_path_order(parts), blocks_total, documents)


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
    at = np.searchsorted(right, left)
    at[at == len(right)] = 0
    return left[right[at] == left]


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
    blocks = blocks.astype(np.int64)
    owner = segment.block_document[blocks].astype(np.int64)
    first = np.flatnonzero(begins(owner) | begins(blocks, step=1))
    last = ends(first, len(blocks)) - 1
    starts = segment.block_start
    ranges = Ranges(
        segment=np.full(len(first), number, np.int64),
        start=starts[blocks[first]].astype(np.int64),
        end=starts[blocks[last] + 1].astype(np.int64),
        first_block=blocks[first],
        last_block=blocks[last] + 1,
    )
    owner = owner[first]
    of_document = np.flatnonzero(begins(owner))
    past = ends(of_document, len(owner))
    document = owner[of_document]
    paths = generation.paths_of(number, document)
    copies = np.diff(paths.starts)
    return Rows(
        path=paths.paths,
        segment=np.full(len(paths.paths), number, np.int64),
        document=np.repeat(document, copies),
        first=np.repeat(of_document, copies),
        last=np.repeat(past, copies),
        ranges=ranges,
        text_bytes=_NONE,
    )


def _wanted(generation: Generation, rows: Rows, request: EngineRequest) -> Rows:
    """The rows whose path the request's globs, paths and language let through."""
    keep = np.ones(len(rows.path), np.bool_)
    if not request.path_filter.is_all:
        keep &= _by_globs(generation, rows.path, request.path_filter)
    if request.language is not None:
        language = request.language
        kept = np.flatnonzero(keep)
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


_masks: WeakKeyDictionary[Generation, dict[object, Bools]] = WeakKeyDictionary()


def _by_globs(generation: Generation, paths: I64, path_filter: PathFilter) -> Bools:
    """Does the filter let these paths through? Whole tables are remembered."""
    masks = _masks.setdefault(generation, {})
    mask = masks.get(path_filter.cache_key)
    if mask is None and len(paths) * _WHOLE_TABLE_SHARE < len(generation.paths):
        return path_filter.select([generation.paths[i] for i in paths.tolist()])
    if mask is None:
        mask = path_filter.select(generation.paths)
        if len(masks) >= _KEPT_MASKS:
            masks.clear()
        masks[path_filter.cache_key] = mask
    return mask[paths]


def _in_path_order(parts: list[Rows]) -> Rows:
    """The rows of all segments as one table."""
    shifts = np.cumsum([0, *(len(part.ranges.start) for part in parts)])
    ranges = Ranges(
        *(
            np.concatenate([_NONE, *(getattr(part.ranges, name) for part in parts)])
            for name in Ranges.__slots__
        )
    )
    path = np.concatenate([_NONE, *(part.path for part in parts)])
    order = np.argsort(path, kind="stable")

    def column(name: str) -> I64:
        return np.concatenate([_NONE, *(getattr(part, name) for part in parts)])[order]

    shift = np.concatenate(
        [_NONE, *(np.full(len(part), at) for part, at in zip(parts, shifts.tolist(), strict=False))]
    )[order]
    first, last = column("first") + shift, column("last") + shift
    before = np.concatenate(([0], np.cumsum(ranges.end - ranges.start)))
    return Rows(
        path[order],
        column("segment"),
        column("document"),
        first,
        last,
        ranges,
        np.cumsum(before[last] - before[first]),
    )
