"""The newest reader opens a segment of every format that it says it reads.

`python -m tests.search.index.test_format` writes the folder of the newest format anew; do so
once, when a format is made, and never again.
"""

import json
import random
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

from search.index.format import FORMAT, pack_column, unpack_column
from search.index.lines import line_counts
from search.index.options import IndexOptions
from search.index.segment import Segment
from search.index.store import IndexStore
from tests.search.index.support import block_text, naive_trigrams, random_text
from tests.support.git_remote import GitRemote

DATA = Path(__file__).resolve().parent.parent / "data"
READABLE = [1]


def describe(segment: Segment) -> dict[str, object]:
    """What a reader must find in the fixture, in terms that no format changes."""
    documents = range(len(segment.document_oids))
    return {
        "texts": {
            segment.oid(d).hex(): bytes(segment.text(d)).decode("latin-1") for d in documents
        },
        "flags": {segment.oid(d).hex(): int(segment.document_flags[d]) for d in documents},
        "lines": line_counts(segment, np.array(documents)).tolist(),
        "trigrams": len(segment.codes),
        "skipped": {
            bytes(oid).hex(): int(segment.find_skipped([bytes(oid)])[0])
            for oid in segment.skipped_oids.tolist()
        },
    }


@pytest.mark.parametrize("number", READABLE)
def test_a_segment_of_this_format_reads_as_it_did_when_it_was_written(number):
    folder = DATA / f"segment-v{number}"
    segment = Segment(folder / "fixture.segment")
    segment.check_all()
    assert describe(segment) == json.loads((folder / "expected.json").read_text())
    for block in range(len(segment.block_start) - 1):
        for trigram in naive_trigrams(block_text(segment, block)):
            code = int.from_bytes(trigram, "little")
            assert block in segment.intersect([code]).tolist()


def test_every_format_has_a_fixture_and_a_line_of_history():
    import search.index.format

    assert max(READABLE) == FORMAT
    assert {path.name for path in DATA.glob("segment-v*")} == {f"segment-v{n}" for n in READABLE}
    history = (search.index.format.__doc__ or "").partition("History")[2]
    assert [int(line.split()[0]) for line in history.strip().splitlines()] == READABLE


@pytest.mark.parametrize(
    "values", [[], [0], [254, 255, 256], [2**32 - 1, 0, 255], list(range(0, 600, 7))]
)
def test_a_packed_column_gives_its_numbers_back(values):
    packed = pack_column(np.array(values, np.int64))
    assert unpack_column(memoryview(packed), len(values)).tolist() == values


@pytest.mark.parametrize("junk", [b"\xff", b"\xff\1\0\0", b"\1\2", b""])
def test_a_packed_column_of_the_wrong_length_is_refused(junk):
    with pytest.raises(ValueError):
        unpack_column(memoryview(junk), 1)


@pytest.mark.parametrize("size", [0, -1, (64 << 20) + 1])
def test_a_size_limit_that_no_format_can_hold_is_refused(size):
    with pytest.raises(ValueError, match="max_blob_bytes"):
        IndexOptions(max_blob_bytes=size)


def test_options_have_one_digest_exactly_when_they_are_equal():
    assert IndexOptions().digest == IndexOptions(max_blob_bytes=2 << 20).digest
    assert IndexOptions().digest != IndexOptions(large_file_globs=("*.lock",)).digest


def write_fixture() -> None:
    folder = DATA / f"segment-v{FORMAT}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        repository = GitRemote(Path(scratch) / "mirror.git")
        files: dict[str | bytes, str | bytes] = {
            f"random{i}": random_text(rng, 5_000) for i in range(3)
        }
        files |= {"empty": "", "crlf": "a\r\nb", "utf16": "é\r\n".encode("utf-16"), "nul": b"\0"}
        files |= {
            "long": "x" * 70_000 + "\nend\n",
            "pointer": "version https://git-lfs.github.com/spec/v1\n",
        }
        store = IndexStore(Path(scratch) / "index", repository.path, workers=1)
        store.index_commit(repository.commit(files))
        (made,) = store.segment_files()
        shutil.copy(made, folder / "fixture.segment")
    found = describe(Segment(folder / "fixture.segment"))
    (folder / "expected.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    write_fixture()
