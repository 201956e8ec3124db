"""Random queries over the corpus, the same ones for the same seed."""

import random
from collections.abc import Iterator

from tests.search.against_rg.corpus import WORDS
from tests.search.against_rg.query import Query

_CLASS_LIST = r"""
\w \W \d \D \s \S . [a-z] [A-Z] [^a] [^\s] [\w-] [\W\d] [0-9a-f] [é-ü] [α-ω] [kK] [^\W\d_]
[[:alpha:]] [[:^alpha:]] [[:word:]] [[:space:]] \pL \p{Lu} \P{L} \p{Greek} \p{Han} [\p{Lu}\d]
[^\p{L}\s] \pN \x41 \x{e9} [\x{100}-\x{10FFFF}] [^\x00-\x7F] [a&] [x-] []a] [^]a] \t \. \* \\
\x{212a} \x{17f} [\r\t] \r \v \f
"""
_CLASSES = _CLASS_LIST.split()
_ASSERTIONS = (r"\b", r"\b", r"\b", r"\B", "^", "$")
_REPEATS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}", "{0,2}?", "{3}")
_GLOB_LIST = """
*.py *.ts *.c !*.md src/** !src !vendor/ test/** **/lib/** /f*.c *.{c,h} !*.{py,ts} f[0-9].*
f[!0-9]*.* src/*/* docs/* caf?.md caf??.md .hidden/** !.hidden [a-m]* **/x.ts src/**/x.ts !f1*
f1? *a* !src/*/ !**/x
"""
_GLOBS = _GLOB_LIST.split()


def queries(seed: int) -> Iterator[Query]:
    """For ever."""
    rnd = random.Random(seed)
    while True:
        fixed = rnd.random() < 0.08
        pattern = _literal(rnd) if fixed else _pattern(rnd)
        if rnd.random() < 0.06 and not fixed:
            pattern = rnd.choice(("(?i)", "(?s)", "(?U)", "(?-i)", "(?i-s)")) + pattern
        globs = tuple(rnd.choice(_GLOBS) for _ in range(rnd.choice((0, 0, 0, 1, 1, 2, 3))))
        if pattern:
            yield Query(pattern, rnd.random() < 0.35, fixed, globs)


def _literal(rnd: random.Random) -> str:
    word = rnd.choice(WORDS)
    start = rnd.randrange(len(word))
    return word[start : start + rnd.randint(1, 6)]


def _pattern(rnd: random.Random) -> str:
    kind = rnd.random()
    if kind < 0.2:
        return _escaped(_literal(rnd))
    if kind < 0.35:
        return rf"\b{_escaped(_literal(rnd))}\b"
    return _alternatives(rnd, depth=2)


def _alternatives(rnd: random.Random, depth: int) -> str:
    return "|".join(_sequence(rnd, depth) for _ in range(rnd.choice((1, 1, 1, 2, 3))))


def _sequence(rnd: random.Random, depth: int) -> str:
    return "".join(_item(rnd, depth) for _ in range(rnd.randint(1, 4)))


def _item(rnd: random.Random, depth: int) -> str:
    kind = rnd.random()
    if kind < 0.15:
        return rnd.choice(_ASSERTIONS)
    if kind < 0.35:
        atom = rnd.choice(_CLASSES)
    elif kind < 0.5 and depth:
        head = rnd.choice(("(", "(", "(?:", "(?i:", "(?-i:", "(?P<n>" if depth == 2 else "("))
        atom = f"{head}{_alternatives(rnd, depth - 1)})"
    else:
        text = _literal(rnd)
        return _escaped(text[:-1]) + _repeated(rnd, _escaped(text[-1]))
    return _repeated(rnd, atom)


def _repeated(rnd: random.Random, atom: str) -> str:
    return atom + rnd.choice(_REPEATS) if rnd.random() < 0.35 else atom


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in r".*+?()[]{}|^$\\" else char for char in text)
