"""Bytes of a blob → text → lines. Pure.

Only LF ends a line. CR, a byte order mark, form feeds and U+2028 belong to the line that they
stand in (`str.splitlines` would cut there, so it is not used). A last line without LF counts;
the empty rest after a final LF does not.
"""

import codecs
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from readers.errors import (
    BinaryFile,
    FileLineTooLarge,
    LineRangeNotSatisfiable,
    ReadBudgetExceeded,
    ReadScanLimit,
    UnsupportedTextEncoding,
)
from readers.objects import ObjectData

MAX_LINES = 500
MAX_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Text:
    """A file's scanned part, in UTF-8 (or in bytes that claim to be it).

    `complete` is false when the file goes on behind the scanned part.
    """

    data: bytes
    encoding: str  # "utf-8", "utf-16le" or "utf-16be": what the file itself is in
    complete: bool


def decode(blob: ObjectData) -> Text:
    """The text of a blob.

    UTF-16 with a byte order mark becomes UTF-8 here, the mark with it. Other bytes stay as
    they are: whether they are UTF-8 is checked for the lines that are returned.

    Raises:
        BinaryFile: a NUL in the scanned part; in UTF-16, the character.
        UnsupportedTextEncoding: broken UTF-16.
    """
    complete = len(blob.data) == blob.size
    encoding = utf16(blob.data)
    if encoding:
        return Text(_from_utf16(blob.data, encoding, complete), encoding, complete)
    if b"\0" in blob.data:
        raise BinaryFile("The file is binary.")
    return Text(blob.data, "utf-8", complete)


def utf16(data: bytes) -> str:
    """The encoding that a byte order mark of UTF-16 announces, or an empty string."""
    if data.startswith(codecs.BOM_UTF16_LE):
        return "utf-16le"
    return "utf-16be" if data.startswith(codecs.BOM_UTF16_BE) else ""


def _from_utf16(data: bytes, encoding: str, complete: bool) -> bytes:
    try:
        # Not `final` when the scan ended early: half a character at its end is no fault.
        text = codecs.getincrementaldecoder(encoding)("strict").decode(data, final=complete)
    except UnicodeDecodeError:
        raise UnsupportedTextEncoding("The file is not valid UTF-16.") from None
    if "\0" in text:
        raise BinaryFile("The file is binary.")
    return text.encode()


class Lines:
    """Where the lines of a text begin and end; counting starts at 1."""

    def __init__(self, text: Text) -> None:
        self.text = text
        ends: npt.NDArray[np.int64] = np.flatnonzero(np.frombuffer(text.data, np.uint8) == 10) + 1
        tail = len(text.data) - (int(ends[-1]) if len(ends) else 0)
        if tail and text.complete:
            ends = np.append(ends, len(text.data))
            tail = 0
        self.ends = ends
        self.cut_tail = tail  # bytes of a last line whose end was not scanned

    def __len__(self) -> int:
        """The number of lines whose end was seen."""
        return len(self.ends)

    def start(self, line: int) -> int:
        return int(self.ends[line - 2]) if line > 1 else 0

    def end(self, line: int) -> int:
        """The offset behind the line and its LF."""
        return int(self.ends[line - 1])

    def check_start(self, line: int) -> None:
        """Raises what a read that starts at this line must be refused with."""
        count = len(self)
        if line <= count or (line == 1 and not self.text.data):
            return
        if self.text.complete:
            raise LineRangeNotSatisfiable(f"The file has {count} lines.", lines=count)
        if line == count + 1 and self.cut_tail > MAX_BYTES:
            raise _line_too_large(line)
        raise ReadScanLimit("Only the first 8 MiB of a file can be read.")


@dataclass(frozen=True, slots=True)
class Cut:
    """Whole lines of a text; `first` and `last` are None when there are none.

    `truncated`: lines that were asked for and exist are withheld by a cap.
    `has_more`: the text goes on; None when what follows cannot be read (the scan ended).
    """

    content: str
    first: int | None
    last: int | None
    truncated: bool
    has_more: bool | None

    @property
    def next_line(self) -> int | None:
        return self.last + 1 if self.has_more and self.last is not None else None


def cut(
    lines: Lines, start: int, end: int, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES
) -> Cut:
    """Lines `start` to `end`, both included, as many as the two caps let through.

    Raises:
        LineRangeNotSatisfiable: the text ends before `start`.
        ReadScanLimit: `start` lies behind the scanned part.
        FileLineTooLarge: the first line alone is larger than 256 KiB.
        ReadBudgetExceeded: the first line does not fit into smaller caps of the caller.
        UnsupportedTextEncoding: the lines are not UTF-8.
    """
    lines.check_start(start)
    count = len(lines)
    if start > count:
        return Cut("", None, None, False, False)
    wanted = min(end, count)
    offset = lines.start(start)
    fitting = int(np.searchsorted(lines.ends, offset + max_bytes, side="right"))
    last = min(wanted, fitting, start + max_lines - 1)
    if last < start:
        if lines.end(start) - offset > MAX_BYTES:
            raise _line_too_large(start)
        raise ReadBudgetExceeded("The budget that the items share is used up.")
    try:
        content = lines.text.data[offset : lines.end(last)].decode()
    except UnicodeDecodeError:
        raise UnsupportedTextEncoding("These lines are not UTF-8.") from None
    has_more = True if last < count else (False if lines.text.complete else None)
    return Cut(content, start, last, last < wanted, has_more)


def _line_too_large(line: int) -> FileLineTooLarge:
    return FileLineTooLarge(f"Line {line} is larger than {MAX_BYTES >> 10} KiB.")
