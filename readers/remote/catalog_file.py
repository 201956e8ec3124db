"""A remote's branches and tags in one file, made for filtering and paging without parsing.

    u32   length of the header, little-endian, then the header: JSON
    columns, each at a multiple of 8 bytes, in the order of COLUMNS
    texts: for each of TEXTS the offsets u32[n + 1], then the UTF-8 bytes; every text ends in LF

Rows are sorted by full name. `by_created` holds row numbers, newest first, ties by full name.
The texts that filters look at are stored in lower case as well. A file is written aside and
renamed; readers map it, so one that is replaced meanwhile stays readable to them.
"""

import json
import mmap
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from readers.remote.describe import Described
from readers.remote.shared import replace

VERSION = 1
NO_TIME = -(1 << 62)
TAG, ANNOTATED = 1, 2  # bits of `flags`
_TARGETS = ("", "commit", "tree", "blob")  # what a row ends at; "" is not verified
COLUMNS = (
    ("flags", np.dtype("u1"), 1),
    ("target", np.dtype("u1"), 1),
    ("oid", np.dtype("u1"), 20),
    ("commit", np.dtype("u1"), 20),
    ("created", np.dtype("<i8"), 1),
    ("committed", np.dtype("<i8"), 1),
    ("by_created", np.dtype("<u4"), 1),
)
TEXTS = ("ref", "author", "title", "name_lower", "author_lower", "title_lower")
HEADS, TAGS = "refs/heads/", "refs/tags/"


@dataclass(frozen=True, slots=True)
class Header:
    """`reason`: why there are only names, else empty. Times in seconds since 1970."""

    count: int
    refreshed_at: float
    duration: float
    reason: str = ""
    truncated: bool = False
    version: int = VERSION

    @property
    def fresh_until(self) -> float:
        return self.refreshed_at + max(300.0, 3 * self.duration)


@dataclass(frozen=True, slots=True)
class Row:
    ref: str
    described: Described

    @property
    def name(self) -> str:
        return short(self.ref)


def short(ref: str) -> str:
    return ref.removeprefix(HEADS).removeprefix(TAGS)


def write(path: Path, header: Header, rows: Sequence[Row]) -> None:
    """Store the catalog; `rows` in any order."""
    rows = sorted(rows, key=lambda row: row.ref)
    head = json.dumps(asdict(header)).encode()
    parts = [struct.pack("<I", len(head)), head]
    columns = _columns(rows)
    size = 4 + len(head)
    for name, dtype, _ in COLUMNS:
        parts.append(b"\0" * (-size % 8))
        parts.append(columns[name].astype(dtype).tobytes())
        size += len(parts[-2]) + len(parts[-1])
    for texts in _texts(rows):
        lines = [text.replace("\n", " ").encode("utf-8", "replace") + b"\n" for text in texts]
        offsets = np.zeros(len(rows) + 1, np.dtype("<u4"))
        np.cumsum([len(line) for line in lines], out=offsets[1:])
        parts += [b"\0" * (-size % 8), offsets.tobytes(), b"".join(lines)]
        size += sum(map(len, parts[-3:]))
    replace(path, b"".join(parts))


def _texts(rows: Sequence[Row]) -> Iterator[list[str]]:
    """In the order of TEXTS."""
    authors = [row.described.author for row in rows]
    titles = [row.described.title for row in rows]
    yield from ([row.ref for row in rows], authors, titles)
    for texts in ([row.name for row in rows], authors, titles):
        yield [text.lower() for text in texts]


def _columns(rows: Sequence[Row]) -> dict[str, npt.NDArray[Any]]:
    described = [row.described for row in rows]
    created = np.array([_seconds(d.created_at) for d in described], np.int64)
    # A stable sort of rows that are in the order of their names: ties stay in it.
    by_created = np.argsort(-created, kind="stable")
    return {
        "flags": np.array(
            [
                (TAG if row.ref.startswith(TAGS) else 0)
                | (ANNOTATED if row.described.annotated else 0)
                for row in rows
            ],
            np.uint8,
        ),
        "target": np.array(
            [_TARGETS.index("commit" if d.commit else d.target_type or "") for d in described],
            np.uint8,
        ),
        "oid": np.frombuffer(b"".join(bytes.fromhex(d.object) for d in described), np.uint8),
        "commit": np.frombuffer(
            b"".join(bytes.fromhex(d.commit or "0" * 40) for d in described), np.uint8
        ),
        "created": created,
        "committed": np.array([_seconds(d.committer_time) for d in described], np.int64),
        "by_created": by_created,
    }


def _seconds(time: datetime | None) -> int:
    return NO_TIME if time is None else int(time.timestamp())


class Catalog:
    """A stored catalog, mapped; rows are made only when they are asked for."""

    def __init__(self, path: Path) -> None:
        """Raises OSError or ValueError: absent, damaged, or of another version."""
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.header, at = read_header(self._map[: 1 << 16])
        count = self.header.count
        self._columns: dict[str, npt.NDArray[Any]] = {}
        for name, dtype, width in COLUMNS:
            at += -at % 8
            column = np.frombuffer(self._map, dtype, count * width, at)
            self._columns[name] = column.reshape(count, width) if width > 1 else column
            at += column.nbytes
        self._texts: dict[str, tuple[npt.NDArray[Any], int]] = {}
        for name in TEXTS:
            at += -at % 8
            offsets = np.frombuffer(self._map, np.dtype("<u4"), count + 1, at)
            at += offsets.nbytes
            self._texts[name] = (offsets, at)
            at += int(offsets[-1])
        if at != len(self._map):
            raise ValueError("the catalog's length is wrong")

    def __len__(self) -> int:
        return self.header.count

    @property
    def tags(self) -> npt.NDArray[np.bool_]:
        flags: npt.NDArray[np.bool_] = (self._columns["flags"] & TAG) > 0
        return flags

    @property
    def created(self) -> npt.NDArray[np.int64]:
        """Seconds since 1970, NO_TIME where it is not known."""
        return self._columns["created"]

    @property
    def by_created(self) -> npt.NDArray[np.uint32]:
        return self._columns["by_created"]

    def containing(self, field: str, part: str) -> npt.NDArray[np.bool_]:
        """Which rows contain `part`, whatever its case, in "name", "author" or "title"."""
        offsets, at = self._texts[f"{field}_lower"]
        found = np.zeros(len(self), np.bool_)
        wanted = part.lower().encode("utf-8", "replace")
        if b"\n" not in wanted:
            # To the line's end, so that each row is met once.
            pattern = re.compile(re.escape(wanted) + rb"[^\n]*")
            hits = pattern.finditer(self._map, at, at + int(offsets[-1]))
            starts = np.fromiter((hit.start() - at for hit in hits), np.uint32)
            found[np.searchsorted(offsets, starts, side="right") - 1] = True
        return found

    def text(self, name: str, row: int) -> str:
        offsets, at = self._texts[name]
        return self._map[at + int(offsets[row]) : at + int(offsets[row + 1]) - 1].decode()

    def find(self, ref: str) -> int | None:
        """The row of a full name, by halving."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.text("ref", middle) < ref:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self.text("ref", low) == ref else None

    def row(self, number: int) -> Row:
        target = _TARGETS[int(self._columns["target"][number])]
        return Row(
            self.text("ref", number),
            Described(
                object=self._columns["oid"][number].tobytes().hex(),
                commit=self._columns["commit"][number].tobytes().hex()
                if target == "commit"
                else None,
                target_type=target if target in ("tree", "blob") else None,
                annotated=bool(self._columns["flags"][number] & ANNOTATED),
                created_at=_time(self._columns["created"][number]),
                committer_time=_time(self._columns["committed"][number]),
                author=self.text("author", number),
                title=self.text("title", number),
            ),
        )


def _time(seconds: Any) -> datetime | None:
    return None if int(seconds) == NO_TIME else datetime.fromtimestamp(int(seconds), UTC)


def read_header(data: bytes) -> tuple[Header, int]:
    """The header at the start of a catalog file, and the offset behind it.

    Raises:
        ValueError: damaged, or of another version.
    """
    if len(data) < 4:
        raise ValueError("the catalog is empty")
    size = struct.unpack_from("<I", data)[0]
    try:
        header = Header(**json.loads(data[4 : 4 + size]))
    except TypeError as exc:
        raise ValueError("the catalog's header has other fields") from exc
    if header.version != VERSION:
        raise ValueError("the catalog is of another version")
    return header, 4 + size
