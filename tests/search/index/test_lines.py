"""Line arithmetic agrees with counting newlines one by one."""

import random

import numpy as np
import pytest

from search.index.lines import block_at, line_counts, line_spans, lines_at
from tests.search.index.support import random_text

FILES = {
    "empty": b"",
    "newline": b"\n",
    "blank": b"\n\n\nx\n\n",
    "open": b"a\nbb\nccc",
    "closed": b"a\nbb\nccc\n",
    "many-newlines": b"\n" * 20_000,
    "one-line": b"x" * 200_000,
    "long": b"a\n" + b"y" * 150_000 + b"\nb\nc" + b"z" * 90_000,
    "long-closed": b"y" * 70_000 + b"\n" + b"z" * 70_000 + b"\n",
    "boundary": b"y" * 65_535 + b"\n" + b"q" * 65_536 + b"\n" + b"r" * 65_534 + b"\nend",
}


@pytest.fixture
def segment(indexed):
    rng = random.Random(3)
    files = FILES | {f"r{i}": random_text(rng, rng.randrange(1, 40_000)) for i in range(12)}
    (only,) = indexed(files).segments
    return only


def naive(segment, position):
    document = int(segment.block_document[block_at(segment, np.array([position]))[0]])
    first = int(segment.document_start[document])
    last = first + int(segment.document_length[document])
    content = segment.content.tobytes()
    start = content.rfind(b"\n", first, position) + 1 or first
    end = content.find(b"\n", position, last)
    number = content.count(b"\n", first, position) + 1
    return document, number, max(start, first), last if end < 0 else end


def as_rows(lines):
    columns = (lines.document, lines.number, lines.start, lines.end)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_the_line_of_a_position_is_the_one_that_counting_gives(segment):
    rng = random.Random(9)
    size = len(segment.content)
    edges = {int(b) for b in segment.block_start[:-1]} | {
        int(b) - 1 for b in segment.block_start[1:]
    }
    positions = np.array(sorted(edges | set(rng.sample(range(size), 1500))))
    assert as_rows(lines_at(segment, positions)) == [naive(segment, p) for p in positions.tolist()]


def test_lines_of_no_position_are_none(segment):
    assert as_rows(lines_at(segment, np.zeros(0, np.int64))) == []


def test_the_number_of_lines_leaves_out_an_empty_rest(segment):
    documents = np.arange(len(segment.document_oids))
    expected = []
    for document in documents.tolist():
        text = bytes(segment.text(document))
        expected.append(text.count(b"\n") + (text != b"" and not text.endswith(b"\n")))
    assert line_counts(segment, documents).tolist() == expected


def test_a_line_by_its_number_is_that_of_a_split(segment):
    documents = np.arange(len(segment.document_oids))
    counts = line_counts(segment, documents)
    for document, count in zip(documents.tolist(), counts.tolist(), strict=True):
        text = bytes(segment.text(document))
        numbers = np.arange(1, count + 1)
        lines = line_spans(segment, np.full(count, document), numbers)
        spans = zip(lines.start.tolist(), lines.end.tolist(), strict=True)
        found = [bytes(segment.content[start:end]) for start, end in spans]
        assert found == text.split(b"\n")[:count]


def test_a_segment_without_a_newline_has_lines_all_the_same(indexed):
    (segment,) = indexed({"a": b"one line", "b": b"z" * 5_000}).segments
    positions = np.arange(len(segment.content))
    assert as_rows(lines_at(segment, positions)) == [naive(segment, p) for p in positions.tolist()]
    lines = line_spans(segment, np.array([0, 1]), np.array([1, 1]))
    assert sorted((lines.end - lines.start).tolist()) == [8, 5_000]
    assert line_counts(segment, np.array([0, 1])).tolist() == [1, 1]
