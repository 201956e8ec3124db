"""Checks an index against Git and against itself.

The plain check reads every byte of every file once and compares each manifest with the tree
of its commit. The deep check also reads every blob from Git again and compares its text,
and computes the trigrams of every block anew and compares the postings.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

import numpy as np
import numpy.typing as npt

from search.index.format import CHUNK_BLOCKS, I64, U32, Bools, CorruptIndex, SkipReason
from search.index.manifest import Manifest, make_manifest, match_listing
from search.index.segment import Segment
from search.index.store import IndexStore
from search.index.text import normalise
from search.index.trees import list_tree
from search.index.workers import GitFailed, git_stream
from search.kernel.fold import fold_bytes


@dataclass(frozen=True)
class Problem:
    """Something that is not as it should be, and in which file."""

    name: str
    text: str


def verify(store: IndexStore, *, deep: bool = False) -> list[Problem]:
    """Check all manifests and segments of a store. An empty list means that all is well.

    Takes no lock, so building goes on; a file that goes away meanwhile is left out.
    """
    problems = []
    segments = []
    for path in store.segment_files():
        try:
            segment = Segment(path)
            segment.check_all()
            segments.append(segment)
        except CorruptIndex as exc:
            problems.append(Problem(exc.name, exc.problem))
        except FileNotFoundError:
            continue  # merged or collected meanwhile
    for path in store.manifest_files():
        problems += _verify_manifest(store, path)
    if deep:
        for segment in segments:
            problems += _verify_texts(store, segment)
            problems += _verify_postings(segment)
    return problems


def _verify_manifest(store: IndexStore, path: Path) -> list[Problem]:
    try:
        manifest = store.read_manifest(path)
        segments = [store.open_segment(each) for each in manifest.segments]
        everything = store.open_segments(manifest.options)
        listing = list_tree(store.git_dir, manifest.commit, manifest.scope)
    except FileNotFoundError as exc:
        return [Problem(path.name, str(exc))] if path.exists() else []
    except (CorruptIndex, GitFailed) as exc:
        return [Problem(path.name, str(exc))]
    match = match_listing(listing, everything, store.override())
    if match.missing.any():
        return [Problem(path.name, f"{int(match.missing.sum())} paths are in no segment")]
    expected = make_manifest(
        manifest.commit,
        listing,
        match,
        everything,
        options=manifest.options,
        group=manifest.group,
        scope=manifest.scope,
    )
    problems = []
    if list(expected.paths) != list(manifest.paths):
        problems.append(Problem(path.name, "paths differ from the tree of the commit"))
    elif _oids(manifest, segments) != _oids(
        expected, [store.open_segment(each) for each in expected.segments]
    ):
        problems.append(Problem(path.name, "blobs differ from the tree of the commit"))
    if expected.skipped != manifest.skipped:
        problems.append(Problem(path.name, "what was skipped differs from the tree"))
    return problems


def _oids(manifest: Manifest, segments: list[Segment]) -> list[bytes]:
    pairs = zip(manifest.path_segment.tolist(), manifest.path_document.tolist(), strict=True)
    return [segments[number].oid(document) for number, document in pairs]


def _verify_texts(store: IndexStore, segment: Segment) -> list[Problem]:
    """Compare each text with what its blob becomes."""
    problems = []
    documents = range(len(segment.document_oids))
    for document, blob in zip(documents, _read_blobs(store, segment), strict=False):
        expected = normalise(blob)
        if isinstance(expected, SkipReason) or bytes(segment.text(document)) != expected[0]:
            name = segment.oid(document).hex()
            problems.append(Problem(segment.path.name, f"text of {name} differs from the blob"))
    return problems


def _read_blobs(store: IndexStore, segment: Segment) -> Iterator[bytes]:
    oids = (segment.oid(document) for document in range(len(segment.document_oids)))
    with NamedTemporaryFile() as listed:
        listed.write("".join(f"{oid.hex()}\n" for oid in oids).encode())
        listed.flush()
        path = Path(listed.name)
        with (
            git_stream(store.git_dir, "cat-file", "--batch", "--buffer", stdin=path) as output,
            open(output, "rb", closefd=False) as stream,
        ):
            yield from _parse_batch(stream)


def _parse_batch(stream: IO[bytes]) -> Iterator[bytes]:
    for header in stream:
        _, _, size = header.rpartition(b" ")
        if not size.strip().isdigit():
            raise GitFailed("cat-file", 0, header.decode(errors="replace"))
        yield stream.read(int(size))
        stream.read(1)


def _verify_postings(segment: Segment) -> list[Problem]:
    """Is each block in the postings of exactly the trigrams that it holds?

    Both sides come down to a sum and a number for each block, so that neither has to be held
    in memory or sorted. Each trigram has a weight like a random number, so that two different
    sets of them have the same sum about once in 2**64 times.
    """
    weights = _weights(segment.codes)
    blocks = len(segment.block_start) - 1
    sums, counts = np.zeros(blocks, np.uint64), np.zeros(blocks, np.int64)
    wrong_counts = 0
    cardinalities = segment.posting_cardinality.tolist()
    for row, code in enumerate(segment.codes.tolist()):
        numbers = decode_posting(segment, row)
        wrong_counts += len(numbers) != cardinalities[row]
        if len(numbers) and int(numbers.max()) >= blocks:
            return [Problem(segment.path.name, f"posting of {code:#x} names no block")]
        sums[numbers] += weights[row]
        counts[numbers] += 1
    problems = []
    if wrong_counts:
        problems.append(Problem(segment.path.name, f"wrong counts of {wrong_counts} trigrams"))
    bounds = segment.block_start.tolist()
    missing = extra = other = 0
    for block, (start, stop) in enumerate(pairwise(bounds)):
        codes = block_trigrams(bytes(segment.content[start:stop]))
        missing += len(codes) > counts[block]
        extra += len(codes) < counts[block]
        same_number = len(codes) == counts[block]
        other += bool(same_number and _weights(codes).sum() != sums[block])
    for number, what in ((missing, "too few"), (extra, "too many"), (other, "other")):
        if number:
            text = f"{number} blocks are posted under {what} trigrams than they hold"
            problems.append(Problem(segment.path.name, text))
    return problems


def _weights(codes: U32) -> npt.NDArray[np.uint64]:
    """A number of 64 bits for each trigram, all bits of which depend on all of its own."""
    mixed = (codes.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ mixed >> np.uint64(shift)) * np.uint64(factor)
    weights: npt.NDArray[np.uint64] = mixed ^ mixed >> np.uint64(31)
    return weights


def block_trigrams(text: bytes) -> U32:
    """The trigrams that a block of this text must post, ascending."""
    folded = text.lower() if text.isascii() else fold_bytes(text)
    codes = np.concatenate((_trigrams(text), _trigrams(folded)))
    codes.sort()  # np.unique does the same at three times the cost
    wanted = _without_newline()[codes]
    wanted[1:] &= codes[1:] != codes[:-1]
    found: U32 = codes[wanted]
    return found


@lru_cache(1)
def _without_newline() -> Bools:
    """By trigram: is none of its bytes a newline?"""
    codes = np.arange(1 << 24, dtype=np.uint32)
    without: Bools = np.logical_and.reduce([codes >> shift & 255 != 10 for shift in (0, 8, 16)])
    return without


def _trigrams(text: bytes) -> U32:
    data = np.frombuffer(text, np.uint8).astype(np.uint32)
    codes = data[:-2] | data[1:-1] << 8 | data[2:] << 16
    return codes.astype(np.uint32, copy=False)


def decode_posting(segment: Segment, row: int) -> I64:
    """Block numbers of the posting of `segment.codes[row]`, decoded without the kernel."""
    data = segment.posting_bytes(row)
    found, at = [], 0
    while at < len(data):
        key, kind = int(data[at]), int(data[at + 1])
        length = int(data[at + 2]) | int(data[at + 3]) << 8
        values = _decode_container(kind, data[at + 4 : at + 4 + length])
        found.append(values + segment.meta.chunk_first_block[key])
        at += 4 + length
    return found[0] if len(found) == 1 else np.concatenate([np.zeros(0, np.int64), *found])


def _decode_container(kind: int, body: memoryview) -> I64:
    if kind == 0:
        return np.frombuffer(body, "<u2").astype(np.int64)
    data = np.frombuffer(body, np.uint8)
    if kind == 1:
        return np.flatnonzero(np.unpackbits(data, bitorder="little"))
    summed: I64 = np.cumsum(data, dtype=np.int64)[data != 255]
    return summed[summed < CHUNK_BLOCKS]
