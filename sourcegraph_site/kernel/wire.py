"""Results as JSON, the same on every surface.

Use cases return frozen dataclasses with snake_case fields. `to_wire` turns them into
JSON-ready values, in PascalCase for query operations and snake_case for records (contract,
decision 40). A field declared with `optional()` is left out while it is None; every other
None is shown as null.
"""

import dataclasses
import json
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache
from typing import Any, Literal

Casing = Literal["pascal", "snake"]

# Words that the contract writes in capitals.
_CAPITALS = {"oid": "OID", "id": "ID", "lfs": "LFS"}


def pascal(name: str) -> str:
    """`blob_oid` → `BlobOID`, the spelling of the query operations."""
    return _pascal(name)


@lru_cache(maxsize=1024)
def _pascal(name: str) -> str:
    return "".join(_CAPITALS.get(word, word[:1].upper() + word[1:]) for word in name.split("_"))


def optional(default: Any = None) -> Any:
    """A dataclass field that is left out of the JSON while it is None."""
    return dataclasses.field(default=default, metadata={"omit": True})


@lru_cache(maxsize=256)
def _plan(cls: type, casing: Casing) -> tuple[tuple[str, str, bool], ...]:
    return tuple(
        (f.name, pascal(f.name) if casing == "pascal" else f.name, bool(f.metadata.get("omit")))
        for f in dataclasses.fields(cls)
    )


def to_wire(value: Any, casing: Casing = "snake") -> Any:
    """Dataclasses, times, enums, mappings and sequences → what `json.dumps` takes.

    Keys of mappings are data (branch names, reasons) and stay as they are.
    """
    if value is None or isinstance(value, str | int | float):
        return value.value if isinstance(value, Enum) else value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        row = {}
        for name, key, omit in _plan(type(value), casing):
            item = getattr(value, name)
            if not (omit and item is None):
                row[key] = to_wire(item, casing)
        return row
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, dict):
        return {str(key): to_wire(item, casing) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_wire(item, casing) for item in value]
    raise TypeError(f"no wire form for {type(value).__name__}")


def time_text(value: datetime) -> str:
    """RFC 3339 in UTC, without a fraction when it is zero.

    >>> time_text(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05Z'
    """
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def dumps(value: Any) -> bytes:
    """Compact UTF-8 JSON with a final newline; `<`, `>` and `&` escaped.

    Escaping keeps an answer inert wherever a browser is made to guess its type. Those
    characters can only stand inside strings, so replacing them in the text is exact.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    # Lone surrogates cannot come from our own decoding, but must not break the answer.
    return text.encode("utf-8", "replace") + b"\n"
