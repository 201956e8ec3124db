"""Generated patterns and lines, small and spiteful: letters that fold, mark and cut."""

from hypothesis import strategies as st

LETTERS = "abkKſs_é\u212aσςΣİıÿ1 -.\u0301中"

_ATOMS = st.one_of(
    st.sampled_from(list(LETTERS)).map(lambda c: "\\." if c == "." else c),
    st.sampled_from(
        [r"\w", r"\W", r"\d", r"\s", r"\S", ".", "[ab]", "[^a]", "[k-s]", r"[^\W_]", r"\pL", "[_é]"]
    ),
)
_ASSERTIONS = st.sampled_from([r"\b", r"\B", "^", "$"])
_REPEATS = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{2,}", "{0,2}"])


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.one_of(inner.map(lambda p: f"({p})"), inner.map(lambda p: f"(?i:{p})"))
    return st.one_of(
        st.tuples(group, _REPEATS).map("".join),
        st.lists(st.one_of(inner, group, _ASSERTIONS), min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map(lambda p: f"(?:{p})"),
        st.lists(_ATOMS, min_size=2, max_size=6).map("".join),
    )


patterns = st.recursive(_ATOMS, _grow, max_leaves=10)

lines = st.lists(
    st.one_of(
        st.sampled_from(list(LETTERS)).map(str.encode),
        st.sampled_from(["__", "_ÿÿ_", "ÿÿ", "kK", "ab", "aab", "é_"]).map(str.encode),
        st.sampled_from([b"\xff", b"\xc3", b"\xa9", b"\xe2\x84", b"\xed\xa0\x80", b"\r"]),
    ),
    max_size=12,
).map(b"".join)

texts = st.lists(lines, max_size=6).map(b"\n".join)
