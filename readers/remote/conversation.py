"""Talking to a remote for a caller who waits: list its refs, download tips without trees."""

from collections.abc import Callable, Sequence

from readers.errors import GitObjectNotHydrated, RemoteAccessDenied, RemoteUnavailable
from readers.remote.scratch import Scratch, ScratchFull
from repos.errors import (
    GitAccessDenied,
    GitAuthFailed,
    GitCredentialUnavailable,
    GitOperationFailed,
    GitRepositoryUnavailable,
)
from repos.gitstore.diagnose import diagnose
from repos.gitstore.process import GitCall, GitFailed, GitOutputTooLarge, GitTimedOut, run_git
from repos.gitstore.remote_url import Route
from repos.models import Repository
from repos.sources import tokens, use
from repos.sources.tokens import Target
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import AppError, InsufficientStorage

RETRY_SECONDS = 10
FindTarget = Callable[[], Target]  # asked only when the remote will be

_DENIED = (GitAccessDenied, GitAuthFailed, GitCredentialUnavailable, GitRepositoryUnavailable)
# One commit of history is enough: who, when and what of each tip.
FETCH = (
    "fetch",
    "--quiet",
    "--depth=1",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
)


class RefMissing(Exception):
    """The remote has no ref of this name."""


class Incomplete(Exception):
    """A ref points straight to a tree, which was left out; all else has been downloaded."""


class FilterUnsupported(Exception):
    """The remote cannot leave out trees; the download was stopped."""


def target_of(repo: Repository) -> Target:
    """The remote of a repository and its token.

    Raises:
        RemoteUnavailable: the address is not allowed any more.
        RemoteAccessDenied: a token is needed, and there is none that can be used.
    """
    try:
        return tokens.target_of(repo)
    except AppError as exc:
        raise as_remote(exc) from exc


def route_of(target: Target) -> Route:
    """Raises RemoteUnavailable when the address may not be, or cannot be, reached."""
    try:
        return use.route_of(target)
    except AppError as exc:
        raise as_remote(exc) from exc


def list_refs(route: Route, deadline: Deadline, max_output: int) -> bytes:
    """`ls-remote` of all branches and tags: `<id> TAB <full name> LF`, tags also peeled.

    Raises:
        RemoteUnavailable, RemoteAccessDenied.
    """
    args = ("ls-remote", "--heads", "--tags", "--end-of-options", route.url)
    call = GitCall(
        timeout_s=deadline.remaining(),
        max_output=max_output,
        config=route.config,
        protocols=route.protocols,
        safe=route.safe,
        credential=route.credential,
    )
    try:
        return run_git(None, *args, call=call)
    except (GitFailed, GitTimedOut, GitOutputTooLarge) as exc:
        raise as_remote(diagnose(exc)) from exc


def download(
    route: Route,
    into: Scratch,
    refspecs: Sequence[str],
    deadline: Deadline,
    *,
    trees: int = 0,
    needs_filter: bool = False,
    objects_only: bool = False,
) -> None:
    """Fetch the tips of some refs without history, and with `trees` levels of trees.

    With `needs_filter`, a remote that would send all trees is not listened to any further.
    With `objects_only` no ref is written: 200,000 of them would be as many files.

    Raises:
        RefMissing: a ref that is named in full is not there.
        Incomplete: a ref points to a tree that was left out.
        FilterUnsupported: only with `needs_filter`.
        ScratchExceeded: the budget of `into` is used up.
        RemoteUnavailable, RemoteAccessDenied, InsufficientStorage.
    """
    call = GitCall(
        timeout_s=deadline.remaining(),
        config=route.config,
        protocols=route.protocols,
        safe=route.safe,
        credential=route.credential,
        on_line=_stop_without_filter if needs_filter else None,
        each_second=into.check,
    )
    options = (f"--filter=tree:{trees}", *(("--dry-run",) if objects_only else ()))
    args = (*FETCH, *options, "--end-of-options", route.url, *refspecs)
    try:
        run_git(into.git_dir, *args, call=call)
        into.check()
    except ScratchFull as exc:
        raise RemoteUnavailable(
            "Too much is being downloaded from remotes now.", retry_after=RETRY_SECONDS
        ) from exc
    except GitFailed as exc:
        if "couldn't find remote ref" in exc.stderr:
            raise RefMissing from exc
        if "did not send all necessary objects" in exc.stderr:
            raise Incomplete from exc
        if needs_filter and "dumb http transport does not support" in exc.stderr:
            raise FilterUnsupported from exc
        raise as_remote(diagnose(exc)) from exc
    except GitTimedOut as exc:
        raise as_remote(diagnose(exc)) from exc
    finally:
        into.settle()


def _stop_without_filter(line: str) -> None:
    if "filtering not recognized" in line:
        raise FilterUnsupported


def as_remote(error: AppError) -> AppError:
    """A failure as `resolve` and `refs` report it: never a GIT_* code."""
    if isinstance(error, InsufficientStorage | RemoteUnavailable | RemoteAccessDenied):
        return error
    if isinstance(error, GitObjectNotHydrated | GitOperationFailed):
        return RemoteUnavailable("The remote's objects could not be verified.")
    if isinstance(error, _DENIED):
        return RemoteAccessDenied("This server's credential cannot read the remote.")
    return RemoteUnavailable("The remote cannot be asked now.", retry_after=RETRY_SECONDS)
