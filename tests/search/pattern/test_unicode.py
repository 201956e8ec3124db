"""The committed table is well-formed and agrees with the folding that the index uses."""

import pytest

from search.kernel.fold import fold_codepoint
from search.pattern import unicode
from search.pattern.ranges import complement, count, difference, intersection, normalised
from search.pattern.unicode import case_closed, case_orbit, is_word, perl_class, unicode_class

SETS = [name for name in unicode._rows() if name != "fold"]


@pytest.mark.parametrize("name", SETS)
def test_ranges_ascend_and_do_not_touch(name: str) -> None:
    ranges = unicode._row(name)
    assert all(low <= high for low, high in ranges)
    assert all(left[1] + 1 < right[0] for left, right in zip(ranges, ranges[1:], strict=False))


def test_characters_equal_without_case_fold_to_one_in_the_index() -> None:
    cased, orbit_of = unicode._orbits()
    assert len(cased) == 2_878
    for code in cased:
        assert len({fold_codepoint(member) for member in orbit_of[code]}) == 1
        assert code in orbit_of[code]


def test_categories_part_all_code_points() -> None:
    names = [name for name in SETS if len(name) == 2 and name != "Yi"]  # a script
    together = sum(count(unicode._row(name)) for name in names)
    assert together == count(normalised(pair for name in names for pair in unicode._row(name)))
    majors = [unicode_class(name) for name in "LMNPSZC"]
    assert sum(count(ranges) for ranges in majors if ranges) == 0x110000


def test_is_word_agrees_with_the_class() -> None:
    edges = {edge + d for pair in perl_class("w") for edge in pair for d in (-1, 0, 1)}
    for code in edges & set(range(0x110000)):
        inside = any(low <= code <= high for low, high in perl_class("w"))
        assert is_word(code) is inside, hex(code)


def test_names_are_exact_and_internal_rows_are_not_classes() -> None:
    assert unicode_class("Greek")
    for name in ("greek", "GREEK", "word", "space", "fold", "", "Latn"):
        assert unicode_class(name) is None


def test_closing_over_case_adds_the_whole_orbit() -> None:
    assert case_closed(((0x6B, 0x6B),)) == ((0x4B, 0x4B), (0x6B, 0x6B), (0x212A, 0x212A))
    assert case_closed(((0x31, 0x39),)) == ((0x31, 0x39),)
    assert case_orbit(0x3C3) == (0x3A3, 0x3C2, 0x3C3)


def test_set_operations_on_ranges() -> None:
    left, right = ((1, 5), (8, 9), (20, 30)), ((0, 1), (4, 8), (25, 25), (30, 40))
    members = [
        {n for low, high in ranges for n in range(low, high + 1)} for ranges in (left, right)
    ]

    def listed(ranges: tuple[tuple[int, int], ...]) -> set[int]:
        return {n for low, high in ranges for n in range(low, min(high, 99) + 1)}

    assert listed(difference(left, right)) == members[0] - members[1]
    assert listed(intersection(left, right)) == members[0] & members[1]
    assert listed(complement(left)) == set(range(100)) - members[0]
    assert complement(complement(left)) == left
    assert normalised([(5, 6), (1, 2), (3, 3), (9, 9), (6, 7)]) == ((1, 3), (5, 7), (9, 9))
