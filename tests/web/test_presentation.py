"""Markup of results: marks at the right places, whatever the line holds."""

import re
from html import unescape

import pytest

from search.answer import LineFragment, LineMatch
from search.page_query import PageQuery
from search.presentation import LINES_PER_FILE, Card, Words, marked, outline, render_cards

SHA = "0123456789abcdef0123456789abcdef01234567"


def line(text: str, *words: str, number: int = 1, **fields) -> LineMatch:
    """A match whose fragments are these words of the text, in order."""
    data, at, fragments = text.encode(), 0, []
    for word in words:
        at = data.index(word.encode(), at)
        fragments.append(LineFragment(at, len(word.encode())))
        at += len(word.encode())
    return LineMatch(number, text, [], [], fragments, **fields)


def card(*matches: LineMatch, path: str = "src/main.c", **fields) -> Card:
    return Card("a/b", SHA, "main", path, "C", list(matches), **fields)


def markup(*cards: Card, all_lines: bool = False, context: int = 1) -> str:
    query = PageQuery(repo="a/b", pattern="x", context=context)
    return str(render_cards(cards, query, all_lines=all_lines))


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("a needle b", ["needle"], "a <mark>needle</mark> b"),
        ("<b>&needle", ["needle"], "&lt;b&gt;&amp;<mark>needle</mark>"),
        ("<i>", ["<i>"], "<mark>&lt;i&gt;</mark>"),
        ("日本 needle 語", ["needle", "語"], "日本 <mark>needle</mark> <mark>語</mark>"),
        ("xx", ["x", "x"], "<mark>x</mark><mark>x</mark>"),
    ],
)
def test_fragments_are_marked_by_bytes(text, words, expected):
    assert marked(line(text, *words), Words()) == expected


def test_a_very_long_line_is_cut_round_its_first_match():
    text = "é" * 4000 + "needle" + "z" * 4000
    cut = marked(line(text, "needle"), Words())
    assert "<mark>needle</mark>" in cut
    assert cut.startswith("…") and "…" in cut[1:]
    assert "line cut at 2,048 bytes" in cut
    assert len(cut) < 2300


def test_a_line_whose_bytes_were_replaced_is_not_marked_at_wrong_places():
    match = line("caf\ufffd needle", "needle", lossy=True)
    assert marked(match, Words()) == "caf\ufffd needle"


def test_a_card_shows_the_first_lines_and_counts_the_others():
    matches = [line(f"needle {n}", "needle", number=n) for n in range(1, 9)]
    html = markup(card(*matches))
    assert html.count('class="line hot"') == LINES_PER_FILE
    assert "Show 3 more lines in this file" in html
    assert markup(card(*matches), all_lines=True).count('class="line hot"') == 8


def test_neighbouring_context_is_shown_once_and_in_order():
    first = LineMatch(10, "needle", ["nine"], ["eleven"], [LineFragment(0, 6)])
    second = LineMatch(12, "needle", ["eleven"], ["thirteen"], [LineFragment(0, 6)])
    html = markup(card(first, second))
    assert re.findall(r'data-n="(\d+)"', html) == ["9", "10", "11", "12", "13"]
    assert 'class="gap"' not in html


def test_a_gap_stands_between_distant_lines_only_with_context():
    far = [line("needle", "needle", number=1), line("needle", "needle", number=9)]
    assert markup(card(*far)).count('class="gap"') == 1
    assert markup(card(*far), context=0).count('class="gap"') == 0


def test_line_numbers_link_to_the_pinned_line_and_carry_the_pattern():
    html = unescape(markup(card(line("needle", "needle", number=20))))
    assert f'/code?repo=a/b&path=src/main.c&commit={SHA}&branch=main&pattern=x#L20"' in html


def test_the_citation_is_a_link_pinned_to_the_full_sha(settings):
    settings.ORIGIN = "https://code.example.org"
    html = unescape(markup(card(line("needle", "needle", number=20))))
    permalink = (
        f"https://code.example.org/sourcegraph/code?repo=a/b&path=src/main.c&commit={SHA}#L20"
    )
    assert f"[a/b@01234567:src/main.c:L20]({permalink})" in html


def test_only_here_narrows_what_was_included_before():
    query = PageQuery(repo="a/b", pattern="x", globs=("*.c", "src/**", "doc/**", "!po/"))
    (group,) = outline([card(path="src/a.c")], query)
    assert "glob=/src/%2A%2A/%2A.c&glob=src/%2A%2A&glob=%21po/" in group.only_here
    assert "doc" not in group.only_here
    assert group.not_here.endswith("glob=%21/src/")


def test_the_outline_counts_what_is_on_the_page():
    cards = [
        card(line("x", "x"), path="a.c"),
        card(line("x", "x"), line("x", "x", number=2), path="lib/b.c"),
        card(line("x", "x"), path="lib/c/d.c"),
    ]
    groups = outline(cards, PageQuery(repo="a/b", pattern="x"))
    assert [(g.directory, g.count, [f.name for f in g.files]) for g in groups] == [
        ("", 1, ["a.c"]),
        ("lib", 3, ["b.c", "c/d.c"]),
    ]
