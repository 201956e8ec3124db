import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcegraph_site.kernel.errors import InvalidRequest
from sourcegraph_site.kernel.inputs import Field, Input, parse, parse_json


class Sample(Input):
    repo: str
    start_line: int = Field(1, ge=1)
    blob_oid: str | None = None


def test_query_operations_take_pascal_names_only():
    assert parse(Sample, {"Repo": "a/b", "BlobOID": "x"}, casing="pascal").blob_oid == "x"
    with pytest.raises(InvalidRequest, match="Unknown field 'repo'|'Repo' is required"):
        parse(Sample, {"repo": "a/b"}, casing="pascal")


def test_records_take_snake_names_only():
    assert parse(Sample, {"repo": "a/b", "start_line": 2}).start_line == 2
    with pytest.raises(InvalidRequest):
        parse(Sample, {"Repo": "a/b"})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"repo": "a/b", "extra": 1}, "Unknown field 'extra'"),
        ({}, "'repo' is required"),
        ({"repo": 7}, "'repo'"),
        ({"repo": "a/b", "start_line": "3"}, "'start_line'"),
        ({"repo": "a/b", "start_line": 0}, "greater than or equal to 1"),
        ({"repo": "a/b", "start_line": True}, "'start_line'"),
        ({"repo": "a/b", "start_line": 1.0}, "'start_line'"),
    ],
)
def test_a_wrong_field_is_named(data, words):
    with pytest.raises(InvalidRequest, match=words.replace("(", r"\(")):
        parse(Sample, data)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not valid JSON"),
        (b"null", "must be a JSON object"),
        (b"[]", "must be a JSON object"),
        (b'{"a":1,"a":2}', "'a' stands twice"),
        (b'{"a":{"b":1,"b":1}}', "'b' stands twice"),
        (b'{"a":1} {}', "not valid JSON"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":-Infinity}', "Infinity"),
        (b'{"a":' + b"9" * 5000 + b"}", "too large"),
        (b"\xff{}", "not UTF-8"),
        (b'{"a":' + b"[" * 32 + b"]" * 32 + b"}", "nested deeper"),
        (b"{" + b" " * 65_536 + b"}", "larger than 65536"),
    ],
)
def test_a_malformed_body_is_refused_with_its_reason(body, words):
    with pytest.raises(InvalidRequest, match=words):
        parse_json(body)


def test_depth_is_counted_outside_strings_only():
    body = json.dumps({"a": "[" * 100 + '\\"' + "{" * 100}).encode()
    assert parse_json(body)["a"].startswith("[[")
    assert parse_json(b'{"a":' + b"[" * 31 + b"]" * 31 + b"}")


@given(st.binary(max_size=300))
def test_any_bytes_give_an_object_or_a_documented_error(body):
    try:
        assert isinstance(parse_json(body), dict)
    except InvalidRequest as exc:
        assert exc.message


@given(
    st.dictionaries(
        st.text(max_size=8),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=4), inner, max_size=3)
            ),
            max_leaves=10,
        ),
        max_size=4,
    )
)
def test_what_json_writes_is_read_back(value):
    assert parse_json(json.dumps(value).encode()) == value
