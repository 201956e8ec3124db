"""The operations: which flags each takes, and which HTTP request it makes of them.

Everything that parses, explains or completes a command line is made from `OPERATIONS`. The
flags of contract 7 are accepted by every one of its eight operations, as the first program of
this name did; one that has no effect there is reported on stderr.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sourcegraph_site.cli.client import Request
from sourcegraph_site.cli.errors import UsageError
from sourcegraph_site.cli.flags import Flag, Parsed

REPO = Flag("repo", "repository, as owner/name")
REVISION = Flag("revision", "monitored branch or full SHA; default branch if left out")
PATH = Flag("path", "file or directory, from the repository's root")
START = Flag("start-line", "first line", "number", 1)
END = Flag("end-line", "last line, included", "number", 100)
FIRST = Flag("first", "page size", "number", 100)
AFTER = Flag("after", "cursor of the page before")
BASE = Flag("base", "old side: monitored branch or full SHA")
HEAD = Flag("head", "new side: monitored branch or full SHA")
KIND = Flag("kind", "index or sync", default="index", choices=("index", "sync"))
KEY = Flag("key", "idempotency key: the same key and request give the same job")
PATTERN = Flag("e", "pattern, instead of the first argument")
FIXED = Flag("F", "the pattern is literal text", "switch")
CASE = Flag("i", "ignore case", "switch")
NAMES = Flag("l", "paths only", "switch")
GLOB = Flag("g", "glob to include, or !glob to exclude; repeatable", "list")

DOCUMENTED = (
    *(REPO, REVISION, PATTERN, FIXED, CASE, NAMES, GLOB, PATH, START, END),
    *(FIRST, AFTER, BASE, HEAD, KEY, KIND),
)
OUTPUT = (
    Flag("json", "raw JSON, also on a terminal", "switch"),
    Flag("color", "auto, always or never", default="auto", choices=("auto", "always", "never")),
)


@dataclass(frozen=True, slots=True)
class Operation:
    """`arguments` describes what follows the flags; `documented`: one of contract 7's eight."""

    name: str
    summary: str
    build: Callable[[Parsed], Request]
    flags: tuple[Flag, ...] = ()
    arguments: str = ""
    documented: bool = False

    @property
    def accepted(self) -> tuple[Flag, ...]:
        own = {flag.name for flag in self.flags}
        others = tuple(f for f in DOCUMENTED if f.name not in own) if self.documented else ()
        return (*self.flags, *others, *OUTPUT)

    def without_effect(self, parsed: Parsed) -> list[str]:
        used = {flag.name for flag in (*self.flags, *OUTPUT)}
        return sorted(parsed.given - used)


def _repo(parsed: Parsed) -> dict[str, str]:
    if not parsed["repo"]:
        raise UsageError("-repo is required")
    return {"repo": parsed["repo"]}


def _required(parsed: Parsed, name: str) -> Any:
    if not parsed[name]:
        raise UsageError(f"-{name} is required")
    return parsed[name]


def _nothing_else(parsed: Parsed) -> None:
    if parsed.rest:
        raise UsageError(f"unexpected argument: {parsed.rest[0]}")


def _given(parsed: Parsed, names: dict[str, str]) -> dict[str, Any]:
    """Additions to the documented request are sent only when they were asked for, so that
    servers without them are not troubled."""
    return {wire: parsed[name] for name, wire in names.items() if name in parsed.given}


def _post(route: str, parsed: Parsed, body: dict[str, Any]) -> Request:
    return Request("POST", route, _repo(parsed), body)


def _repositories(parsed: Parsed) -> Request:
    _nothing_else(parsed)
    return Request("GET", "/v1/repos", {"after": parsed["after"]} if parsed["after"] else {})


def _availability(parsed: Parsed) -> Request:
    _nothing_else(parsed)
    return Request("GET", "/v1/repo/availability", _repo(parsed))


def _resolve(parsed: Parsed) -> Request:
    _nothing_else(parsed)
    return _post("/v1/repo/resolve", parsed, {"Revision": parsed["revision"]})


def _refs(parsed: Parsed) -> Request:
    _nothing_else(parsed)
    names = ("kind", "query", "author", "title", "since", "until", "sort", "first", "after")
    query = {name: str(parsed[name]) for name in names if name in parsed.given}
    return Request("GET", "/v1/repo/refs", {**_repo(parsed), **query})


def _search(parsed: Parsed) -> Request:
    words = list(parsed.rest)
    if "e" in parsed.given:
        pattern = parsed["e"]
    elif words:
        pattern = words.pop(0)
    else:
        raise UsageError("a pattern is required")
    body: dict[str, Any] = {
        "Revision": parsed["revision"],
        "Pattern": pattern,
        "FixedStrings": parsed["F"],
        "IgnoreCase": parsed["i"],
        "Output": "files" if parsed["l"] else "content",
    }
    if parsed["g"]:
        body["Glob"] = parsed["g"]
    if words:
        body["Paths"] = words
    body |= _given(
        parsed,
        {
            "C": "Context",
            "max-files": "MaxFiles",
            "max-matches": "MaxMatches",
            "language": "Language",
            "after": "After",
            "repos": "Repos",
        },
    )
    return Request("POST", "/api/search", {"repo": parsed["repo"]} if parsed["repo"] else {}, body)


def _find(parsed: Parsed) -> Request:
    if len(parsed.rest) != 1:
        raise UsageError("exactly one name or glob is required")
    body = {"Revision": parsed["revision"], "Query": parsed.rest[0]}
    body |= _given(parsed, {"mode": "Mode", "first": "First", "after": "After"})
    return _post("/v1/repo/find", parsed, body)


def _lines(parsed: Parsed) -> dict[str, Any]:
    return {
        "Revision": parsed["revision"],
        "Path": _required(parsed, "path"),
        "StartLine": parsed["start-line"],
        "EndLine": parsed["end-line"],
    }


def _read(parsed: Parsed) -> Request:
    _nothing_else(parsed)
    return _post("/v1/repo/read", parsed, _lines(parsed))


_RANGE = re.compile(r"(?P<path>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?")


def _read_many(parsed: Parsed) -> Request:
    if not parsed.rest:
        raise UsageError("at least one PATH or PATH:FIRST-LAST is required")
    files = [_item(word) for word in parsed.rest]
    body = {"Revision": parsed["revision"], "Files": files}
    return _post("/v1/repo/read_many", parsed, body)


def _item(word: str) -> dict[str, Any]:
    """`a.py`, `a.py:10` (from there on) or `a.py:10-20`."""
    match = _RANGE.fullmatch(word)
    if match is None:
        return {"Path": word}
    item: dict[str, Any] = {"Path": match["path"], "StartLine": int(match["first"])}
    if match["last"]:
        item["EndLine"] = int(match["last"])
    return item


def _list(parsed: Parsed) -> Request:
    _nothing_else(parsed)
    names = {"revision": "Revision", "path": "Path", "first": "First", "after": "After"}
    return _post("/v1/repo/list", parsed, {wire: parsed[name] for name, wire in names.items()})


def _diff(parsed: Parsed) -> Request:
    body: dict[str, Any] = {
        "Base": _required(parsed, "base"),
        "Head": _required(parsed, "head"),
        "First": parsed["first"],
        "After": parsed["after"],
    }
    if parsed.rest:
        body["Paths"] = parsed.rest
    return _post("/v1/repo/diff", parsed, body | _given(parsed, {"renames": "Renames"}))


def _log(parsed: Parsed) -> Request:
    _nothing_else(parsed)
    body = {"Revision": parsed["revision"], "First": parsed["first"], "After": parsed["after"]}
    body |= _given(parsed, {"path": "Path", "first-parent": "FirstParent"})
    return _post("/v1/repo/log", parsed, body)


def _blame(parsed: Parsed) -> Request:
    _nothing_else(parsed)
    return _post("/v1/repo/blame", parsed, _lines(parsed))


def _prepare(parsed: Parsed) -> Request:
    _nothing_else(parsed)
    headers = {"Idempotency-Key": parsed["key"]} if parsed["key"] else {}
    if "\n" in parsed["key"] or "\r" in parsed["key"]:
        raise UsageError("-key must be one line")
    body = {"kind": parsed["kind"], "commit": parsed["revision"]}
    return Request("POST", "/api/admin/v1/repo/prepare", _repo(parsed), body, headers)


_PAGE = Flag("first", "page size", "number", 30)
_ALL = (
    Operation("repositories", "list repositories", _repositories, (AFTER,), documented=True),
    Operation(
        "availability", "versions, indexes and jobs", _availability, (REPO,), documented=True
    ),
    Operation("resolve", "revision to commit", _resolve, (REPO, REVISION), documented=True),
    Operation(
        "refs",
        "list branches and tags",
        _refs,
        (
            REPO,
            Flag("kind", "branch, tag or all", choices=("branch", "tag", "all")),
            Flag("query", "part of the name"),
            Flag("author", "part of the author or tagger"),
            Flag("title", "part of the commit title or tag message"),
            Flag("since", "RFC 3339 time or YYYY-MM-DD"),
            Flag("until", "RFC 3339 time or YYYY-MM-DD"),
            Flag("sort", "created or name", choices=("created", "name")),
            _PAGE,
            AFTER,
        ),
    ),
    Operation(
        "search",
        "search file contents",
        _search,
        (
            REPO,
            Flag("repos", "without -repo: glob over repository names; repeatable", "list"),
            REVISION,
            *(PATTERN, FIXED, CASE, NAMES, GLOB),
            Flag("C", "lines of context", "number", 0),
            Flag("language", "one language"),
            Flag("max-files", "files a page", "number", 100),
            Flag("max-matches", "matching lines a page", "number", 1000),
            AFTER,
        ),
        "[PATTERN] [PATH...]",
        documented=True,
    ),
    Operation(
        "find",
        "find files by name",
        _find,
        (
            *(REPO, REVISION),
            Flag("mode", "glob or fuzzy", choices=("glob", "fuzzy")),
            *(_PAGE, AFTER),
        ),
        "NAME",
    ),
    Operation(
        "read",
        "read lines of a file",
        _read,
        (REPO, REVISION, PATH, START, END),
        documented=True,
    ),
    Operation(
        "read-many",
        "read several files or ranges",
        _read_many,
        (REPO, REVISION),
        "PATH[:FIRST[-LAST]]...",
    ),
    Operation(
        "list", "list a directory", _list, (REPO, REVISION, PATH, FIRST, AFTER), documented=True
    ),
    Operation(
        "diff",
        "compare two commits",
        _diff,
        (REPO, BASE, HEAD, FIRST, AFTER, Flag("renames", "detect renamed files", "switch")),
        "[PATH...]",
        documented=True,
    ),
    Operation(
        "log",
        "list commits",
        _log,
        (
            *(REPO, REVISION, PATH),
            Flag("first-parent", "follow first parents only", "switch"),
            *(_PAGE, AFTER),
        ),
    ),
    Operation("blame", "who changed lines", _blame, (REPO, REVISION, PATH, START, END)),
    Operation(
        "prepare",
        "queue indexing or a sync",
        _prepare,
        (REPO, REVISION, KIND, KEY),
        documented=True,
    ),
)
OPERATIONS = {operation.name: operation for operation in _ALL}
