"""Where the texts of a part come from: blobs of Git, or documents of older segments.

Both write texts into the input memory of the kernel, as many as fit, and yield them.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from search.index.extract import INPUT_BYTES, Extractor, Texts
from search.index.format import I64
from search.index.segment import Segment
from search.index.workers import GitFailed, git_stream, widen_pipe

_HEADER_BYTES = 128  # more than "<object id> blob <size>\n" ever takes


def git_blobs(extractor: Extractor, git_dir: Path, oids: Path, count: int) -> Iterator[Texts]:
    """The blobs whose ids stand in the file `oids`, in hex, one a line; `count` of them.

    Raises:
        GitFailed: Git ended early, or has no such object.
    """
    with git_stream(git_dir, "cat-file", "--batch", "--buffer", stdin=oids) as output:
        widen_pipe(output)
        reader = _BatchReader(extractor, output)
        seen = 0
        for texts in reader:
            seen += len(texts.oids)
            yield texts
        if seen != count:
            raise GitFailed("cat-file", 0, f"{count - seen} objects short")


class _BatchReader:
    """Reads the output of `git cat-file --batch` straight into the kernel's memory."""

    def __init__(self, extractor: Extractor, output: int) -> None:
        memory = extractor.memory
        self._address = memory.input
        self._buffer = extractor.kernel.view(memory.input, memory.input_end - memory.input)
        self._output = output

    def __iter__(self) -> Iterator[Texts]:
        buffer = self._buffer
        data = buffer.data
        fill, ended = 0, False
        wanted = INPUT_BYTES
        while True:
            while fill < wanted and not ended:
                size = os.readv(self._output, [data[fill : max(wanted, INPUT_BYTES)]])
                ended = size == 0
                fill += size
            texts, used, wanted = self._parse(data, fill)
            if texts.oids:
                yield texts
            elif ended:
                return
            rest = fill - used
            buffer[:rest] = buffer[used:fill].copy()
            fill = rest
            wanted = max(wanted - used, INPUT_BYTES)

    def _parse(self, data: memoryview, fill: int) -> tuple[Texts, int, int]:
        """The whole blobs in the buffer, the bytes they take, and where the next one ends."""
        at, end = 0, 0
        oids: list[bytes] = []
        spans: list[tuple[int, int]] = []
        while at < fill:
            header = bytes(data[at : min(at + _HEADER_BYTES, fill)])
            line, newline, _ = header.partition(b"\n")
            if not newline:
                break
            oid, kind, *size = line.split(b" ")
            if kind != b"blob" or not size:
                # "missing" where the repository lacks the object.
                raise GitFailed("cat-file", 0, line.decode(errors="replace"))
            start = at + len(line) + 1
            end = start + int(size[0]) + 1
            if end > fill:
                break
            oids.append(bytes.fromhex(oid.decode()))
            spans.append((self._address + start, int(size[0])))
            at = end
        return Texts(oids, spans, None), at, end


def segment_documents(
    extractor: Extractor, segments: Sequence[Segment], rows: I64
) -> Iterator[Texts]:
    """Documents of open segments. Each row: index of the segment, document number.

    Raises:
        CorruptIndex: a text is damaged; it must not be copied under a new checksum.
    """
    memory = extractor.memory
    at, oids, spans, flags = memory.input, list[bytes](), list[tuple[int, int]](), list[int]()
    for number, document in rows.tolist():
        segment = segments[number]
        text = segment.text(document)
        if oids and at + len(text) > memory.input + INPUT_BYTES:
            yield Texts(oids, spans, np.array(flags, np.uint8))
            at, oids, spans, flags = memory.input, [], [], []
        extractor.kernel.view(at, len(text))[:] = np.frombuffer(text, np.uint8)
        oids.append(segment.oid(document))
        spans.append((at, len(text)))
        flags.append(int(segment.document_flags[document]))
        at += len(text)
    if oids:
        yield Texts(oids, spans, np.array(flags, np.uint8))
