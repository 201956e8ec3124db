"""Debian's ripgrep as the oracle."""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.search.against_rg.query import Hits, Query, Refused

_PATIENCE_S = 60
_FLAGS = ("--no-config", "--hidden", "--no-ignore", "--sort", "path")


class TooSlow(Exception):
    """ripgrep was not done with this query after a minute; some take it very much longer."""


def ensure_ripgrep() -> str:
    """The path of `rg`, which Debian's package provides; installed if we may.

    A comparison that did not take place must not look like one that passed: without ripgrep
    this raises.
    """
    if shutil.which("rg") is None and os.geteuid() == 0:
        subprocess.run(["apt-get", "install", "-y", "-q", "ripgrep"], check=False, timeout=300)
    found = shutil.which("rg")
    if found is None:
        raise AssertionError("ripgrep is missing: run `apt-get install ripgrep` as root.")
    return found


def search(root: Path, query: Query, paths: tuple[str, ...] = (".",)) -> Hits | Refused:
    """Every matching line below `root`, or ripgrep's message."""
    done = _run(root, query, [*_FLAGS, "--json"], paths)
    if done.returncode == 2:
        return Refused(done.stderr.decode(errors="replace").strip())
    hits: Hits = {}
    for event in map(json.loads, done.stdout.splitlines()):
        if event["type"] == "match":
            data = event["data"]
            path = _bytes(data["path"]).decode().removeprefix("./")
            spans = tuple((each["start"], each["end"]) for each in data["submatches"])
            line = _bytes(data["lines"]).removesuffix(b"\n")
            hits.setdefault(path, []).append((data["line_number"], line, spans))
    return hits


def matches_by_file(root: Path, query: Query) -> dict[str, int] | Refused:
    """How many matches each file below `root` has, or ripgrep's message."""
    done = _run(root, query, [*_FLAGS, "--count-matches", "--null", "--with-filename"], (".",))
    if done.returncode == 2:
        return Refused(done.stderr.decode(errors="replace").strip())
    # "./path", NUL, count, newline; a path may hold a newline, a count cannot.
    counts: dict[str, int] = {}
    path, *rows = done.stdout.split(b"\0")
    for row in rows:
        count, _, following = row.partition(b"\n")
        counts[path.decode().removeprefix("./")] = int(count)
        path = following
    return counts


def _run(
    root: Path, query: Query, flags: Sequence[str], paths: Sequence[str]
) -> subprocess.CompletedProcess[bytes]:
    command = [ensure_ripgrep(), *flags]
    command += ["-i"] if query.ignore_case else []
    command += ["-F"] if query.fixed_strings else []
    for glob in query.globs:
        command += ["-g", glob]
    command += ["-e", query.pattern, "--", *paths]
    try:
        return subprocess.run(command, cwd=root, capture_output=True, timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired as exc:
        raise TooSlow(query) from exc


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])
