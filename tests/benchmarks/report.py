"""The results as Markdown tables. A ratio is the peer's time by ours: above 1 we are faster."""

import statistics
from collections.abc import Iterable, Sequence

from tests.benchmarks.goals import goals
from tests.benchmarks.results import PAIRS, Results, Row, ratios

_COLUMNS = ("engine", "http", "http again")


def number(value: float | None, unit: str = "") -> str:
    """Three digits that say something, or a dash for nothing."""
    if value is None:
        return "–"
    if value >= 1000:
        text = f"{value:,.0f}"
    elif value >= 100:
        text = f"{value:.0f}"
    elif value >= 10:
        text = f"{value:.1f}"
    else:
        text = f"{value:.2f}" if value >= 0.095 else f"{value:.3f}"
    return text + unit


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """A Markdown table; the first `left` columns are text, the others numbers."""
    cells = [list(head), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = []
    for row in cells:
        padded = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("| " + " | ".join(padded) + " |")
    rule = ["-" * (w + 2) if i < left else "-" * (w + 1) + ":" for i, w in enumerate(widths)]
    return [lines[0], "|" + "|".join(rule) + "|", *lines[1:]]


def code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def _pairs(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [pair for pair in PAIRS if ratios(rows, *pair)]


def _head(pair: tuple[str, str]) -> str:
    peer, we = pair
    return f"{peer} ÷ {we}"


def queries_table(results: Results) -> list[str]:
    pairs = _pairs(results.rows)
    columns = [c for c in _COLUMNS if any(row.ms(c) is not None for row in results.rows)]
    head = ["corpus", "class", "query", "lines", *(f"{c}, ms" for c in columns)]
    lines = []
    for row in results.rows:
        found = row.lines.get("engine", row.lines.get("http"))
        count = "–" if found is None else f"{found:,}" + ("+" if row.capped else "")
        lines.append(
            [row.corpus, row.query.kind, code(row.query.label), count]
            + [number(row.ms(column)) for column in columns]
            + [number(row.ratio(*pair)) for pair in pairs]
        )
    return table(head + [_head(pair) for pair in pairs], lines, left=3)


def summary_table(results: Results, by: str) -> list[str]:
    """Median and, in brackets, worst ratio by "class" or by "corpus"."""
    pairs = _pairs(results.rows)
    groups: dict[str, list[Row]] = {}
    for row in results.rows:
        groups.setdefault(row.query.kind if by == "class" else row.corpus, []).append(row)
    if len(groups) > 1:
        groups["all"] = list(results.rows)
    lines = []
    for name, rows in groups.items():
        cells = [name, str(len(rows))]
        for pair in pairs:
            found = ratios(rows, *pair)
            median = statistics.median(found) if found else None
            worst = f" ({number(min(found))})" if found else ""
            cells.append(number(median) + worst)
        lines.append(cells)
    return table([by, "queries", *map(_head, pairs)], lines)


def builds_table(results: Results) -> list[str]:
    lines = []
    for corpus, built in results.builds.items():
        for name in built.costs:
            size = built.sizes[name]
            share = number(size / built.text_bytes, " ×") if built.text_bytes else "–"
            lines.append(
                [
                    corpus,
                    name,
                    number(built.seconds(name), " s"),
                    number(built.cpu_seconds(name), " s"),
                    number(built.peak_bytes(name) / 1e6, " MB"),
                    number(size / 1e6, " MB"),
                    share,
                    number(built.one_more_seconds.get(name), " s"),
                ]
            )
    head = [
        "corpus",
        "index",
        "build",
        "CPU",
        "memory",
        "disk",
        "disk ÷ text",
        "10 files more",
    ]
    return table(head, lines, left=2)


def history_table(results: Results) -> list[str]:
    lines = []
    for corpus, built in results.builds.items():
        if not built.history_commits or not built.sizes.get("engine"):
            continue
        lines.append(
            [
                corpus,
                str(built.history_commits),
                number(built.history_seconds, " s"),
                number(built.history_bytes / 1e6, " MB"),
                number(built.history_bytes / built.sizes["engine"], " ×"),
                number(built.cold_open_seconds * 1000, " ms"),
            ]
        )
    head = ["corpus", "commits", "build", "disk", "disk ÷ one commit", "opening the oldest"]
    return table(head, lines) if lines else []


def loads_table(results: Results) -> list[str]:
    lines = [
        [
            each.corpus,
            code(each.query.label),
            each.server,
            str(each.load.connections),
            number(each.load.p50_ms),
            number(each.load.p99_ms),
            number(each.load.per_second),
            str(each.load.errors),
        ]
        for each in results.loads
    ]
    head = [
        "corpus",
        "query",
        "server",
        "clients",
        "p50, ms",
        "p99, ms",
        "requests/s",
        "errors",
    ]
    return table(head, lines, left=3) if lines else []


def goals_table(results: Results) -> list[str]:
    lines = [
        [each.what, each.goal, each.measured, "holds" if each.holds else "does not hold"]
        for each in goals(results)
    ]
    return table(["what", "goal", "measured", ""], lines, left=4) if lines else []


def disagreements(results: Results) -> list[str]:
    """Queries whose number of lines is not the same for all who count all of them."""
    lines = []
    for row in results.rows:
        ours = row.lines.get("engine")
        others = {n: c for n, c in row.lines.items() if c != ours}
        if ours is not None and others and not row.capped:
            said = ", ".join(f"{name} {count:,}" for name, count in others.items())
            lines.append(f"- {row.corpus}, {code(row.query.label)}: {ours:,}; {said}")
    return lines


def markdown(results: Results) -> str:
    """The whole report."""
    load = ", ".join(f"{value:.1f}" for value in results.load_average)
    parts = [
        [f"{results.date}; {results.machine}; load average before the run {load}"],
        ["; ".join(f"{name}: {text}" for name, text in results.versions.items())],
        [f"absent: {', '.join(results.absent)}" if results.absent else "absent: none"],
    ]
    if results.rows:
        parts += [["## Queries"], queries_table(results)]
        parts += [["## By class: median (worst)"], summary_table(results, "class")]
        parts += [["## By corpus: median (worst)"], summary_table(results, "corpus")]
    if results.builds:
        parts += [["## Indexes"], builds_table(results), history_table(results)]
    parts += [["## Load"], loads_table(results)] if results.loads else []
    if results.memory_bytes:
        servers = results.memory_bytes.items()
        said = (f"{name} {number(size / 1e6, ' MB')}" for name, size in servers)
        parts += [["Memory of the servers afterwards: " + ", ".join(said)]]
    parts += [["## Goals"], goals_table(results)]
    if different := disagreements(results):
        parts += [["## Lines found, where contestants differ"], different]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"
