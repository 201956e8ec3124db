"""The commits behind a commit, of all files or of one path, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from readers.commits import MAX_HEADER_BYTES, Commit, parse_commit
from readers.gitcalls import ask_git
from readers.objects import Objects
from readers.trees import not_there
from repos.errors import GitOperationFailed
from repos.naming import is_object_id

MAX_OUTPUT = 16 << 20


@dataclass(frozen=True, slots=True)
class Step:
    """One commit of a history; for a single file, the name that the file had then."""

    commit: str
    path: bytes | None = None
    old_path: bytes | None = None


def commits_of(
    objects: Objects,
    commit: str,
    skip: int,
    count: int,
    *,
    path: bytes | None = None,
    first_parent: bool,
) -> list[Step]:
    """At most `count` commits from `commit` back that touch `path`, after `skip` newer ones."""
    out = ask_git(
        objects,
        *("rev-list", f"--skip={skip}", f"--max-count={count}"),
        *(("--first-parent",) if first_parent else ()),
        *("--end-of-options", commit, "--"),
        *([_argument(path)] if path else []),
        max_output=MAX_OUTPUT,
    )
    return [Step(line) for line in out.decode("ascii").split()]


def commits_of_file(
    objects: Objects, commit: str, path: bytes, skip: int, count: int, *, first_parent: bool
) -> list[Step]:
    """The same for a file that exists at `commit`, through its renames.

    Git follows names from the newest commit on only, so earlier pages are computed again.
    """
    out = ask_git(
        objects,
        *("log", "-z", "--format=%H", "--name-status", "--follow", "-l1000"),
        *("--no-color", "--no-ext-diff", f"--max-count={skip + count}"),
        *(("--first-parent",) if first_parent else ()),
        *("--end-of-options", commit, "--", _argument(path)),
        max_output=MAX_OUTPUT,
    )
    return parse_names(out)[skip:]


def _argument(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def parse_names(out: bytes) -> list[Step]:
    """`<commit> NUL` and, per path, `[LF] <status> NUL <path> NUL`, two paths for a rename.

    Raises:
        GitOperationFailed: it has another form.
    """
    words = out.split(b"\0")
    steps: list[Step] = []
    at = 0
    while at < len(words) and words[at]:
        if not _is_commit(words[at]):
            raise GitOperationFailed("Git listed the commits in a form that is not known.")
        step = Step(words[at].decode("ascii"))
        at += 1
        while at < len(words) and words[at] and not _is_commit(words[at]):
            names = 2 if words[at].lstrip(b"\n").startswith((b"R", b"C")) else 1
            paths = words[at + 1 : at + 1 + names]
            step = Step(step.commit, paths[-1], paths[0] if names == 2 else None)
            at += 1 + names
        steps.append(step)
    return steps


def _is_commit(word: bytes) -> bool:
    return is_object_id(word.decode("latin-1"))


def details(objects: Objects, commits: Sequence[str]) -> list[Commit]:
    """The commits' fields, from the objects.

    Raises:
        GitObjectNotHydrated: one is missing or damaged.
    """
    found = []
    for commit in commits:
        data = objects.contents(commit, MAX_HEADER_BYTES)
        try:
            if data is None or data.kind != "commit":
                raise not_there()
            found.append(parse_commit(data.data))
        except ValueError:
            raise not_there() from None
    return found
