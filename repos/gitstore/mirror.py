"""Making and updating mirrors. The caller holds the repository's lease.

A sync asks the remote first (`look`), then fetches exactly the monitored branches that
exist, never a tag. What was really fetched (`heads`) is the truth, not what was listed: a
branch may move in between.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from repos.errors import GitFetchFailed, GitOperationFailed, UnsupportedRepositoryFormat
from repos.gitstore import layout
from repos.gitstore.diagnose import diagnose
from repos.gitstore.disk import check_free_space
from repos.gitstore.process import GitCall, GitFailed, GitOutputTooLarge, GitTimedOut, run_git
from repos.gitstore.remote_url import Route
from repos.naming import is_object_id, is_ref_name
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import AppError, InsufficientStorage

LOCAL_SECONDS = 120.0
HEADS = "refs/heads/"
RETAINED = "refs/retained/"
# The mirrored name of a remote's HEAD that is on no branch.
DETACHED = "detached-head"
MAX_LISTING_BYTES = 1 << 20
FETCH = (
    "fetch",
    "--no-tags",
    "--update-shallow",  # else a fetch from a shallow clone succeeds and brings nothing
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
    "--progress",
)

ProgressFn = Callable[[str, int, int, int], None]  # phase, done, total, bytes


@dataclass(frozen=True, slots=True)
class Listing:
    """What the remote says before a fetch.

    `default_branch`: what its HEAD points to, "" if unborn or there is none. `branches`:
    those of the asked ones that exist, with their commits. `detached`: HEAD is on no branch.
    """

    default_branch: str
    branches: dict[str, str]
    empty: bool
    detached: bool = False


@dataclass(frozen=True, slots=True)
class Watch:
    """What a long conversation reports to and obeys."""

    deadline: Deadline
    progress: ProgressFn | None = None
    check: Callable[[], None] | None = None  # cancelled, lease lost: raises

    def each_second(self) -> None:
        check_free_space()
        if self.check is not None:
            self.check()


def look(route: Route, branches: Sequence[str], *, follow_default: bool, watch: Watch) -> Listing:
    """Ask the remote for its HEAD and the given branches, and for nothing else.

    Raises:
        GitRepositoryUnavailable, GitAccessDenied, GitAuthFailed, GitFetchFailed: see diagnose.
        UnsupportedRepositoryFormat: the remote uses SHA-256.
    """
    asked = [f"{HEADS}{name}" for name in branches]
    symbolic, refs = _list(route, ["HEAD", *asked], watch)
    default, detached = _default_branch(symbolic, refs)
    if follow_default and default and f"{HEADS}{default}" not in refs:
        # HEAD names it, but only its commit was listed under that name.
        refs[f"{HEADS}{default}"] = refs["HEAD"]
    wanted = {*branches, default} if follow_default else set(branches)
    found = {
        name: refs[f"{HEADS}{name}"] for name in sorted(wanted) if name and f"{HEADS}{name}" in refs
    }
    if follow_default and detached:
        default = DETACHED
        found[DETACHED] = refs["HEAD"]
    empty = not refs and _has_no_refs(route, watch)
    return Listing(default, found, empty, detached)


def _default_branch(symbolic: str, refs: dict[str, str]) -> tuple[str, bool]:
    """Short name of the branch that HEAD is on, and whether HEAD is on none."""
    if symbolic.startswith(HEADS) and is_ref_name(symbolic.removeprefix(HEADS)):
        return (symbolic.removeprefix(HEADS) if "HEAD" in refs else ""), False
    return "", "HEAD" in refs


def _list(route: Route, patterns: Sequence[str], watch: Watch) -> tuple[str, dict[str, str]]:
    """ls-remote: what HEAD points to, and ref → object id for exactly the asked names."""
    args = ("ls-remote", "--symref", "--end-of-options", route.url, *patterns)
    text = _converse(None, args, route, watch, max_output=MAX_LISTING_BYTES).decode(
        "utf-8", "replace"
    )
    symbolic, refs, asked = "", {}, set(patterns)
    for line in text.split("\n"):
        value, _, name = line.partition("\t")
        if name not in asked:  # patterns match the end of names
            continue
        if value.startswith("ref: "):
            symbolic = value.removeprefix("ref: ")
        elif is_object_id(value):
            refs[name] = value
        else:
            raise UnsupportedRepositoryFormat("Only repositories with SHA-1 ids are served.")
    return symbolic, refs


def _has_no_refs(route: Route, watch: Watch) -> bool:
    args = ("ls-remote", "--end-of-options", route.url)
    try:
        return not _converse(None, args, route, watch, max_output=4096).strip()
    except GitOutputTooLarge:
        return False


def init_mirror(path: Path) -> None:
    """Make an empty bare repository here."""
    local_git(
        None,
        *("-c", "init.defaultBranch=main", "init", "--bare", "--quiet", "--template="),
        *("--object-format=sha1", "--end-of-options", str(path)),
    )


def ensure_mirror(storage_key: str) -> Path:
    """The mirror's directory, made if it does not exist; it appears whole, by rename."""
    path = layout.mirror_path(storage_key)
    if path.is_dir():
        return path
    staged = layout.fresh(layout.staging_root())
    init_mirror(staged)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.rename(staged, path)
    except OSError:
        shutil.rmtree(staged, ignore_errors=True)
        if not path.is_dir():
            raise
    return path


def repair(mirror: Path) -> list[str]:
    """Remove what a killed Git left behind; returns the names, for the log.

    Only the holder of the repository's lease may call this: nobody else writes here, so
    every lock, temporary pack and keep file is stale.
    """
    stale = [path for path in mirror.rglob("*.lock") if path.is_file()]
    pack = mirror / "objects" / "pack"
    if pack.is_dir():
        stale += [p for p in pack.iterdir() if p.name.startswith(("tmp_", ".tmp-"))]
        stale += list(pack.glob("*.keep"))
    stale += (mirror / "objects").glob("??/tmp_obj_*")
    for path in stale:
        path.unlink(missing_ok=True)
    for left in (mirror / "objects").glob("tmp_objdir-*"):
        shutil.rmtree(left, ignore_errors=True)
    return sorted(path.name for path in stale)


@contextlib.contextmanager
def _repaired_after_failure(mirror: Path, watch: Watch) -> Iterator[None]:
    """Clean up behind a Git that failed or was killed for lack of space or time.

    Not when the job was stopped: then the mirror may be another worker's already, which
    cleans up itself when it begins.
    """
    try:
        yield
    except AppError:
        if watch.check is not None:
            watch.check()
        repair(mirror)
        raise


def fetch(mirror: Path, route: Route, listing: Listing, watch: Watch) -> None:
    """Bring the mirror's branches to what the remote has now.

    Local branches that are not in `listing` are dropped first: a `foo` that became
    `foo/bar` would stand in the way. Their objects stay until maintenance.

    Raises:
        InsufficientStorage, and as `look`.
    """
    check_free_space()
    have = heads(mirror)
    drop_heads(mirror, [name for name in have if name not in listing.branches])
    if all(have.get(name) == commit for name, commit in listing.branches.items()):
        return
    refspecs = [
        f"+{'HEAD' if name == DETACHED and listing.detached else HEADS + name}:{HEADS}{name}"
        for name in listing.branches
    ]
    args = (*FETCH, "--prune", "--end-of-options", route.url, *refspecs)
    with _repaired_after_failure(mirror, watch):
        _converse(mirror, args, route, watch)


def fetch_commit(mirror: Path, route: Route, commit: str, ref: str, watch: Watch) -> bool:
    """Fetch one commit by its id, else by the ref that it was resolved from, and retain it.

    False when the remote no longer gives exactly this commit.
    """
    check_free_space()
    for source in (commit, ref):
        if _fetch_incoming(mirror, route, source, watch) == commit:
            _update_refs(mirror, [f"update {RETAINED}{commit} {commit}"])
            return True
    return False


def _fetch_incoming(mirror: Path, route: Route, source: str, watch: Watch) -> str:
    """Fetch one ref or commit; the commit that came, "" if none did."""
    incoming = f"{RETAINED}incoming"
    args = (*FETCH, "--end-of-options", route.url, f"+{source}:{incoming}")
    try:
        with _repaired_after_failure(mirror, watch):
            _converse(mirror, args, route, watch)
        commit = _commit_of(mirror, incoming)
        _update_refs(mirror, [f"delete {incoming}"])
    except GitFetchFailed:
        return ""
    return commit


def _commit_of(mirror: Path, ref: str) -> str:
    call = GitCall(timeout_s=LOCAL_SECONDS)
    args = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    try:
        return run_git(mirror, *args, call=call).decode().strip()
    except GitFailed:
        return ""


def heads(mirror: Path) -> dict[str, str]:
    """Branch → commit, as mirrored; a branch that does not hold a commit is left out."""
    args = ("for-each-ref", "--format=%(objecttype) %(objectname) %(refname)", HEADS)
    found = {}
    for line in local_git(mirror, *args).decode("utf-8", "replace").splitlines():
        kind, commit, name = line.split(" ", 2)
        if kind == "commit":
            found[name.removeprefix(HEADS)] = commit
    return found


def drop_heads(mirror: Path, names: Sequence[str]) -> None:
    _update_refs(mirror, [f"delete {HEADS}{name}" for name in names])


def _update_refs(mirror: Path, commands: Sequence[str]) -> None:
    if commands:
        local_git(mirror, "update-ref", "--stdin", stdin="\n".join(commands).encode() + b"\n")


def local_git(
    mirror: Path | None, *args: str, stdin: bytes = b"", timeout_s: float = LOCAL_SECONDS
) -> bytes:
    """A command on our own mirror.

    Raises:
        InsufficientStorage: the disk is full.
        GitOperationFailed: Git failed otherwise; the reason is logged.
    """
    try:
        return run_git(mirror, *args, call=GitCall(timeout_s=timeout_s, stdin=stdin))
    except (GitFailed, GitTimedOut, GitOutputTooLarge) as exc:
        reason = diagnose(exc)
        if isinstance(reason, InsufficientStorage):
            raise reason from exc
        raise GitOperationFailed("Git failed on the mirror of this repository.") from exc


def _converse(
    mirror: Path | None,
    args: Sequence[str],
    route: Route,
    watch: Watch,
    max_output: int = MAX_LISTING_BYTES,
) -> bytes:
    """One conversation with the remote; its failure becomes an AppError."""
    call = GitCall(
        timeout_s=watch.deadline.remaining(),
        max_output=max_output,
        config=route.config,
        protocols=route.protocols,
        safe=route.safe,
        credential=route.credential,
        on_line=_reporter(watch.progress) if watch.progress else None,
        each_second=watch.each_second,
    )
    try:
        return run_git(mirror, *args, call=call)
    except GitOutputTooLarge:
        raise
    except (GitFailed, GitTimedOut) as exc:
        raise diagnose(exc) from exc


_PROGRESS = re.compile(
    r"(?:remote: )?(?P<phase>Counting|Compressing|Receiving|Resolving|Unpacking)"
    r" (?:objects|deltas):\s+\d+% \((?P<done>\d+)/(?P<total>\d+)\)"
    r"(?:, (?P<size>[\d.]+) (?P<unit>bytes|KiB|MiB|GiB))?"
)
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def parse_progress(line: str) -> tuple[str, int, int, int] | None:
    """One progress line of Git → phase, done, total, bytes received (0 if not said).

    >>> parse_progress("Receiving objects:  45% (450/1000), 1.50 MiB | 3.00 MiB/s")
    ('receiving', 450, 1000, 1572864)
    """
    found = _PROGRESS.match(line)
    if found is None:
        return None
    size = int(float(found["size"]) * _UNITS[found["unit"]]) if found["size"] else 0
    return found["phase"].lower(), int(found["done"]), int(found["total"]), size


def _reporter(progress: ProgressFn) -> Callable[[str], None]:
    def report(line: str) -> None:
        parsed = parse_progress(line)
        if parsed is not None:
            progress(*parsed)

    return report
