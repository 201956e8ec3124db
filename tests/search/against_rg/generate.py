"""Random queries over a corpus, the same ones for the same seed."""

import random
from collections.abc import Iterator, Sequence

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


def queries(
    seed: int, words: Sequence[str] = WORDS, globs: Sequence[str] = _GLOBS
) -> Iterator[Query]:
    """For ever. Texts are parts of `words`."""
    make = _Maker(random.Random(seed), words)
    rnd = make.rnd
    while True:
        fixed = rnd.random() < 0.08
        pattern = make.literal() if fixed else make.pattern()
        if rnd.random() < 0.06 and not fixed:
            pattern = rnd.choice(("(?i)", "(?s)", "(?U)", "(?-i)", "(?i-s)")) + pattern
        chosen = tuple(rnd.choice(globs) for _ in range(rnd.choice((0, 0, 0, 1, 1, 2, 3))))
        if pattern:
            yield Query(pattern, rnd.random() < 0.35, fixed, chosen)


class _Maker:
    def __init__(self, rnd: random.Random, words: Sequence[str]) -> None:
        self.rnd = rnd
        self._words = words

    def literal(self) -> str:
        word = self.rnd.choice(self._words)
        start = self.rnd.randrange(len(word))
        return word[start : start + self.rnd.randint(1, 6)]

    def pattern(self) -> str:
        kind = self.rnd.random()
        if kind < 0.2:
            return _escaped(self.literal())
        if kind < 0.35:
            return rf"\b{_escaped(self.literal())}\b"
        return self._alternatives(depth=2)

    def _alternatives(self, depth: int) -> str:
        return "|".join(self._sequence(depth) for _ in range(self.rnd.choice((1, 1, 1, 2, 3))))

    def _sequence(self, depth: int) -> str:
        return "".join(self._item(depth) for _ in range(self.rnd.randint(1, 4)))

    def _item(self, depth: int) -> str:
        rnd = self.rnd
        kind = rnd.random()
        if kind < 0.15:
            return rnd.choice(_ASSERTIONS)
        if kind < 0.35:
            atom = rnd.choice(_CLASSES)
        elif kind < 0.5 and depth:
            head = rnd.choice(("(", "(", "(?:", "(?i:", "(?-i:", "(?P<n>" if depth == 2 else "("))
            atom = f"{head}{self._alternatives(depth - 1)})"
        else:
            text = self.literal()
            return _escaped(text[:-1]) + self._repeated(_escaped(text[-1]))
        return self._repeated(atom)

    def _repeated(self, atom: str) -> str:
        rnd = self.rnd
        return atom + rnd.choice(_REPEATS) if rnd.random() < 0.35 else atom


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in r".*+?()[]{}|^$\\" else char for char in text)
