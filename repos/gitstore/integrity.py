"""Is a mirror whole? Reads only; may run beside the writer, which can cause a false alarm:
whoever acts on one checks again under the repository's lease."""

from collections.abc import Collection
from pathlib import Path

from repos.gitstore.process import GitCall, GitFailed, GitOutputTooLarge, GitTimedOut, run_git

CONNECTIVITY_SECONDS = 10 * 60.0
DEEP_SECONDS = 60 * 60.0
_MAX_OUTPUT = 1 << 20


class CheckUnfinished(Exception):
    """The check took longer than it may; nothing is known."""


def damage(mirror: Path, commits: Collection[str], *, deep: bool = False) -> str:
    """What is wrong with a mirror, in one line; "" if nothing is.

    `commits` must be there, beside all that its refs reach. `deep` also reads and hashes
    every object; otherwise only commits and trees are read, and blobs must exist.

    Raises:
        CheckUnfinished: it takes longer than 10 minutes (deep: an hour).
    """
    if not mirror.is_dir():
        return "it is missing"
    args = ["fsck", "--no-dangling", "--no-reflogs", "--no-progress"]
    args += ["--full"] if deep else ["--connectivity-only"]
    timeout = DEEP_SECONDS if deep else CONNECTIVITY_SECONDS
    try:
        run_git(mirror, *args, call=GitCall(timeout_s=timeout, max_output=_MAX_OUTPUT))
        gone = _absent(mirror, commits)
    except GitTimedOut as exc:
        raise CheckUnfinished from exc
    except GitOutputTooLarge:
        return "git fsck reports very many errors"
    except GitFailed as exc:
        lines = [line for line in exc.stderr.splitlines() if line.strip()]
        return lines[0][:300] if lines else f"git {exc.verb} exited with {exc.status}"
    return f"{len(gone)} commits that are served are not in it" if gone else ""


def _absent(mirror: Path, commits: Collection[str]) -> list[str]:
    if not commits:
        return []
    asked = "".join(f"{commit}^{{commit}}\n" for commit in sorted(commits)).encode()
    call = GitCall(timeout_s=CONNECTIVITY_SECONDS, stdin=asked)
    out = run_git(mirror, "cat-file", "--batch-check=%(objectname)", call=call).decode()
    return [line.split("^")[0] for line in out.splitlines() if line.endswith(" missing")]
