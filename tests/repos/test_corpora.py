"""Whole repositories from registration to a search result, over a real remote.

The repositories are the bundles in SOURCEGRAPH_CORPORA (default: ../shared/corpora beside the
checkout); where there are none, generated ones with the same kinds of content.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from repos.models import Repository
from tests.support.git_remote import Executable, GitRemote, Link, Submodule, git, lfs_pointer
from tests.support.jobs import run_pending_jobs

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parent.parent.parent
CORPORA = Path(os.environ.get("SOURCEGRAPH_CORPORA") or ROOT.parent / "shared" / "corpora")
BUNDLES = sorted(CORPORA.glob("*.bundle"))
GENERATED = ["plain", "odd", "merged"]


def unbundle(bundle: Path, target: Path) -> None:
    """A bare repository as a host has it: all refs of the bundle, HEAD on main or master."""
    remote = GitRemote(target)
    subprocess.run(
        ["git", f"--git-dir={target}", "fetch", "-q", str(bundle), "+refs/*:refs/*"], check=True
    )
    remote.set_head("main" if remote.tip("main") else "master")


def generate(kind: str, target: Path) -> None:
    remote = GitRemote(target)
    if kind == "plain":
        for n in range(30):
            remote.commit({f"src/file{n}.py": f"def the_{n}():\n    return {n}\n"})
    elif kind == "odd":
        files = {
            "the readme.txt": "the first line\n",
            "naïve/é.txt": "the accent\n",
            b"bad\xff.txt": "the byte\n",
            b"new\nline": "the newline\n",
            "link": Link("the readme.txt"),
            "module": Submodule("1" * 40),
            "run.sh": Executable("#!/bin/sh\necho the end\n"),
            "large.bin": lfs_pointer(),
            "binary": b"the\0",
        }
        remote.commit(files)
        remote.tag("v1", "main", "first")
    else:
        base = remote.commit({"the.txt": "the base\n"})
        side = remote.commit({"side.txt": "the side\n"}, branch="side", start=base)
        remote.commit({"main.txt": "the main\n"}, merge=[side])


@pytest.mark.parametrize("source", BUNDLES or GENERATED, ids=lambda s: getattr(s, "stem", s))
def test_a_registered_repository_can_be_read_and_searched(
    source, http_remote, register, client, cache_table
):
    name = "corpus/" + (source.stem if isinstance(source, Path) else source)
    target = http_remote.root / f"{name}.git"
    unbundle(source, target) if isinstance(source, Path) else generate(source, target)
    register(http_remote.url(name), name, policy={"default_branch": True, "count": 2})

    run_pending_jobs()

    def ask(path: str, body: dict) -> dict:
        response = client.post(
            f"/sourcegraph/{path}?repo={name}", json.dumps(body), "application/json"
        )
        assert response.status_code == 200, response.content
        return response.json()

    repo = Repository.objects.get(name=name)
    head = git(target, "rev-parse", "HEAD").decode().strip()
    window = git(target, "rev-list", "--first-parent", "-2", "HEAD").decode().split()
    assert (repo.state, repo.last_error) == ("ready", "")
    assert set(repo.versions.values_list("commit", flat=True)) == set(window)
    assert ask("v1/repo/resolve", {})["commit"] == head
    found = ask("api/search", {"Pattern": "the", "FixedStrings": True})
    assert found["Meta"]["Commit"] == head
    hit = found["Result"]["Files"][0]
    line = hit["LineMatches"][0]
    read = ask(
        "v1/repo/read",
        {
            "Revision": head,
            "Path": hit["FileName"],
            "StartLine": line["LineNumber"],
            "EndLine": line["LineNumber"],
        },
    )
    assert "the" in read["Content"]
    assert "the" in git(target, "cat-file", "blob", f"{head}:{hit['FileName']}").decode()
