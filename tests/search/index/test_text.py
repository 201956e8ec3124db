"""What becomes of a blob before it is searched."""

import codecs

import pytest

from search.index.format import DocumentFlags, SkipReason
from search.index.text import normalise

PLAIN = DocumentFlags(0)


@pytest.mark.parametrize(
    ("blob", "text"),
    [
        (b"", b""),
        (b"a", b"a"),
        (b"a\r\nb\r\n", b"a\nb\n"),
        (b"a\r\r\nb", b"a\r\nb"),
        (b"a\r", b"a"),
        (b"a\r\r", b"a\r"),
        (b"a\rb\n", b"a\rb\n"),
        (b"\r", b""),
        (b"\r\n\r", b"\n"),
        (codecs.BOM_UTF8 + b"import x\n", b"import x\n"),
        (codecs.BOM_UTF8, b""),
        (codecs.BOM_UTF8 * 2 + b"a", codecs.BOM_UTF8 + b"a"),
        (b"a" + codecs.BOM_UTF8, b"a" + codecs.BOM_UTF8),
        ("a\x0b\x0c\x85\u2028b\n".encode(), "a\x0b\x0c\x85\u2028b\n".encode()),
    ],
)
def test_marks_and_returns_at_line_ends_go_and_nothing_else(blob, text):
    assert normalise(blob) == (text, PLAIN)


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")],
)
def test_utf16_becomes_utf8_with_its_returns_removed(mark, encoding):
    blob = mark + "naïve 日本\r\nx".encode(encoding)
    assert normalise(blob) == ("naïve 日本\nx".encode(), DocumentFlags.UTF16)


@pytest.mark.parametrize("tail", [b"a", b"\x00\xd8a\x00", b"\x00\xd8"])
def test_utf16_that_cannot_be_decoded_is_skipped(tail):
    assert normalise(codecs.BOM_UTF16_LE + tail) is SkipReason.ENCODING


def test_a_nul_makes_a_text_binary_in_every_encoding():
    assert normalise(b"a" * 5000 + b"\0") is SkipReason.BINARY
    assert normalise(codecs.BOM_UTF16_LE + "a\0b".encode("utf-16-le")) is SkipReason.BINARY


@pytest.mark.parametrize("bad", [b"caf\xe9", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf5\x80\x80\x80"])
def test_bytes_that_are_not_utf8_are_kept_and_flagged(bad):
    assert normalise(bad + b"\n") == (bad + b"\n", DocumentFlags.NOT_UTF8)


def test_an_lfs_pointer_is_flagged_and_a_longer_file_that_begins_like_one_is_not():
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    assert normalise(pointer) == (pointer, DocumentFlags.LFS_POINTER)
    assert normalise(pointer + b"x" * 1024)[1] == PLAIN
