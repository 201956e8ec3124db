"""A segment: the text and the trigram index of some unique blobs. Format 1.

One file, immutable once published. Integers are little-endian and unsigned. Every
section starts at a multiple of 64 bytes.

    offset   bytes   content
    0        8       magic b"SGSEGMNT"
    8        4       format number
    64       ...     sections, in any order
    end-t    ...     section table: per section name (16 bytes, zero padded), offset u64,
                     length u64, CRC-32 u32 (0: checked in parts, see Damage), zero u32
    end-40   40      trailer: length of the file u64, offset of the table u64, length of
                     the table u32, CRC-32 of the table u32, format number u32, zero u32,
                     magic b"SGSEGEND"

    section      content
    meta        JSON: see `SegmentMeta`
    content     normalised text (text.py) of the documents, end to end
    oids        object id of each document, 20 bytes (32 with SHA-256)
    order       u32 document numbers, sorted by object id
    lengths     u32 bytes of content per document
    blocks      u32 number of blocks per document
    flags       u8 `DocumentFlags` per document
    starts      u32 first byte of each block in content, and the end of content
    block_checks u32 CRC-32 of the content of each block
    line_starts u32 newlines in content before each block, and their total
    newlines    u16 position of each newline relative to its block
    codes       trigram codes, ascending: gaps to the code before, as a packed column
    sizes       bytes of each posting, as a packed column
    counts      blocks in each posting, as a packed column
    postings    the postings end to end, in the order of `codes`
    skip_oids   object ids that were looked at and left out
    skip_why    u8 `SkipReason` of each
    *.pages     u32 CRC-32 of each page of the section in front of the dot, 4 KiB a page

Words. A *document* is one blob; documents lie in content in the order of their numbers.
A *block* is a run of whole lines of one document, about 4 KiB; a longer line makes a
longer block. Only a block of one line can be longer than 65,535 bytes; its newline, if it
has one, is its last byte, whatever `newlines` says. An empty document has no block.

A trigram's *code* is b0 | b1 << 8 | b2 << 16. A block posts each trigram of its bytes and
each trigram of its bytes after simple case folding (kernel/fold.py), none with a newline.

A *posting* is a sequence of containers, one per chunk of blocks that holds the trigram, in
order of key: key u8, kind u8, payload length u16, payload of block numbers relative to the
chunk. Kinds: 0 ascending u16; 1 bitmap, cut to the blocks of the chunk; 2 gaps of u8, where
255 means "add 255 and go on". `meta` has, per key, the number of the chunk's first block.

A *packed column* of n numbers is n bytes, the number or 255, and then the numbers of 255
and above as u32, in order.

Damage. Content, newlines and postings are too long to be read as a whole before the first
search: `block_checks` has the CRC-32 of each block, the sections newlines.pages and
postings.pages those of each page of 4 KiB. A block or page is checked when it is first
used, and all of them by `verify`. Of the other sections the table has the CRC-32; they are
checked when they are first used. So a flipped byte is `CorruptIndex` and never a search
that finds less.

Limits: content 4 GiB - 1, 256 chunks of at most 65,536 blocks, one document 64 MiB.

A reader skips sections that it does not know and refuses another format number; the index
is derived data, so a segment of an old format is rebuilt and never changed in place.

History
    1   2026-12  first format; fixture tests/search/data/segment-v1
"""

import enum
import json
import struct
import zlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FORMAT = 1
MAGIC = b"SGSEGMNT"
END_MAGIC = b"SGSEGEND"
HEADER = struct.Struct("<8sI52x")
TABLE_ROW = struct.Struct("<16sQQII")
TRAILER = struct.Struct("<QQIIII8s")
ALIGNMENT = 64
PAGE_BYTES = 4096
BLOCK_BYTES = 4096
CHUNK_BLOCKS = 65_536
MAX_CHUNKS = 256
MAX_CONTENT_BYTES = 2**32 - 1
MAX_DOCUMENT_BYTES = 64 << 20

U8 = npt.NDArray[np.uint8]
U16 = npt.NDArray[np.uint16]
U32 = npt.NDArray[np.uint32]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class CorruptIndex(Exception):
    """A file of the index is damaged: cut off, empty, or with a changed byte.

    Never shown to a caller as it stands; a use case reports it, queues a rebuild and
    answers INDEX_CORRUPT.
    """

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}")
        self.name = name
        self.problem = problem


class UnsupportedFormat(CorruptIndex):
    """The file is of another format number; only a rebuild helps."""


class DocumentFlags(enum.IntFlag):
    """What a reader of the text should know about a document."""

    NOT_UTF8 = 1  # shown with U+FFFD
    UTF16 = 2  # decoded to UTF-8
    LFS_POINTER = 4  # the text is a Git LFS pointer, not the file
    OVERSIZE = 8  # above the size limit; live only where an override glob allows it


class SkipReason(enum.IntEnum):
    """Why a blob is not a document."""

    TOO_LARGE = 1
    BINARY = 2
    ENCODING = 3
    BEYOND_FORMAT = 4  # above MAX_DOCUMENT_BYTES; no glob can let it in


@dataclass(frozen=True)
class SegmentMeta:
    """The section `meta`."""

    segment_id: str
    options: str  # IndexOptions.digest of the build
    oid_bytes: int
    trigrams: int  # length of the columns codes, sizes, counts
    chunk_first_block: list[int]  # by container key

    def encode(self) -> bytes:
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @classmethod
    def decode(cls, data: bytes, name: str) -> "SegmentMeta":
        """Raises CorruptIndex."""
        try:
            fields = json.loads(data)
            return cls(**{key: fields[key] for key in cls.__dataclass_fields__})
        except (ValueError, KeyError, TypeError) as exc:
            raise CorruptIndex(name, f"unreadable meta section ({type(exc).__name__})") from exc


@dataclass(frozen=True)
class Section:
    """One row of the section table. Bytes count from the start of the file."""

    name: str
    offset: int
    length: int
    checksum: int = 0


def encode_table(sections: list[Section], table_offset: int) -> bytes:
    """The section table and the trailer, to be written at `table_offset`."""
    table = b"".join(
        TABLE_ROW.pack(s.name.encode(), s.offset, s.length, s.checksum, 0) for s in sections
    )
    end = table_offset + len(table) + TRAILER.size
    return table + TRAILER.pack(
        end, table_offset, len(table), zlib.crc32(table), FORMAT, 0, END_MAGIC
    )


def decode_table(data: memoryview, name: str) -> dict[str, Section]:
    """Read the section table of a whole file.

    Raises:
        UnsupportedFormat: the file says that it is of another format.
        CorruptIndex: anything else that does not fit.
    """
    if len(data) < HEADER.size + TRAILER.size:
        raise CorruptIndex(name, f"only {len(data)} bytes long")
    magic, number = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise CorruptIndex(name, "does not start with the magic number")
    if number != FORMAT:
        raise UnsupportedFormat(name, f"format {number}, this version reads {FORMAT}")
    size, start, length, checksum, number, _, magic = TRAILER.unpack_from(
        data, len(data) - TRAILER.size
    )
    if magic != END_MAGIC or number != FORMAT or size != len(data):
        raise CorruptIndex(name, "cut off, or with a damaged trailer")
    table = data[start : start + length]
    if len(table) != length or zlib.crc32(table) != checksum:
        raise CorruptIndex(name, "damaged section table")
    sections = {}
    for tag, offset, extent, crc, _ in TABLE_ROW.iter_unpack(table):
        section = Section(tag.rstrip(b"\0").decode(), offset, extent, crc)
        if offset + extent > start:
            raise CorruptIndex(name, f"section {section.name} lies outside the file")
        sections[section.name] = section
    return sections


def pack_column(values: npt.NDArray[Any]) -> bytes:
    """Numbers below 2**32 as a packed column.

    >>> pack_column(np.array([1, 300, 2], np.uint32)).hex()
    '01ff022c010000'
    """
    small = np.minimum(values, 255).astype(np.uint8)
    return bytes(small.tobytes() + values[values >= 255].astype("<u4").tobytes())


def unpack_column(data: memoryview, length: int) -> U32:
    """The numbers that `pack_column` packed.

    Raises:
        ValueError: `data` has another length than its first `length` bytes ask for.
    """
    small = np.frombuffer(data, np.uint8, length)
    values = small.astype(np.uint32)
    large = np.flatnonzero(small == 255)
    if len(data) != length + 4 * len(large):
        raise ValueError("packed column of the wrong length")
    values[large] = np.frombuffer(data, "<u4", len(large), length)
    return values


def page_checksums(data: memoryview) -> U32:
    """CRC-32 of each page of `data`; the last page may be shorter."""
    return np.fromiter(
        (zlib.crc32(data[at : at + PAGE_BYTES]) for at in range(0, len(data), PAGE_BYTES)),
        np.uint32,
    )
