"""From a push to an answer: how long until a line that was just pushed is found.

    .venv/bin/python -m tests.benchmarks.push git.git [--pushes 40] [--files 3] [--jobs 2]

The argument is a bare repository; a copy of it is served by `git http-backend` on this machine.
An instance (`manage.py serve`: web server, workers, beat) registers it and indexes it first. Then
each round commits a new line to some files, delivers a signed webhook, and searches over REST for
the line until it is found at the new head. The clock starts when the push is done, before the
webhook is sent. DATABASE_URL and REDIS_URL are used if they are set; else SQLite and files.

Prints what was searched, each time in seconds, and the median, p95 and the longest.
"""

import argparse
import hashlib
import hmac
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.ops.instance import Instance, instance, until
from tests.support.git_remote import ENVIRONMENT, GitRemote, git
from tests.support.http_remote import HttpRemote

NAME = "bench/pushed"
TOKEN = "benchmark-credential-of-this-process-alone"
SETUP = """
import json, pathlib
from repos.usecases.register_repository import RegisterRepository, register_repository
from repos.usecases.manage_webhooks import WebhooksOf, create_webhook
from sourcegraph_site.kernel.actor import OPERATOR
from sourcegraph_site.kernel.inputs import parse
register_repository(OPERATOR, parse(RegisterRepository, {{
    "name": {name!r}, "url": {url!r}, "policy": {{"default_branch": True, "count": 50}}}}))
hook = create_webhook(OPERATOR, WebhooksOf(repo={name!r}))
pathlib.Path({out!r}).write_text(json.dumps([hook.id, hook.secret]))
"""


def copy_of(source: Path, root: Path) -> GitRemote:
    """The branch that HEAD of `source` is on, as `main` of a repository below `root`."""
    remote = GitRemote(root / f"{NAME}.git")
    head = git(source, "symbolic-ref", "HEAD").decode().strip()
    subprocess.run(
        ["git", f"--git-dir={remote.path}", "fetch", "-q", str(source), f"{head}:refs/heads/main"],
        check=True,
        env=ENVIRONMENT,
    )
    return remote


def text_bytes(remote: GitRemote) -> tuple[int, int]:
    """Files of the head, and how many bytes they have."""
    out = git(remote.path, "ls-tree", "-r", "-l", "main").decode("utf-8", "replace")
    sizes = [row.split()[3] for row in out.splitlines()]
    return len(sizes), sum(int(size) for size in sizes if size.isdigit())


def post(url: str, body: bytes, headers: dict[str, str]) -> dict:
    sent = {"Content-Type": "application/json", **headers}
    with urllib.request.urlopen(urllib.request.Request(url, body, sent), timeout=60) as answer:
        return json.load(answer)


def found(running: Instance, word: str) -> str:
    """The commit at which the word is found by a search of the default branch, or ""."""
    body = json.dumps({"Pattern": word, "FixedStrings": True}).encode()
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    try:
        answer = post(f"{running.url}api/search?repo={NAME}", body, bearer)
    except urllib.error.HTTPError as exc:
        assert exc.code in (409, 429, 503), exc.read()  # INDEX_NOT_READY meanwhile
        return ""
    return answer["Meta"]["Commit"] if answer["Result"]["Files"] else ""


def push_once(
    running: Instance, remote: GitRemote, hook: tuple[str, str], paths: list[str], files: int
) -> float:
    word = f"pushed_{random.getrandbits(64):x}"
    chosen = random.sample(paths, files)
    change = {
        path: git(remote.path, "cat-file", "blob", f"main:{path}") + f"\n{word}\n".encode()
        for path in chosen
    }
    commit = remote.commit(change, time=int(time.time()))
    began = time.monotonic()
    body = b'{"ref":"refs/heads/main"}'
    signed = hmac.new(hook[1].encode(), body, hashlib.sha256).hexdigest()
    address = f"{running.url}webhooks/{hook[0]}"
    post(address, body, {"X-Hub-Signature-256": f"sha256={signed}"})
    while found(running, word) != commit:
        time.sleep(0.05)
    return time.monotonic() - began


def measure(source: Path, pushes: int, files: int, jobs: int) -> list[float]:
    root = Path(tempfile.mkdtemp(prefix="sg-push-"))
    server = HttpRemote(root / "served")
    try:
        remote = copy_of(source, server.root)
        paths = git(remote.path, "ls-tree", "-r", "--name-only", "main").decode().splitlines()
        paths = [path for path in paths if path.endswith((".c", ".h", ".py", ".java", ".go"))]
        count, size = text_bytes(remote)
        print(f"{source.name}: {count:,} files, {size / 1e6:.1f} MB at the head")
        servers = {
            key: os.environ[key] for key in ("DATABASE_URL", "REDIS_URL") if key in os.environ
        }
        (root / "data").mkdir()
        with instance(
            "--no-demo",
            data=root / "data",
            SOURCEGRAPH_ALLOWED_REMOTES=server.origin,
            SOURCEGRAPH_API_TOKEN=TOKEN,
            SOURCEGRAPH_JOB_PROCESSES=str(jobs),
            **servers,
        ) as running:
            out = root / "hook.json"
            running.run(SETUP.format(name=NAME, url=server.url(NAME), out=str(out)))
            hook = tuple(json.loads(out.read_text()))
            busy = "SELECT 1 FROM jobs_job WHERE state IN ('queued', 'running')"
            until(
                "the first index", lambda: running.rows("SELECT 1 FROM repos_version WHERE indexed")
            )
            until("rest", lambda: not running.rows(f"{busy} AND kind <> 'search.upkeep'"))
            times = []
            for _ in range(pushes):
                times.append(push_once(running, remote, hook, paths, files))
                print(f"{times[-1]:.2f}", end=" ", flush=True)
                until("rest", lambda: not running.rows(f"{busy} AND kind <> 'search.upkeep'"))
            print()
            return times
    finally:
        server.stop()
        shutil.rmtree(root, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--pushes", type=int, default=40)
    parser.add_argument("--files", type=int, default=3, help="files that each push changes")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    chosen = parser.parse_args()
    times = sorted(measure(chosen.repository, chosen.pushes, chosen.files, chosen.jobs))
    p95 = times[math.ceil(0.95 * len(times)) - 1]
    load = os.getloadavg()[0]
    print(
        f"{len(times)} pushes: median {statistics.median(times):.2f} s, p95 {p95:.2f} s,"
        f" longest {times[-1]:.2f} s (load average of the machine at the end: {load:.1f})"
    )


if __name__ == "__main__":
    main()
