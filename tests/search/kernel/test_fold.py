"""Folding is RE2's: a pattern that ignores case and the index agree on what is equal."""

import re2

from search.kernel.fold import FOLD_LIMIT, fold_bytes, fold_codepoint, table


def code_points():
    return [point for point in range(1, FOLD_LIMIT) if not 0xD800 <= point < 0xE000]


def test_two_characters_fold_together_exactly_when_re2_takes_one_for_the_other():
    everything = "".join(map(chr, code_points()))
    classes: dict[int, set[str]] = {}
    for point in code_points():
        classes.setdefault(fold_codepoint(point), set()).add(chr(point))
    cased = {folded for folded, members in classes.items() if len(members) > 1}
    cased |= {p for p in code_points() if chr(p) != chr(p).lower() or chr(p) != chr(p).upper()}
    for point in sorted(cased):
        matched = set(re2.findall("(?i)" + re2.escape(chr(point)), everything))
        assert matched == classes[fold_codepoint(point)], hex(point)


def test_folding_twice_changes_nothing_more():
    assert all(fold_codepoint(folded) == folded for folded in table().values())


def test_no_code_point_above_the_limit_folds():
    assert all(fold_codepoint(point) == point for point in range(FOLD_LIMIT, 0x110000))


def test_folded_text_can_be_shorter_or_longer():
    assert fold_bytes("\u212a".encode()) == b"k"
    assert fold_bytes("Ⱥ".encode()) == "ⱥ".encode()
    assert len("ⱥ".encode()) > len("Ⱥ".encode())


def test_bytes_that_are_not_utf8_stay_as_they_are():
    assert fold_bytes(b"A\xff\xc3B\xed\xa0\x80") == b"a\xff\xc3b\xed\xa0\x80"
