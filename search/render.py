"""Engine results as the answer's data, and as JSON, fast: a page holds a thousand lines."""

from collections.abc import Iterable, Sequence
from typing import Any

from search.answer import FileMatch, LineFragment, LineMatch, SearchAnswer
from search.engine import results as engine
from search.engine.many import RepositoryFiles
from sourcegraph_site.kernel.wire import dumps, to_wire

BUDGET_BYTES = 2 << 20
# What the envelope round the files takes at most: counts, coverage, 64 paths.
_ENVELOPE_BYTES = 1 << 17
# Bytes of JSON round a line and round a fragment, and what one byte of text may become.
_LINE_BYTES, _FRAGMENT_BYTES, _WORST_ESCAPE = 96, 48, 6


def file_matches(
    files: Iterable[engine.FileMatch], repository: str | None = None, commit: str | None = None
) -> list[FileMatch]:
    """A page of the engine, decoded; bytes that are not UTF-8 become U+FFFD and say so."""
    return [
        FileMatch(
            file_name=file.path.decode("utf-8", "replace"),
            language=file.language or "",
            blob_oid=file.oid.hex(),
            repository=repository,
            commit=commit,
            line_matches=[_line(line) for line in file.lines] if file.lines else None,
        )
        for file in files
    ]


def _line(line: engine.LineMatch) -> LineMatch:
    lossy = None
    try:
        text = line.text.decode()
    except UnicodeDecodeError:
        text, lossy = line.text.decode("utf-8", "replace"), True
    return LineMatch(
        line_number=line.number,
        line=text,
        before=[row.decode("utf-8", "replace") for row in line.before],
        after=[row.decode("utf-8", "replace") for row in line.after],
        line_fragments=[LineFragment(offset, length) for offset, length in line.fragments],
        lossy=lossy,
    )


def fits(files: Sequence[engine.FileMatch]) -> bool:
    """Does this page keep the reply within its budget of 2 MiB (decision 15)?"""
    room = BUDGET_BYTES - _ENVELOPE_BYTES
    return _size(files, room) <= room


def _size(files: Sequence[engine.FileMatch], room: int) -> int:
    """Bytes of JSON; an upper bound where that is enough to know that it fits."""
    bound = _at_most(files)
    return bound if bound <= room else len(dumps(_files_wire(file_matches(files))))


def everything_fits(pages: Sequence[RepositoryFiles]) -> bool:
    """The same for a page of several repositories; each file also names its own."""
    room = BUDGET_BYTES - _ENVELOPE_BYTES
    names = sum(len(page.files) * (_LINE_BYTES + len(page.name)) for page in pages)
    return sum(_size(page.files, room) for page in pages) + names <= room


def _at_most(files: Sequence[engine.FileMatch]) -> int:
    """An upper bound of the JSON of a page, without making it."""
    total = 0
    for file in files:
        total += 256 + _WORST_ESCAPE * len(file.path)
        for line in file.lines:
            text = len(line.text) + sum(map(len, line.before)) + sum(map(len, line.after))
            rows = 1 + len(line.before) + len(line.after)
            total += _WORST_ESCAPE * text + _LINE_BYTES * rows
            total += _FRAGMENT_BYTES * len(line.fragments)
    return total


def answer_body(answer: SearchAnswer) -> bytes:
    """The reply of contract 3.4 as bytes."""
    result = answer.result
    wire: dict[str, Any] = {
        "Duration": result.duration,
        "FileCount": result.file_count,
        "MatchCount": result.match_count,
        "LineCount": result.line_count,
        "Files": _files_wire(result.files),
    }
    if result.explain is not None:
        wire["Explain"] = result.explain
    return dumps({"Result": wire, "Meta": to_wire(answer.meta, "pascal")})


def _files_wire(files: Iterable[FileMatch]) -> list[dict[str, Any]]:
    """What `to_wire` would make of them, at a fifth of its cost; a test compares the two."""
    rows = []
    for file in files:
        row: dict[str, Any] = {
            "FileName": file.file_name,
            "Language": file.language,
            "BlobOID": file.blob_oid,
        }
        if file.repository is not None:
            row["Repository"], row["Commit"] = file.repository, file.commit
        if file.line_matches is not None:
            row["LineMatches"] = [_line_wire(line) for line in file.line_matches]
        rows.append(row)
    return rows


def _line_wire(line: LineMatch) -> dict[str, Any]:
    row: dict[str, Any] = {
        "LineNumber": line.line_number,
        "Line": line.line,
        "Before": line.before,
        "After": line.after,
        "LineFragments": [
            {"LineOffset": part.line_offset, "MatchLength": part.match_length}
            for part in line.line_fragments
        ],
    }
    if line.lossy:
        row["Lossy"] = True
    return row
