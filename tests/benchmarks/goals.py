"""What we want the numbers to be, and whether they are. Nothing fails if they are not."""

import statistics
from dataclasses import dataclass

from tests.benchmarks.results import Results, ratios

_BIG_TEXT_BYTES = 500_000_000


@dataclass(frozen=True)
class Goal:
    what: str
    goal: str
    measured: str
    holds: bool


def goals(results: Results) -> list[Goal]:
    """Those goals for which this run has numbers."""
    return [*_searches(results), *_indexes(results), *_loads(results)]


def _searches(results: Results) -> list[Goal]:
    found = []
    against = ratios(results.rows, "zoekt", "engine")
    if against:
        median = statistics.median(against)
        found.append(_at_least("engine against Zoekt, median of all queries", median, 2))
        kinds = {row.query.kind for row in results.rows}
        by_kind = {
            kind: statistics.median(ratios(rows, "zoekt", "engine"))
            for kind in kinds
            if (rows := [row for row in results.rows if row.query.kind == kind])
        }
        worst = min(by_kind, key=lambda kind: by_kind[kind])
        found.append(_at_least(f"engine against Zoekt, worst class ({worst})", by_kind[worst], 1))
        if "regex, with literal" in by_kind:
            ratio = by_kind["regex, with literal"]
            found.append(_at_least("engine against Zoekt, regex with literal", ratio, 10))
    for corpus, built in results.builds.items():
        against = ratios([r for r in results.rows if r.corpus == corpus], "rg", "engine")
        if against and built.text_bytes > 20_000_000:
            goal = 200 if built.text_bytes > _BIG_TEXT_BYTES else 20
            median = statistics.median(against)
            found.append(_at_least(f"engine against rg, median, {corpus}", median, goal))
    return found


def _indexes(results: Results) -> list[Goal]:
    found = []
    for corpus, built in results.builds.items():
        if "engine" not in built.costs:
            continue
        ours = built.seconds("engine")
        if "zoekt" in built.costs:
            ratio = built.seconds("zoekt") / ours
            found.append(_at_least(f"build against Zoekt, {corpus}", ratio, 6))
        if built.text_bytes:
            share = built.sizes["engine"] / built.text_bytes
            found.append(_at_most(f"disk ÷ text, one commit, {corpus}", share, 1.4, " ×"))
        if built.history_commits >= 100:
            share = built.history_bytes / built.sizes["engine"]
            found.append(_at_most(f"disk, 100 commits ÷ one, {corpus}", share, 1.15, " ×"))
            milliseconds = built.cold_open_seconds * 1000
            found.append(_at_most(f"opening an old commit, {corpus}", milliseconds, 50, " ms"))
        if "engine" in built.one_more_seconds:
            seconds = built.one_more_seconds["engine"]
            found.append(_at_most(f"ten changed files more, {corpus}", seconds, 1, " s"))
        if built.text_bytes > _BIG_TEXT_BYTES:
            peak = built.peak_bytes("engine") / 1e9
            found.append(_at_most(f"memory of a build, {corpus}", peak, 1.5, " GB"))
    return found


# (query, connections): p50 and p99 at most, requests per second at least.
_LOADS = {
    ("xdl_recmatch", 1): (1.5, None, None),
    ("xdl_recmatch", 8): (None, 20.0, 2000.0),
    ("strbuf_addstr", 1): (3.0, None, None),
    ("strbuf_addstr", 8): (None, None, 900.0),
}


def _loads(results: Results) -> list[Goal]:
    found = []
    for each in results.loads:
        wanted = _LOADS.get((each.query.pattern, each.load.connections))
        if each.server != "http" or wanted is None:
            continue
        p50, p99, rate = wanted
        what = f"`{each.query.pattern}` over HTTP, connections: {each.load.connections}"
        if p50 is not None:
            found.append(_at_most(f"{what}, p50", each.load.p50_ms, p50, " ms"))
        if p99 is not None:
            found.append(_at_most(f"{what}, p99", each.load.p99_ms, p99, " ms"))
        if rate is not None:
            found.append(_at_least(f"{what}, requests/s", each.load.per_second, rate, ""))
    return found


def _at_least(what: str, value: float, goal: float, unit: str = " ×") -> Goal:
    return Goal(what, f"at least {goal:,g}{unit}", f"{value:,.4g}{unit}", value >= goal)


def _at_most(what: str, value: float, goal: float, unit: str) -> Goal:
    return Goal(what, f"at most {goal:,g}{unit}", f"{value:,.3g}{unit}", value <= goal)
