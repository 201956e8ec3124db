"""What a segment should hold, computed without it, in the plainest way."""

import random

from search.index.generation import Generation
from search.index.segment import Segment
from search.kernel.fold import fold_bytes


def code(trigram: bytes) -> int:
    return trigram[0] | trigram[1] << 8 | trigram[2] << 16


def naive_trigrams(text: bytes) -> set[bytes]:
    found = set()
    for form in (text, fold_bytes(text)):
        found |= {form[i : i + 3] for i in range(len(form) - 2)}
    return {trigram for trigram in found if b"\n" not in trigram}


def block_text(segment: Segment, block: int) -> bytes:
    start, end = segment.block_start[block : block + 2].tolist()
    return bytes(segment.content[start:end])


def texts(generation: Generation) -> dict[bytes, bytes]:
    """Path to text of everything in a generation."""
    found = {}
    for index, path in enumerate(generation.paths):
        segment = generation.segments[generation.path_segment[index]]
        found[path] = bytes(segment.text(int(generation.path_document[index])))
    return found


def random_text(rng: random.Random, size: int) -> bytes:
    """Lines of words, some of them odd: other scripts, bytes that are no UTF-8, returns."""
    words = [b"int", b"Return", b"STRASSE", "Straße".encode(), "ſK".encode(), b"\xff\xfe\x80"]
    words += ["İstanbul".encode(), "Ⱥⱦ".encode(), b"\r", b"x" * 300, "日本語".encode(), b"\x0b\x0c"]
    out = bytearray()
    while len(out) < size:
        out += rng.choice(words) if rng.random() < 0.2 else b"w%d" % rng.randrange(5000)
        out += rng.choice([b" ", b" ", b" ", b"\n", b"\r\n", b"\t", b"\r"])
    return bytes(out[:size])
