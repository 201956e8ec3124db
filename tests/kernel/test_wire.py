import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import pytest

from sourcegraph_site.kernel.wire import dumps, optional, pascal, time_text, to_wire


@dataclass(frozen=True)
class Row:
    blob_oid: str
    is_lfs_pointer: bool
    next_start_line: int | None
    via: str | None = optional()


def test_names_follow_the_contract():
    assert pascal("blob_oid") == "BlobOID"
    assert pascal("is_lfs_pointer") == "IsLFSPointer"
    assert pascal("item_id") == "ItemID"
    assert pascal("has_more_results") == "HasMoreResults"


def test_null_is_shown_and_optional_is_left_out():
    row = Row("a", False, None)
    assert to_wire(row, "pascal") == {
        "BlobOID": "a",
        "IsLFSPointer": False,
        "NextStartLine": None,
    }
    assert to_wire(Row("a", False, 1, "x"))["via"] == "x"


def test_keys_of_mappings_are_data():
    assert to_wire({"feature/some_branch": 1}, "pascal") == {"feature/some_branch": 1}


def test_times_are_utc():
    there = datetime(2026, 1, 1, 2, 0, tzinfo=timezone(timedelta(hours=2)))
    assert time_text(there) == "2026-01-01T00:00:00Z"
    assert to_wire({"at": datetime(2026, 1, 1, tzinfo=UTC)}) == {"at": "2026-01-01T00:00:00Z"}


def test_markup_is_escaped_and_survives():
    text = "<script>&\"'</script>"
    body = dumps({"a": text})
    assert b"<" not in body and b"&" not in body and body.endswith(b"\n")
    assert json.loads(body) == {"a": text}


def test_a_value_without_a_wire_form_is_our_bug():
    with pytest.raises(TypeError):
        to_wire(object())
