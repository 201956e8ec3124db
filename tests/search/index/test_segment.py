"""A segment holds exactly the texts and the trigrams of its blobs."""

import codecs
import random

import numpy as np
import pytest

from search.index.format import DocumentFlags, SkipReason
from search.index.store import IndexStore
from search.index.text import normalise
from search.index.verify import decode_posting
from search.kernel.fold import fold_bytes
from tests.search.index.support import block_text, code, naive_trigrams, random_text, texts
from tests.support.git_remote import GitRemote

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"

ODD = {
    "empty": b"",
    "one": b"a",
    "two": b"ab",
    "newline": b"\n",
    "newlines": b"\n" * 10_000,
    "no-end": b"first\nsecond",
    "crlf": b"needle\r\nneedle\r\n\r\r\nx\r",
    "bom": codecs.BOM_UTF8 + b"import os\n",
    "utf16": codecs.BOM_UTF16_LE + "Straße\r\nzwei\r\n".encode("utf-16-le"),
    "utf16be": codecs.BOM_UTF16_BE + "日本語\n".encode("utf-16-be"),
    "latin": b"caf\xe9 \xc3\n",
    "kelvin": "K ſ İ Ⱥ Ω\n".encode() * 900,
    "pointer": POINTER,
    "one-line": b"x1y2" * 60_000,
    "long-line": b"a\n" + b"long" * 40_000 + b"\nend\n",
    "long-last": b"start\n" * 2000 + b"tail" * 30_000,
    "exact": (b"x" * 63 + b"\n") * 64,
    "cr-block": b"ab\r\n" * 5000,
    "bad-cut": b"\xe6\x97\n\xa5" * 3000,
}
SKIPPED = {
    "nul": (b"a\0b", SkipReason.BINARY),
    "nul-late": (b"a" * 70_000 + b"\0", SkipReason.BINARY),
    "utf16-bad": (codecs.BOM_UTF16_BE + b"\xd8\x00", SkipReason.ENCODING),
    "utf16-nul": (codecs.BOM_UTF16_BE + b"\0\0", SkipReason.BINARY),
}


@pytest.fixture(scope="module")
def corpus():
    rng = random.Random(5)
    files = dict(ODD)
    files |= {f"random/{i}": random_text(rng, rng.randrange(1, 60_000)) for i in range(40)}
    files |= {name: blob for name, (blob, _) in SKIPPED.items()}
    return files


@pytest.fixture(scope="module")
def generation(corpus, tmp_path_factory):
    root = tmp_path_factory.mktemp("segment")
    repository = GitRemote(root / "mirror.git")
    commit = repository.commit(corpus)
    store = IndexStore(root / "index", repository.path, workers=1)
    store.index_commit(commit)
    return store.open_generation(commit)


@pytest.fixture(scope="module")
def held(generation):
    """The trigrams of each block."""
    (segment,) = generation.segments
    return [naive_trigrams(block_text(segment, b)) for b in range(len(segment.block_start) - 1)]


def test_every_text_is_what_normalise_makes_of_the_blob(corpus, generation):
    found = texts(generation)
    for name, blob in corpus.items():
        expected = normalise(blob)
        if isinstance(expected, SkipReason):
            assert name.encode() not in found
        else:
            assert found[name.encode()] == expected[0], name


def test_flags_are_those_of_normalise(corpus, generation):
    (segment,) = generation.segments
    for index, path in enumerate(generation.paths):
        flags = DocumentFlags(int(segment.document_flags[generation.path_document[index]]))
        assert flags == normalise(corpus[path.decode()])[1], path


def test_what_is_left_out_is_counted_by_reason(corpus, generation):
    left_out = [normalise(blob) for blob in corpus.values()]
    assert {normalise(blob) for blob, _ in SKIPPED.values()} <= set(left_out)
    assert generation.skipped == {
        "binary": left_out.count(SkipReason.BINARY),
        "encoding": left_out.count(SkipReason.ENCODING),
        "lfs_pointer": 1,
    }


def test_blocks_are_whole_lines_of_one_document(generation):
    (segment,) = generation.segments
    starts = segment.block_start
    assert starts[0] == 0 and starts[-1] == len(segment.content)
    assert (np.diff(starts.astype(np.int64)) > 0).all()
    for block in range(len(starts) - 1):
        text = block_text(segment, block)
        document = int(segment.block_document[block])
        end = int(segment.document_start[document]) + int(segment.document_length[document])
        assert text.endswith(b"\n") or int(starts[block + 1]) == end
        if len(text) > 6144:
            assert b"\n" not in text[:-1]


def test_every_block_posts_its_trigrams_and_those_of_its_folded_text_and_no_others(
    generation, held
):
    (segment,) = generation.segments
    posted: dict[int, set[bytes]] = {}
    for row, each in enumerate(segment.codes.tolist()):
        trigram = bytes((each & 255, each >> 8 & 255, each >> 16))
        blocks = decode_posting(segment, row)
        assert len(blocks) == segment.posting_cardinality[row] == segment.cardinality(each)
        for block in blocks:
            posted.setdefault(block, set()).add(trigram)
    assert [posted.get(block, set()) for block in range(len(held))] == held


def test_intersection_names_the_blocks_that_hold_all_trigrams(generation, held):
    (segment,) = generation.segments
    rng = random.Random(11)
    for _ in range(200):
        wanted = rng.sample(sorted(rng.choice([h for h in held if len(h) > 9])), rng.randint(1, 9))
        expected = [block for block, have in enumerate(held) if set(wanted) <= have]
        assert segment.intersect([code(t) for t in wanted]).tolist() == expected


def test_a_trigram_that_is_nowhere_gives_no_blocks(generation):
    (segment,) = generation.segments
    assert segment.intersect([code(b"w12"), code(b"\1\2\3")]).tolist() == []
    assert segment.postings(code(b"\1\2\3")) is None
    assert segment.cardinality(code(b"\1\2\3")) == 0


def test_documents_are_found_by_object_id(generation):
    (segment,) = generation.segments
    documents = [int(d) for d in generation.path_document]
    oids = [segment.oid(document) for document in documents]
    assert segment.find(oids).tolist() == documents
    near = [bytes([*oid[:-1], oid[-1] ^ 1]) for oid in oids]
    assert segment.find([*near, b"\0" * 20, b"\xff" * 20]).tolist() == [-1] * (len(near) + 2)
    assert generation.path_oid(0) == oids[0]


def test_two_workers_make_the_same_texts_and_postings_as_one(corpus, repository, make_store):
    files = corpus | {f"big/{i}": random_text(random.Random(i), 700_000) for i in range(8)}
    commit = repository.commit(files)
    store = make_store(workers=2)
    store.index_commit(commit)
    generation = store.open_generation(commit)
    (segment,) = generation.segments
    assert sum(base > 0 for base in segment.meta.chunk_first_block) == 1, "a chunk of each worker"
    expected = {name.encode(): normalise(blob) for name, blob in files.items()}
    assert texts(generation) == {
        name: found[0] for name, found in expected.items() if not isinstance(found, SkipReason)
    }
    blocks = [block_text(segment, block) for block in range(len(segment.block_start) - 1)]
    for trigram in (b"w12", b"ret", b"Ret", b"\xff\xfe\x80", b"xxx"):
        forms = [(text, fold_bytes(text)) for text in blocks]
        holding = [b for b, each in enumerate(forms) if any(trigram in form for form in each)]
        assert segment.intersect([code(trigram)]).tolist() == holding


def test_more_blocks_than_a_chunk_holds_make_a_second_chunk(indexed):
    files = {f"{i // 500}/{i}": b"shared %d\n" % i for i in range(66_000)}
    generation = indexed(files)
    (segment,) = generation.segments
    assert len(segment.block_start) - 1 == 66_000
    assert len(segment.meta.chunk_first_block) == 2
    assert len(segment.intersect([code(b"sha"), code(b"red")])) == 66_000
    wanted = b"shared 65999\n"
    (block,) = segment.intersect([code(wanted[i : i + 3]) for i in range(len(wanted) - 3)])
    assert block_text(segment, int(block)) == wanted
