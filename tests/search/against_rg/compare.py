"""Are the two answers the same, or do they differ as `differences.txt` says?"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from search.pattern.parse import parse_pattern
from tests.search.against_rg.query import Hits, Query, Refused
from tests.search.pattern.oracle import TooHard, find_all

_HERE = Path(__file__).parent


def chosen_queries() -> Iterator[Query]:
    for row in (_HERE / "chosen.txt").read_text(encoding="utf-8").split("\n"):
        if row and not row.startswith("#"):
            flags, pattern, *globs = row.split("\t")
            yield Query(pattern, "i" in flags, "F" in flags, tuple(globs))


@cache
def known_differences() -> dict[str, tuple[str, ...]]:
    """Kind → texts, from `differences.txt`, which has the reason of each."""
    known: dict[str, tuple[str, ...]] = {}
    for row in (_HERE / "differences.txt").read_text(encoding="utf-8").split("\n"):
        if row and not row.startswith("#"):
            kind, text, reason = row.split("\t")
            assert reason, row
            known[kind] = (*known.get(kind, ()), text)
    return known


def difference(query: Query, ours: Hits | Refused, theirs: Hits | Refused) -> str | None:
    """What is different, for people; None if nothing is that has not been explained."""
    if ours == theirs or (isinstance(ours, Refused) and isinstance(theirs, Refused)):
        return None
    if is_listed(query):
        return None
    if isinstance(ours, Refused):
        refused = any(text in ours.message for text in known_differences()["refused"])
        return None if refused else f"only we refuse: {ours.message}"
    if isinstance(theirs, Refused):
        return f"only ripgrep refuses: {theirs.message}"
    if _same_lines(ours, theirs) and _oracle_agrees(query, ours, theirs):
        return None
    return _first_difference(ours, theirs)


def first_spans(hits: Hits | Refused, limit: int | None) -> Hits | Refused:
    """The answer as somebody sees it who is shown so many matches of one line."""
    if isinstance(hits, Refused) or limit is None:
        return hits
    return {
        path: [(number, line, spans[:limit]) for number, line, spans in lines]
        for path, lines in hits.items()
    }


def is_listed(query: Query) -> bool:
    """Whether this very pattern, or one of the globs, is known to differ."""
    known = known_differences()
    return query.pattern in known["pattern"] or any(glob in known["glob"] for glob in query.globs)


def _same_lines(ours: Hits, theirs: Hits) -> bool:
    def lines(hits: Hits) -> list[tuple[str, int, bytes]]:
        return [(path, line[0], line[1]) for path in sorted(hits) for line in hits[path]]

    return lines(ours) == lines(theirs)


def _oracle_agrees(query: Query, ours: Hits, theirs: Hits) -> bool:
    """Whether a third matcher finds our spans where ripgrep 13 forgets what stands before.

    Its `\\b` and `\\B` right behind a match do not see that match's last character.
    """
    if query.fixed_strings or "\\b" not in query.pattern.lower():
        return False
    tree = parse_pattern(query.pattern, ignore_case=query.ignore_case)
    try:
        return all(
            list(mine[2]) == find_all(tree, mine[1])
            for path in ours
            for mine, other in zip(ours[path], theirs[path], strict=True)
            if mine != other
        )
    except (TooHard, RecursionError):
        return False


def _first_difference(ours: Hits, theirs: Hits) -> str:
    for path in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(path, []), theirs.get(path, [])
        if mine != other:
            only_mine = [line for line in mine if line not in other][:1]
            only_other = [line for line in other if line not in mine][:1]
            return f"{path}: only we find {only_mine}, only ripgrep finds {only_other}"
    return ""
