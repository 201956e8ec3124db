"""Replies as text for people; for programs there is the raw JSON.

Each function takes the decoded reply and gives lines. They tolerate missing fields: the
server may be of another version.
"""

from collections.abc import Callable, Iterator
from typing import Any

from sourcegraph_site.cli.flags import Parsed
from sourcegraph_site.cli.paint import Paint, clean

Lines = Iterator[str]
Row = dict[str, Any]


def render(operation: str, data: Any, parsed: Parsed, paint: Paint) -> Lines:
    """Raises KeyError, TypeError or AttributeError for a reply of another shape."""
    return _RENDERERS[operation](data, parsed, paint)


def more(cursor: Any, paint: Paint) -> Lines:
    """How to get the next page."""
    if cursor:
        yield paint.dim(f"more: repeat with -after {cursor}")


def short(commit: Any) -> str:
    return str(commit or "")[:12]


def _search(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    result, meta = data["Result"], data["Meta"]
    files = result.get("Files") or []
    for number, file in enumerate(files):
        matches = file.get("LineMatches") or []
        if number and matches:
            yield ""
        name = file["FileName"]
        yield paint.path(f"{file['Repository']}:{name}" if "Repository" in file else name)
        yield from _matches(matches, paint)
    if files:
        yield ""
    yield from _search_summary(result, meta, paint)


def _matches(matches: list[Row], paint: Paint) -> Lines:
    """ripgrep's form: `12:match`, `13-context`, `--` between blocks that do not touch."""
    last = 0
    context = any(m.get("Before") or m.get("After") for m in matches)
    for index, match in enumerate(matches):
        number = match["LineNumber"]
        before, after = match.get("Before") or [], match.get("After") or []
        if context and last and number - len(before) > last + 1:
            yield "--"
        for offset, line in enumerate(before):
            where = number - len(before) + offset
            if where > last:
                yield f"{paint.line(where)}-{paint.dim(line)}"
        yield f"{paint.line(number)}:{_highlighted(match, paint)}"
        last = number
        following = matches[index + 1]["LineNumber"] if index + 1 < len(matches) else None
        for offset, line in enumerate(after, 1):
            if following is not None and number + offset >= following:
                break
            yield f"{paint.line(number + offset)}-{paint.dim(line)}"
            last = number + offset


def _highlighted(match: Row, paint: Paint) -> str:
    """The line with its fragments marked. Offsets count bytes of the original line, so they
    do not fit a line of which some bytes were replaced."""
    line: str = match["Line"]
    if match.get("Lossy"):
        return paint.bold(line)
    data, done, parts = line.encode(), 0, []
    for fragment in match.get("LineFragments") or []:
        start = fragment["LineOffset"]
        end = start + fragment["MatchLength"]
        parts.append(
            _piece(data[done:start]) + paint.match(data[start:end].decode("utf-8", "replace"))
        )
        done = end
    return "".join(parts) + _piece(data[done:])


def _piece(data: bytes) -> str:
    return clean(data.decode("utf-8", "replace"))


def _search_summary(result: Row, meta: Row, paint: Paint) -> Lines:
    about = "at least " if meta.get("Partial") else ""
    files, matches = result.get("FileCount", 0), result.get("MatchCount", 0)
    counts = about + f"{files} file{'' if files == 1 else 's'}"
    counts += f", {matches} match{'' if matches == 1 else 'es'}"
    where = meta.get("Repository")
    place = f" in {where} at {short(meta.get('Commit'))}" if where else ""
    took = f", {result['Duration'] / 1e6:.1f} ms" if "Duration" in result else ""
    yield paint.dim(counts + place + took)
    if meta.get("Partial"):
        yield paint.dim(f"stopped early: {meta.get('PartialReason', 'limit reached')}")
    for row in meta.get("Repositories") or []:
        if row.get("Code"):
            yield paint.dim(f"{row['Repository']}: {row['Code']}")
    yield from more(meta.get("NextCursor"), paint)


def _read(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    yield from _file(data, paint)


def _file(file: Row, paint: Paint) -> Lines:
    via = f" (via {file['Via']})" if file.get("Via") else ""
    yield paint.path(file["Path"]) + paint.dim(f"{via} at {short(file['Commit'])}")
    if file.get("FollowError"):
        yield paint.dim(f"the link cannot be followed: {file['FollowError']}")
    if file["Kind"] == "submodule":
        yield paint.dim("a submodule: its content lies in another repository")
    content = file["Content"]
    rows = content.removesuffix("\n").split("\n") if content else []
    start = file.get("ReturnedStartLine") or 1
    width = len(str(start + len(rows)))
    for number, row in enumerate(rows, start):
        yield f"{paint.line(str(number).rjust(width))}  {clean(row.removesuffix(chr(13)))}"
    if file.get("NextStartLine"):
        yield paint.dim(f"more: -start-line {file['NextStartLine']}")


def _read_many(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    for number, item in enumerate(data["Items"]):
        if number:
            yield ""
        if item.get("File"):
            yield from _file(item["File"], paint)
        else:
            yield paint.path(parsed.rest[item["Index"]])
        if item.get("Error"):
            yield paint.removed(f"{item['Error']['Code']}: {item['Error']['Message']}")


def _list(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    for row in data["Entries"]:
        size = "" if row.get("Size") is None else str(row["Size"])
        name = row["Name"] + ("/" if row["Kind"] == "directory" else "")
        target = row.get("Target") or row.get("FollowError")
        arrow = f" -> {target}" if target else ""
        shown = paint.key(name) if row["Kind"] == "directory" else clean(name)
        yield f"{size:>10}  {shown}{paint.dim(arrow)}"
    if data.get("UnsupportedPathsSkipped"):
        yield paint.dim("some names cannot be addressed and are not shown")
    yield from more(data.get("NextCursor"), paint)


def _diff(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    yield paint.dim(f"{short(data['BaseCommit'])}..{short(data['HeadCommit'])}")
    for change in data["Changes"]:
        old = f"{change['OldPath']} -> " if change.get("OldPath") else ""
        yield f"{paint.key(change['ChangeKind'])} {paint.path(old + change['Path'])}"
        if change.get("Binary"):
            yield paint.dim("  binary")
        if change.get("PatchTruncated"):
            yield paint.dim("  the patch is too large; read the file")
        for line in change["Patch"].removesuffix("\n").split("\n") if change["Patch"] else []:
            yield _patch_line(line, paint)
    yield from more(data.get("NextCursor"), paint)


def _patch_line(line: str, paint: Paint) -> str:
    colour = {"+": paint.added, "-": paint.removed, "@": paint.key}.get(line[:1])
    return colour(line) if colour else clean(line)


def _find(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    for file in data["Files"]:
        yield paint.path(file["Path"])
    yield from more(data.get("NextCursor"), paint)


def _log(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    for row in data["Commits"]:
        old = f" ({row['OldPath']} -> {row['Path']})" if row.get("OldPath") else ""
        yield (
            f"{paint.key(short(row['Commit']))} {paint.dim(row['CommitterTime'][:10])}"
            f" {paint.line(row['AuthorName'])} {clean(row['Subject'])}{paint.dim(old)}"
        )
    yield from more(data.get("NextCursor"), paint)


def _blame(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    yield paint.path(data["Path"]) + paint.dim(f" at {short(data['Commit'])}")
    for row in data["Lines"]:
        moved = row["OriginalPath"] != data["Path"]
        origin = f" {row['OriginalPath']}:{row['OriginalLine']}" if moved else ""
        yield (
            f"{paint.line(str(row['Line']).rjust(6))}  {paint.key(short(row['Commit']))}"
            f" {paint.dim(row['AuthorTime'][:10])} {clean(row['AuthorName'])}"
            f"{paint.dim(origin)}"
        )


def _resolve(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    for key, value in data.items():
        yield f"{paint.key(key.rjust(14))}  {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return clean(str(value))


def _refs(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    for row in data["refs"]:
        commit = short(row.get("commit") or row.get("object"))
        when = str(row.get("created_at") or "")[:10]
        mark = "*" if row.get("indexed") else " "
        title = clean(str(row.get("title") or ""))
        yield f"{mark} {paint.key(commit)} {paint.dim(when)} {paint.path(row['name'])} {title}"
    catalog = data.get("catalog") or {}
    if catalog.get("state") not in (None, "ready"):
        yield paint.dim(f"the catalog is {catalog['state']} {catalog.get('reason', '')}".rstrip())
    if data.get("hint"):
        yield paint.dim(data["hint"])
    yield from more(data.get("next_cursor"), paint)


def _repositories(data: list[Row], parsed: Parsed, paint: Paint) -> Lines:
    for row in data:
        heads, branch = row.get("heads") or {}, row.get("default_branch") or ""
        head = heads.get(branch) or next(iter(heads.values()), "")
        ready = f"{row.get('published_index_count', 0)}/{row.get('version_count', 0)} indexed"
        state = "" if row.get("enabled", True) else " disabled"
        yield (
            f"{paint.path(row['name'])}  {clean(branch)} {paint.key(short(head))}"
            f"  {paint.dim(ready + state)}"
        )
    if len(data) >= 100:
        yield from more(data[-1].get("repo_id"), paint)


def _availability(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    versions = data.get("versions") or []
    indexed = sum(1 for version in versions if version.get("indexed"))
    yield f"{paint.path(data['name'])}  {paint.dim(str(data.get('index_mode') or ''))}"
    synced = data.get("observed_at") or "never"
    yield clean(f"{indexed} of {len(versions)} versions indexed, synced {synced}")
    for branch, commit in (data.get("heads") or {}).items():
        yield f"{paint.key(short(commit))} {clean(branch)}"
    for job in data.get("jobs") or []:
        if job["state"] in ("queued", "running"):
            yield f"{paint.bold(job['state'])} {job['kind']} {paint.dim(job['job_id'])}"
    if data.get("last_error"):
        yield paint.removed(f"last sync: {data['last_error']}")


def _prepare(data: Row, parsed: Parsed, paint: Paint) -> Lines:
    for job in data.get("jobs", [data]):
        yield f"{paint.bold(job['state'])} {job['kind']} {paint.dim(job['job_id'])}"
    if data.get("jobs") == []:
        yield "nothing to do: it is ready"


Renderer = Callable[[Any, Parsed, Paint], Lines]
_RENDERERS: dict[str, Renderer] = {
    "repositories": _repositories,
    "availability": _availability,
    "resolve": _resolve,
    "refs": _refs,
    "search": _search,
    "find": _find,
    "read": _read,
    "read-many": _read_many,
    "list": _list,
    "diff": _diff,
    "log": _log,
    "blame": _blame,
    "prepare": _prepare,
}
