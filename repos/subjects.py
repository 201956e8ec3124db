"""First lines of commit messages, for lists of versions."""

from collections.abc import Sequence

from repos.gitstore.layout import mirror_path
from repos.gitstore.mirror import local_git
from repos.models import Repository

MAX_SUBJECT = 200


def subjects_of(repo: Repository, commits: Sequence[str]) -> dict[str, str]:
    """Commit → its subject, shortened; all in one call of Git.

    Raises:
        GitOperationFailed: one of them is not in the mirror.
    """
    if not commits:
        return {}
    text = local_git(
        mirror_path(repo.storage_key),
        *("log", "--no-walk=unsorted", "--format=%H %s", "--stdin"),
        stdin="".join(f"{commit}\n" for commit in commits).encode(),
    ).decode("utf-8", "replace")
    rows = (line.partition(" ") for line in text.split("\n") if line)
    return {commit: subject[:MAX_SUBJECT] for commit, _space, subject in rows}
