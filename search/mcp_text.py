"""A page of results as text for a model (contract 2.5, decision 42).

Everything that tells what the page is worth stands in front; then the files. What does not
fit the caller's budget is never dropped in silence: first the rows of a file give way to its
number of matching lines, and only the last guard cuts the text itself.
"""

import re

from search.answer import Coverage, FileMatch, LineMatch, SearchAnswer
from sourcegraph_site.mcp.text import UNTRUSTED, cut, quoted, size

MAX_BLOCK_BYTES = 131_072
MAX_LINE_BYTES = 2_048
MAX_DETAILS_BYTES = 8_192
_LEAD_BYTES = 256  # how much of a long line stands in front of its first match
_FOOTER = "\nTextTruncated: true. Narrow the search, or lower max_files.\n"
# What other engines read as filters; here it is part of the expression.
_FILTER = re.compile(r"(?:^|\s)(?:content|file|lang|repo|case|sym|regex|type|c|f|r):")


def search_text(
    answer: SearchAnswer,
    *,
    files_output: bool,
    regex: str | None,
    max_lines_per_file: int,
    limit: int = MAX_BLOCK_BYTES,
) -> str:
    """The page, at most `limit` bytes. `regex` is the pattern unless it was literal text."""
    head = "\n".join(_head(answer, files_output=files_output, regex=regex)) + "\n"
    sections = [_section(file, max_lines_per_file) for file in answer.result.files]
    counts = [_count_only(file) for file in answer.result.files]
    # Room for the counts of all files behind is kept, so that each is at least named.
    behind = sum(map(size, counts))
    left = limit - size(head) - behind
    parts, full = [head], False
    for section, count in zip(sections, counts, strict=True):
        cost = size(section) - size(count)
        if cost <= left and not full:
            parts.append(section)
            left -= cost
        else:
            # In the order of the files: one that fits behind one that did not would look
            # like a better match.
            full = True
            parts.append(count)
    text = "".join(parts)
    if size(text) <= limit:
        return text
    return cut(text, limit - size(_FOOTER)) + _FOOTER


def _head(answer: SearchAnswer, *, files_output: bool, regex: str | None) -> list[str]:
    meta, result = answer.meta, answer.result
    coverage = meta.coverage
    lines = []
    if coverage is not None and coverage.unsupported_paths_skipped:
        lines.append("UnsupportedPathsSkipped: true. Names that cannot be asked for are left out.")
    lines += [
        f"Repository: {quoted(meta.repository)}",
        f"Commit: {quoted(meta.commit)}",
        f"Status: {quoted(meta.status)}",
        f"Partial: {quoted(meta.partial)}",
        f"Truncated: {quoted(meta.truncated)}",
    ]
    if files_output:
        lines.append("Output: files (paths only, as asked for)")
    elif meta.files_only:
        lines.append("FilesOnly: true. The matching lines are too large; narrow the search.")
    if coverage is not None:
        lines += _coverage(coverage)
    lines.append(
        f"ReturnedFiles: {len(result.files)}; FileCount: {result.file_count};"
        f" MatchCount: {result.match_count}"
    )
    if meta.next_cursor is not None:
        lines.append(f"HasMore: true; NextCursor: {quoted(meta.next_cursor)}")
    lines.append(UNTRUSTED)
    if not result.files:
        lines.append("No match was found in what is indexed; that does not prove absence.")
        if regex is not None and _FILTER.search(regex):
            lines.append(
                "Hint: filters inside the pattern are not known here; use glob, paths, language"
                " and ignore_case."
            )
    return lines


def _coverage(coverage: Coverage) -> list[str]:
    details = f"Paths: {quoted(coverage.paths)}; Groups: {quoted(coverage.groups)}"
    if size(details) > MAX_DETAILS_BYTES:
        details = "CoverageDetailsTruncated: true. The lists of paths and groups are too long."
    return [
        f"Coverage: IndexMode={quoted(coverage.index_mode)}; Profile={quoted(coverage.profile)};"
        f" CompleteRepository={quoted(coverage.complete_repository)};"
        f" IndexedDocuments={coverage.indexed_documents}",
        f"Symlinks: {coverage.symlinks};"
        f" ExpansionComplete: {quoted(coverage.symlink_expansion_complete)}",
        details,
    ]


def _section(file: FileMatch, max_lines: int) -> str:
    """An empty line, the file, and its first matching lines with their context."""
    lines = ["", f"File: {quoted(file.file_name)}"]
    matches = file.line_matches or []
    if len(matches) > max_lines:
        lines.append(f"DisplayedLines: {max_lines} of {len(matches)}; LinesTruncated: true.")
    return "\n".join(lines + _rows(matches[:max_lines])) + "\n"


def _count_only(file: FileMatch) -> str:
    name = f"File: {quoted(file.file_name)}"
    if file.line_matches is None:
        return f"\n{name}\n"
    return f"\n{name}; MatchingLines: {len(file.line_matches)}\n"


def _rows(matches: list[LineMatch]) -> list[str]:
    """`12: match` and `13- context` in the order of the lines, each line once."""
    found = {match.line_number for match in matches}
    rows = {}
    for match in matches:
        number = match.line_number
        around = [
            *enumerate(match.before, number - len(match.before)),
            *enumerate(match.after, number + 1),
        ]
        for line, text in around:
            if line not in found:
                rows[line] = f"{line}- {_shortened(text, 0)}"
        first = match.line_fragments[0].line_offset if match.line_fragments else 0
        rows[number] = f"{number}: {_shortened(match.line, first)}"
    return [rows[line] for line in sorted(rows)]


def _shortened(text: str, match_at: int) -> str:
    """At most MAX_LINE_BYTES of a line, from shortly before its first match."""
    data = text.encode()
    if len(data) <= MAX_LINE_BYTES:
        return text
    start = min(max(0, match_at - _LEAD_BYTES), len(data) - MAX_LINE_BYTES)
    end = start + MAX_LINE_BYTES
    shown = data[start:end].decode("utf-8", "ignore")
    return f"{shown} [LineTruncated: true; bytes {start}-{end} of {len(data)}]"
