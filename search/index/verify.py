"""Checks an index against Git and against itself.

The plain check reads every byte of every file once and compares each manifest with the tree
of its commit. The deep check also reads every blob from Git again and compares its text,
and computes the trigrams of every block anew and compares the postings.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

import numpy as np
from pyroaring import BitMap

from search.index.format import CHUNK_BLOCKS, U8, U32, CorruptIndex, SkipReason
from search.index.manifest import Manifest, make_manifest, match_listing
from search.index.segment import Segment
from search.index.store import IndexStore
from search.index.text import normalise
from search.index.trees import list_tree
from search.index.workers import GitFailed, git_stream
from search.kernel.fold import fold_bytes

_BLOCKS_AT_ONCE = 16_384


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
    """Every trigram of every block is posted, and as many are posted as there are."""
    postings = {
        code: decode_posting(segment, row) for row, code in enumerate(segment.codes.tolist())
    }
    missing = posted = 0
    blocks = len(segment.block_start) - 1
    for first in range(0, blocks, _BLOCKS_AT_ONCE):
        codes, numbers = _naive_pairs(segment, first, min(first + _BLOCKS_AT_ONCE, blocks))
        posted += len(codes)
        starts = np.flatnonzero(np.diff(codes.astype(np.int64), prepend=-1))
        for start, end in pairwise([*starts, len(codes)]):
            expected = BitMap(numbers[start:end])
            missing += len(expected - postings.get(int(codes[start]), BitMap()))
    found = sum(map(len, postings.values()))
    problems = []
    if missing:
        problems.append(Problem(segment.path.name, f"{missing} trigrams of blocks not posted"))
    if found != posted - missing:
        extra = found - posted + missing
        problems.append(Problem(segment.path.name, f"{extra} postings of trigrams not there"))
    for row, code in enumerate(segment.codes.tolist()):
        if len(postings[code]) != segment.posting_cardinality[row]:
            problems.append(Problem(segment.path.name, f"wrong count of trigram {code:#x}"))
    return problems


def _naive_pairs(segment: Segment, first: int, end: int) -> tuple[U32, U32]:
    """Trigram codes and block numbers of some blocks, by code and then block."""
    codes, numbers = [], []
    for block in range(first, end):
        start, stop = segment.block_start[block : block + 2].tolist()
        found = block_trigrams(bytes(segment.content[start:stop]))
        codes.append(found)
        numbers.append(np.full(len(found), block, np.uint32))
    all_codes, all_numbers = np.concatenate(codes), np.concatenate(numbers)
    order = np.argsort(all_codes, kind="stable")
    return all_codes[order], all_numbers[order]


def block_trigrams(text: bytes) -> U32:
    """The trigrams that a block of this text must post, ascending."""
    folded = text.lower() if text.isascii() else fold_bytes(text)
    codes = np.unique(np.concatenate((_trigrams(text), _trigrams(folded))))
    newline = np.zeros(len(codes), np.bool_)
    for shift in (0, 8, 16):
        newline |= (codes >> shift & 255) == 10
    wanted: U32 = codes[~newline]
    return wanted


def _trigrams(text: bytes) -> U32:
    data = np.frombuffer(text, np.uint8).astype(np.uint32)
    codes = data[:-2] | data[1:-1] << 8 | data[2:] << 16
    return codes.astype(np.uint32, copy=False)


def decode_posting(segment: Segment, row: int) -> BitMap:
    """Block numbers of the posting of `segment.codes[row]`, decoded without the kernel."""
    posting = segment.postings(int(segment.codes[row]))
    assert posting is not None
    data = np.frombuffer(posting.data, np.uint8)
    blocks, at = BitMap(), 0
    while at < len(data):
        key, kind = int(data[at]), int(data[at + 1])
        length = int(data[at + 2]) | int(data[at + 3]) << 8
        values = _decode_container(kind, data[at + 4 : at + 4 + length])
        blocks |= BitMap(values + segment.meta.chunk_first_block[key])
        at += 4 + length
    return blocks


def _decode_container(kind: int, body: U8) -> U32:
    if kind == 0:
        listed: U32 = np.frombuffer(body.tobytes(), "<u2").astype(np.uint32)
        return listed
    if kind == 1:
        return np.flatnonzero(np.unpackbits(body, bitorder="little")).astype(np.uint32)
    summed: U32 = np.cumsum(body, dtype=np.uint32)[body != 255]
    return summed[summed < CHUNK_BLOCKS]
