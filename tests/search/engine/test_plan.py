"""Which texts a search scans for."""

import pytest

from search.engine.plan import blocks_at_most, make_plan
from tests.search.engine.world import all_rows, ask, generation_of, scan, shown

FILES = {
    **{f"common{n}.c": b"struct thing *x; assertEq(1);\n%d\n" % n for n in range(30)},
    **{f"other{n}.c": b"struct node *repo; // 100%%x\n%d\n" % n for n in range(3)},
    "rare.c": b"assertLongEquals(struct repo **repo)\n",
}


@pytest.fixture(scope="module")
def generation(tmp_path_factory):
    return generation_of(tmp_path_factory.mktemp("plan"), FILES)


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"struct [a-z_]+ \*\*?repo\b", {b" *repo", b" **repo"}),
        (r"assert[A-Z][a-z]+Equals", {b"Equals"}),
        (r"Equals.*assert", {b"Equals"}),
        (r"assert\w*%x", {b"assert"}),  # two bytes have no trigram: they could be anywhere
        (r"struct \w+", {b"struct "}),
    ],
)
def test_the_rarest_texts_are_scanned_for(generation, pattern, texts):
    request = ask(pattern)
    plan = make_plan(request.pattern, generation.segments)
    assert {shape.text for shape in plan.shapes} == texts
    assert set(plan.describe()["Literals"]) == {text.decode() for text in texts}
    assert all_rows(generation, request) == shown(scan(FILES, request))


def test_blocks_are_counted_by_the_rarest_trigram_of_each_text(generation):
    sets = [(b"struct",), (b"repo", b"Equals"), (b"%x",), (b"nowhere",), (b"%x", b"LongE")]
    assert blocks_at_most(sets, generation.segments) == [34, 4 + 1, 34, 0, 34 + 1]
    assert blocks_at_most(sets, []) == [0] * 5
