"""From the bytes of a blob to the text that is indexed and searched.

    1. UTF-16 with a byte order mark becomes UTF-8; what cannot be decoded is skipped.
    2. A leading UTF-8 byte order mark goes away.
    3. One carriage return goes away in front of each newline, and one at the very end.

Any other carriage return stays. So the engine never meets a byte order mark or a CRLF, and
`needle$` finds the same in files of both kinds; positions in a line count the bytes of what
remains. A text with a NUL is binary. The builder does the same inside the kernel
(kernel.rs, `add`); this is the specification, and what `verify` compares with.
"""

import codecs

from search.index.format import DocumentFlags, SkipReason

UTF16_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
LFS_PREFIX = b"version https://git-lfs.github.com/spec/v1\n"
LFS_LONGEST = 1024  # bytes; Git LFS itself takes longer files for content


def normalise(blob: bytes) -> tuple[bytes, DocumentFlags] | SkipReason:
    """The text of a blob, or why it has none. Its size is not looked at.

    >>> normalise(b"\\xef\\xbb\\xbfone\\r\\ntwo\\r")
    (b'one\\ntwo', <DocumentFlags: 0>)
    """
    flags = DocumentFlags(0)
    if blob[:2] in UTF16_MARKS:
        decoded = decode_utf16(blob)
        if decoded is None:
            return SkipReason.ENCODING
        blob, flags = decoded, DocumentFlags.UTF16
    text = blob.removeprefix(codecs.BOM_UTF8)
    if b"\0" in text:
        return SkipReason.BINARY
    text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
    return text, flags | text_flags(text)


def decode_utf16(blob: bytes) -> bytes | None:
    """A UTF-16 blob as UTF-8 without its mark, or None if it cannot be decoded."""
    try:
        return blob[2:].decode(UTF16_MARKS[blob[:2]]).encode()
    except UnicodeDecodeError:
        return None


def text_flags(text: bytes) -> DocumentFlags:
    """The flags that follow from a normalised text alone."""
    flags = DocumentFlags(0)
    if is_lfs_pointer(text):
        flags |= DocumentFlags.LFS_POINTER
    try:
        text.decode()
    except UnicodeDecodeError:
        flags |= DocumentFlags.NOT_UTF8
    return flags


def is_lfs_pointer(text: bytes) -> bool:
    """Is this a Git LFS pointer, which stands for a file that Git does not have?"""
    return len(text) <= LFS_LONGEST and text.startswith(LFS_PREFIX)
