"""The repositories that are measured: a bare clone, and the files of one commit for the peers."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.processes import ROOT

_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Benchmark"), ("EMAIL", "benchmark@example.org"))
}


def git(directory: Path, *arguments: str, env: dict[str, str] | None = None) -> str:
    """The output of a Git command. Raises CalledProcessError."""
    return subprocess.run(
        ["git", f"--git-dir={directory}", *arguments],
        check=True,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        env={**os.environ, **(env or {})},
    ).stdout


@dataclass(frozen=True)
class Corpus:
    """A repository at the commit that all contestants search."""

    name: str
    git_dir: Path
    checkout: Path
    commit: str

    @property
    def env(self) -> dict[str, str]:
        """With this, `git` in `checkout` means these files."""
        return {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(self.checkout)}

    def history(self, count: int) -> list[str]:
        """Up to so many commits, first parents, newest first."""
        found = git(self.git_dir, "rev-list", "--first-parent", f"-n{count}", self.commit)
        return found.split()

    def change_files(self, count: int = 10) -> str:
        """Commit a line more in each of so many text files; returns the commit.

        HEAD moves, `checkout` gets the same lines.
        """
        names = git(self.git_dir, "ls-tree", "-r", "-z", self.commit).split("\0")
        regular = [entry.split("\t") for entry in names if entry.startswith("100644")]
        chosen: list[str] = []
        for _meta, path in regular[:: max(1, len(regular) // (4 * count))]:
            file = self.checkout / path
            data = file.read_bytes()
            if data and b"\0" not in data and len(data) < 1 << 20 and len(chosen) < count:
                file.write_bytes(data + b"one more line of the benchmark\n")
                chosen.append(path)
        git(self.git_dir, "add", "--", *chosen, env=self.env | {"GIT_LITERAL_PATHSPECS": "1"})
        git(self.git_dir, "commit", "-q", "-m", "Ten files more", env=self.env | _IDENTITY)
        return git(self.git_dir, "rev-parse", "HEAD").strip()


def open_corpus(source: Path, folder: Path) -> Corpus:
    """Clone a repository or bundle, and check its main branch out beside the clone."""
    name = source.name.removesuffix(".bundle").removesuffix(".git")
    git_dir = folder / f"{name}.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(source), str(git_dir)], check=True)
    heads = git(git_dir, "for-each-ref", "--format=%(refname)", "refs/heads").split()
    head = git(git_dir, "symbolic-ref", "HEAD").strip()
    if head not in heads:
        # A bundle need not say which of its branches is the main one.
        git(git_dir, "symbolic-ref", "HEAD", heads[0])
    return _checked_out(name, git_dir, folder / "checkouts" / name)


def open_tree(tree: Path, folder: Path) -> Corpus:
    """Commit a copy of a directory, with all that is in it."""
    name = tree.resolve().name
    git_dir, checkout = folder / f"{name}.git", folder / "checkouts" / name
    checkout.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(git_dir)], check=True)
    source = {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(tree.resolve())}
    git(git_dir, "add", "-f", "-A", ".", env=source)
    git(git_dir, "commit", "-q", "-m", "Tree", env=source | _IDENTITY)
    return _checked_out(name, git_dir, checkout)


def _checked_out(name: str, git_dir: Path, checkout: Path) -> Corpus:
    checkout.mkdir(parents=True, exist_ok=True)
    git(git_dir, "config", "core.bare", "false")
    corpus = Corpus(name, git_dir, checkout, git(git_dir, "rev-parse", "HEAD").strip())
    git(git_dir, "reset", "-q", "--hard", env=corpus.env)
    return corpus


def default_sources() -> Sequence[Path]:
    """The bundles of SOURCEGRAPH_CORPORA, or of the folder beside this checkout."""
    folder = Path(os.environ.get("SOURCEGRAPH_CORPORA", ROOT.parent / "shared" / "corpora"))
    return sorted(folder.glob("*.bundle"))
