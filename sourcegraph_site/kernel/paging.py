"""Opaque cursors: where a page ended, bound to the request that it belongs to.

A cursor is base64url of JSON `[version, binding, position]`, deflated where that is shorter.
The binding is a digest of
everything that must not change between pages (operation, commit, arguments), so a cursor of
another request is refused instead of giving a page of something else. It is not secret and
not signed: a forged position can only skip within what the caller may see anyway.
"""

import base64
import binascii
import hashlib
import json
import zlib
from typing import Any

from sourcegraph_site.kernel.errors import InvalidCursor

VERSION = 1
# The longest that we make: a search over 1,000 repositories, of each its number and commit (25
# bytes), and two paths of 4 KiB, as base64.
MAX_CURSOR_CHARS = 49_152
_WORTH_DEFLATING = 1_024
_MAX_JSON_BYTES = 1 << 17
_DEFLATED = b"x"  # how the zlib format begins; JSON of a list begins with a bracket


def binding_of(*parts: Any) -> str:
    """Digest of the arguments that a cursor belongs to; parts must be JSON-ready."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def encode_cursor(binding: str, position: Any) -> str:
    parts = [VERSION, binding, position]
    data = json.dumps(parts, separators=(",", ":"), ensure_ascii=False).encode()
    if len(data) > _WORTH_DEFLATING:
        data = min(data, zlib.compress(data, 9), key=len)
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_cursor(cursor: str, binding: str) -> Any:
    """The position that `encode_cursor` packed.

    Raises:
        InvalidCursor: damaged, of another version, or of another request.
    """
    return _unpack(cursor, binding)[2]


def _unpack(cursor: str, binding: str | None) -> list[Any]:
    if len(cursor) > MAX_CURSOR_CHARS:
        raise InvalidCursor("The cursor is too long.")
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        data = base64.b64decode(padded, altchars=b"-_", validate=True)
        if data.startswith(_DEFLATED):
            data = zlib.decompressobj().decompress(data, _MAX_JSON_BYTES)
        value = json.loads(data)
    except (ValueError, UnicodeError, binascii.Error, zlib.error, RecursionError):
        raise InvalidCursor("The cursor is damaged; start again without it.") from None
    if not (isinstance(value, list) and len(value) == 3 and value[0] == VERSION):
        raise InvalidCursor("The cursor is damaged; start again without it.")
    if binding is not None and value[1] != binding:
        raise InvalidCursor("The cursor belongs to another request; start again without it.")
    return value


def peek_cursor(cursor: str) -> Any:
    """The position, unchecked: for a cursor whose binding depends on what it holds."""
    return _unpack(cursor, None)[2]
