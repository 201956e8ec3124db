"""Colours and find: one row per line of the file, never more, never fewer."""

import re
from html import unescape

import pytest

from readers.finding import Find, find_spans, mark
from readers.highlight import highlighted, lexer_of, markup, plain

TEXTS = [
    "",
    "x = 1\n",
    "x = 1",
    "\n\n\n",
    '"""a\nb"""\nx = "<&>"\n',
    "a\r\nb\r\n",
    "one\x0ctwo\u2028three\n",
    "lone\rCR\n",
    "no end of a string '",
]


def text_of(row: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", row))


def rows_of(text: str) -> list[str]:
    rows = text.replace("\r\n", "\n").split("\n")
    return rows[:-1] if rows[-1] == "" else rows


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", ["a.py", "a.c", "a.html", "Makefile", "a.md", "a.json"])
def test_each_line_of_the_file_is_one_row_with_its_text(text, name):
    lexer = lexer_of(name, text)
    assert lexer is not None
    assert [text_of(row) for row in markup(lexer, text)] == rows_of(text)
    assert [text_of(row) for row in plain(text)] == rows_of(text)


def test_spans_never_cross_lines():
    rows = markup(lexer_of("a.py", ""), '"""a\nb\nc"""\n')
    for row in rows:
        assert row.count("<span") == row.count("</span>")


def test_names_spaces_and_operators_need_no_span():
    (row,) = markup(lexer_of("a.py", ""), "total = total + 1\n")
    assert row == 'total = total + <span class="mi">1</span>'


def test_an_unknown_name_has_no_lexer():
    assert lexer_of("strange.qqq", "x") is None


@pytest.mark.django_db
def test_colours_are_kept_by_blob(cache_table):
    lexer = lexer_of("a.py", "")
    assert highlighted("0" * 40, lexer, "x = 1\n") is highlighted("0" * 40, lexer, "x = 1\n")


@pytest.mark.parametrize(
    ("row", "spans", "expected"),
    [
        ("abc", [(0, 1), (2, 3)], "<mark>a</mark>b<mark>c</mark>"),
        ("abc", [(0, 1), (1, 2)], "<mark>a</mark><mark>b</mark>c"),
        (
            'a<span class="k">bc</span>d',
            [(0, 4)],
            '<mark>a</mark><span class="k"><mark>bc</mark></span><mark>d</mark>',
        ),
        ("a&lt;b", [(1, 2)], "a<mark>&lt;</mark>b"),
    ],
)
def test_matches_are_marked_inside_the_colours(row, spans, expected):
    assert mark(row, spans) == expected
    assert text_of(mark(row, spans)) == text_of(row)


def test_find_is_literal_or_re2_and_minds_case_as_asked():
    lines = ["Needle", "a.b", "axb"]
    assert find_spans(Find("needle"), lines) == {}
    assert find_spans(Find("needle", ignore_case=True), lines) == {1: [(0, 6)]}
    assert find_spans(Find("a.b"), lines) == {2: [(0, 3)], 3: [(0, 3)]}
    assert find_spans(Find("a.b", fixed_strings=True), lines) == {2: [(0, 3)]}


def test_find_counts_characters_not_bytes():
    assert find_spans(Find("x"), ["日本x"]) == {1: [(2, 3)]}


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "x" * 9000])
def test_a_pattern_that_is_not_valid_finds_nothing_and_says_so(pattern):
    assert find_spans(Find(pattern), ["x"]) is None
