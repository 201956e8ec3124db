"""A damaged file is an error that names it, and never an answer with less in it."""

import random
from pathlib import Path

import numpy as np
import pytest

from search.index import verify as verifying
from search.index.format import CorruptIndex, UnsupportedFormat
from search.index.lines import lines_at
from search.index.segment import Segment
from search.index.store import GenerationMissing
from search.index.verify import verify
from tests.search.index.support import random_text, texts


@pytest.fixture
def files() -> dict[str, bytes]:
    rng = random.Random(4)
    return {f"f{i}": random_text(rng, 9_000) for i in range(8)} | {"nul": b"\0"}


@pytest.fixture
def commit(repository, store, files) -> str:
    made = repository.commit(files)
    store.index_commit(made)
    return made


@pytest.fixture
def path(store, commit) -> Path:
    (only,) = store.segment_files()
    return only


def use_everything(path: Path) -> tuple[object, ...]:
    """What a search can ask a segment, as something that can be compared."""
    segment = Segment(path)
    blocks = np.arange(len(segment.block_start) - 1)
    segment.check_blocks(blocks)
    positions = np.arange(0, len(segment.content), 97)
    lines = lines_at(segment, positions)
    return (
        [bytes(segment.text(document)) for document in range(len(segment.document_oids))],
        [segment.intersect([code]).tolist() for code in segment.codes.tolist()],
        [segment.cardinality(code) for code in segment.codes.tolist()],
        lines.number.tolist(),
        lines.start.tolist(),
        lines.end.tolist(),
        lines.document.tolist(),
        segment.find(segment.document_oids).tolist(),
        segment.find_skipped(segment.skipped_oids).tolist(),
        segment.document_flags.tolist(),
        segment.meta,
    )


def test_a_flipped_byte_anywhere_is_an_error_or_changes_nothing(path):
    good = path.read_bytes()
    expected = use_everything(path)
    sections = Segment(path)._sections.values()
    rng = random.Random(8)
    places = {section.offset for section in sections if section.length}
    places |= {section.offset + section.length - 1 for section in sections if section.length}
    places |= set(range(12)) | set(range(len(good) - 60, len(good)))
    places |= set(rng.sample(range(len(good)), 60))
    silent = []
    for place in sorted(places):
        damaged = bytearray(good)
        damaged[place] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            found = use_everything(path)
        except CorruptIndex as exc:
            assert exc.name == path.name
            continue
        assert found == expected, f"byte {place} was changed and nobody noticed"
        silent.append(place)
    covered = [(s.offset, s.offset + s.length) for s in sections]
    assert not [p for p in silent if any(start <= p < end for start, end in covered)]


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.9, 0.9999])
def test_a_segment_that_was_cut_off_does_not_open(path, share):
    good = path.read_bytes()
    path.write_bytes(good[: int(len(good) * share)])
    with pytest.raises(CorruptIndex, match=path.name):
        Segment(path)


def test_another_format_number_says_so(path):
    data = bytearray(path.read_bytes())
    data[8] += 1
    path.write_bytes(data)
    with pytest.raises(UnsupportedFormat, match="format 2"):
        Segment(path)


@pytest.mark.parametrize("keep", [0, 10, -1])
def test_a_manifest_that_was_cut_off_is_an_error(store, commit, keep):
    manifest = store.manifest_path(commit)
    manifest.write_bytes(manifest.read_bytes()[:keep])
    with pytest.raises(CorruptIndex, match=commit):
        store.open_generation(commit)


def test_a_flipped_byte_of_a_manifest_is_an_error(store, commit):
    manifest = store.manifest_path(commit)
    good = manifest.read_bytes()
    for place in range(0, len(good), 7):
        damaged = bytearray(good)
        damaged[place] ^= 16
        manifest.write_bytes(damaged)
        with pytest.raises(CorruptIndex, match=commit):
            store.open_generation(commit)


def test_a_damaged_segment_is_never_merged_into_a_good_one(repository, make_store, path, commit):
    from search.index.merge import merge

    data = bytearray(path.read_bytes())
    data[5_000] ^= 1  # in content
    path.write_bytes(data)
    store = make_store()
    for i in range(4):
        store.index_commit(repository.commit({"new": f"{i}\n"}))
    with pytest.raises(CorruptIndex, match=path.name):
        merge(store, lambda: [commit])
    assert len(store.segment_files()) == 5


def test_verify_names_the_damaged_file(store, path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    problems = verify(store)
    assert path.name in {problem.name for problem in problems}


def test_repair_removes_what_is_damaged_and_the_next_build_brings_it_back(
    make_store, path, commit, files
):
    before = texts(make_store().open_generation(commit))
    data = bytearray(path.read_bytes())
    data[5_000] ^= 1
    path.write_bytes(data)
    store = make_store()
    assert store.repair() == [path.name]
    with pytest.raises(GenerationMissing):
        store.open_generation(commit)
    assert store.index_commit(commit).new_documents == 9
    assert texts(store.open_generation(commit)) == before
    assert store.repair() == []


def test_a_removed_segment_is_a_missing_generation(make_store, path, commit):
    path.unlink()
    with pytest.raises(GenerationMissing):
        make_store().open_generation(commit)


def test_deep_verify_notices_a_text_that_is_not_the_blobs(repository, make_store, commit, path):
    """A builder that wrote the wrong thing, with the right checksums."""
    other = repository.commit({"f0": "other\n"}, branch="other", orphan=True)
    wrong = make_store()
    wrong.root = wrong.root.parent / "elsewhere"
    wrong.index_commit(other)
    (segment,) = wrong.segment_files()
    data = segment.read_bytes()
    oid = wrong.open_generation(other).path_oid(0)
    swapped = make_store().open_generation(commit).path_oid(0)
    import zlib

    from search.index.format import TABLE_ROW, TRAILER, encode_table

    opened = Segment(segment)
    rows = []
    body = bytearray(data)
    for section in opened._sections.values():
        span = slice(section.offset, section.offset + section.length)
        if section.name == "oids":
            assert bytes(body[span]) == oid
            body[span] = swapped
            section = type(section)(
                section.name, section.offset, section.length, zlib.crc32(swapped)
            )
        rows.append(section)
    at = len(data) - TRAILER.size - TABLE_ROW.size * len(rows)
    path.write_bytes(bytes(body[:at]) + encode_table(rows, at))
    store = make_store()
    assert any("differs from the blob" in each.text for each in verify(store, deep=True))


def test_deep_verify_notices_postings_that_are_not_those_of_the_blocks(store, path, monkeypatch):
    segment = Segment(path)
    rows = np.flatnonzero(segment.posting_cardinality == 1)
    first = int(rows[0])
    second = next(
        int(row)
        for row in rows
        if verifying.decode_posting(segment, row) != verifying.decode_posting(segment, first)
    )
    good = verifying.decode_posting
    nothing = np.zeros(0, np.int64)
    # What the posting of the first row is taken for, and what is said about it.
    damages = [
        (lambda segment, row: good(segment, row), set()),
        (lambda segment, row: nothing if row == first else good(segment, row), {"too few"}),
        (
            lambda segment, row: (
                np.append(good(segment, row), good(segment, second))
                if row == first
                else good(segment, row)
            ),
            {"too many"},
        ),
        (
            lambda segment, row: good(segment, {first: second, second: first}.get(row, row)),
            {"other"},
        ),
        (lambda segment, row: good(segment, row) + 10**6, {"names no block"}),
    ]
    for damage, said in damages:
        monkeypatch.setattr(verifying, "decode_posting", damage)
        problems = [p.text for p in verify(store, deep=True) if "wrong counts" not in p.text]
        assert len(problems) == len(said)
        assert all(any(word in text for text in problems) for word in said), problems
