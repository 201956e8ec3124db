"""What an answer costs an agent: characters over MCP, against the shell and against raw JSON.

    .venv/bin/python -m tests.benchmarks.agent_cost

Twenty typical tasks on this checkout's own last commit. The shell column is what an agent with
a clone would read (`rg -n`, `cat -n`, `git diff` …, of ripgrep and Git as installed); the JSON
column is the REST reply. Prints the table of docs/agents.md.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REPO = "bench/repository"
LINES = "nl -ba {path} | sed -n {first},{last}p"

# (what, tool, arguments, the same in a shell)
Task = tuple[str, str, dict[str, Any], str]


def read(path: str, first: int, last: int) -> tuple[str, dict[str, Any], str]:
    arguments = {"path": path, "start_line": first, "end_line": last}
    return "read", arguments, LINES.format(path=path, first=first, last=last)


TASKS: list[Task] = [
    (
        "find a function's definition",
        "search",
        {"pattern": r"^def resolve_commit\b"},
        r"rg -n '^def resolve_commit\b'",
    ),
    (
        "find a class by part of its name",
        "search",
        {"pattern": r"^class \w*NotReady\b"},
        r"rg -n '^class \w*NotReady\b'",
    ),
    (
        "find all callers of a function",
        "search",
        {"pattern": r"\bopen_snapshot\("},
        r"rg -n '\bopen_snapshot\('",
    ),
    (
        "find callers, with two lines of context",
        "search",
        {"pattern": r"\bget_visible\(", "context_lines": 2},
        r"rg -n -C2 '\bget_visible\('",
    ),
    ("find a common word", "search", {"pattern": "deadline"}, "rg -n deadline"),
    (
        "find a common word, three lines a file",
        "search",
        {"pattern": "deadline", "max_lines_per_file": 3},
        "rg -n -m3 deadline",
    ),
    (
        "which files mention a word",
        "search",
        {"pattern": "commit", "output": "files"},
        "rg -l commit",
    ),
    (
        "find an error code, everywhere",
        "search",
        {"pattern": "REVISION_NOT_ELIGIBLE", "fixed_strings": True},
        "rg -nF REVISION_NOT_ELIGIBLE",
    ),
    (
        "find imports of a module in one folder",
        "search",
        {"pattern": r"from readers\.", "paths": ["readers"]},
        r"rg -n 'from readers\.' readers",
    ),
    (
        "find a setting, ignoring case",
        "search",
        {"pattern": "local_remotes", "ignore_case": True},
        "rg -ni local_remotes",
    ),
    (
        "look for something that is not there",
        "search",
        {"pattern": "FrobnicateQuux"},
        "rg -n FrobnicateQuux",
    ),
    (
        "find files by name",
        "find",
        {"query": "test_*.py", "first": 100},
        "rg --files -g 'test_*.py'",
    ),
    ("list a folder", "list", {"path": "repos", "first": 100}, "ls -l repos"),
    ("read 20 lines round a hit", *read("repos/revisions.py", 60, 80)),
    ("read 100 lines", *read("repos/revisions.py", 1, 100)),
    ("read a short file", *read("sourcegraph_site/kernel/clock.py", 1, 500)),
    ("read the first 500 lines of a long one", *read("search/kernel/kernel.rs", 1, 500)),
    (
        "read three ranges",
        "read_many",
        {
            "files": [
                {"path": "repos/access.py", "start_line": 30, "end_line": 60},
                {"path": "repos/errors.py", "start_line": 1, "end_line": 40},
                {"path": "readers/links.py", "start_line": 1, "end_line": 60},
            ]
        },
        " && ".join(
            LINES.format(path=path, first=first, last=last)
            for path, first, last in (
                ("repos/access.py", 30, 60),
                ("repos/errors.py", 1, 40),
                ("readers/links.py", 1, 60),
            )
        ),
    ),
    (
        "compare with three commits before",
        "diff",
        {"base": "HEAD~3", "head": "HEAD", "first": 100},
        "git diff HEAD~3 HEAD",
    ),
    (
        "last ten commits of a file",
        "log",
        {"path": "repos/access.py", "first": 10},
        "git log -n10 repos/access.py",
    ),
]


def sh(command: str, folder: Path) -> str:
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    return done.stdout.decode("utf-8", "replace")


def prepare(clone: Path) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from repos.usecases.register_repository import RegisterRepository, register_repository
    from sourcegraph_site.kernel.actor import OPERATOR
    from sourcegraph_site.kernel.inputs import parse
    from tests.support.jobs import run_pending_jobs

    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    policy = {"default_branch": True, "count": 10}
    fields = {"name": REPO, "url": clone.resolve().as_uri(), "policy": policy}
    register_repository(OPERATOR, parse(RegisterRepository, fields))
    run_pending_jobs()


def over_mcp(tool: str, arguments: dict[str, Any]) -> int:
    from sourcegraph_site.kernel.actor import OPERATOR
    from sourcegraph_site.mcp.call import call_tool
    from sourcegraph_site.mcp.registry import Caller, tools

    result = call_tool(tools()[tool], Caller(OPERATOR), {"repo": REPO, **arguments})
    if result.get("isError"):
        raise SystemExit(f"{tool} {arguments}: {result['content'][0]['text']}")
    return sum(len(block["text"]) for block in result["content"])


def over_rest(tool: str, arguments: dict[str, Any]) -> int:
    from django.test import Client

    from sourcegraph_site.kernel.wire import pascal

    def spelled(value: Any) -> Any:
        if isinstance(value, dict):
            return {pascal(name): spelled(item) for name, item in value.items()}
        return [spelled(item) for item in value] if isinstance(value, list) else value

    body = spelled(arguments)
    for name, wire in (("ContextLines", "Context"), ("MaxLinesPerFile", "")):
        value = body.pop(name, None)
        if value is not None and wire:
            body[wire] = value
    route = "/api/search" if tool == "search" else f"/v1/repo/{tool}"
    response = Client(HTTP_HOST="localhost").post(
        f"/sourcegraph{route}?repo={REPO}", json.dumps(body), "application/json"
    )
    if response.status_code != 200:
        raise SystemExit(f"{route} {body}: {response.content!r}")
    return len(response.content.decode())


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch) / "clone"
        sh(f"git clone --quiet '{ROOT}' '{clone}'", ROOT)
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "sourcegraph_site.settings",
            "SOURCEGRAPH_DATA_ROOT": f"{scratch}/data",
            "SOURCEGRAPH_LOCAL_REMOTES": scratch,
            "SOURCEGRAPH_MIN_FREE_BYTES": "0",
            "SOURCEGRAPH_LOG_LEVEL": "ERROR",
        }
        prepare(clone)
        commits = {name: sh(f"git rev-parse {name}", clone).strip() for name in ("HEAD", "HEAD~3")}
        print("| task | MCP | shell | JSON |\n|---|--:|--:|--:|")
        sums = [0, 0, 0]
        for what, tool, arguments, command in TASKS:
            given = {name: commits.get(str(value), value) for name, value in arguments.items()}
            row = [over_mcp(tool, given), len(sh(command, clone)), over_rest(tool, given)]
            sums = [total + one for total, one in zip(sums, row, strict=True)]
            print(f"| {what} | " + " | ".join(f"{n:,}" for n in row) + " |")
        print("| **all twenty** | " + " | ".join(f"**{n:,}**" for n in sums) + " |")


if __name__ == "__main__":
    main()
