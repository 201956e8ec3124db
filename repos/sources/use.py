"""The way to the remote of a repository, as jobs go it."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from repos.errors import GitAuthFailed, GitCredentialUnavailable, GitRepositoryUnavailable
from repos.gitstore.remote_url import Route, route_to
from repos.models import Repository
from repos.sources.tokens import Target, note_answer, target_of


def route_of(target: Target) -> Route:
    """Check where the remote's name points now, pin it, and add the token.

    Raises:
        InvalidRemote, GitFetchFailed: as `route_to`.
    """
    return replace(route_to(target.remote), credential=target.credential)


@contextlib.contextmanager
def way_to(repo: Repository) -> Iterator[Route]:
    """The route for conversations with a repository's remote; what they learn about the token
    is remembered.

    Raises:
        InvalidRemote, GitFetchFailed: the address may not be, or cannot be, reached.
        GitCredentialUnavailable: a token is needed, and there is none that can be used.
    """
    target = target_of(repo)
    try:
        yield route_of(target)
    except GitAuthFailed as exc:
        note_answer(target, refused=True)
        if target.credential is None and target.passed_over:
            raise _no_token() from exc
        raise
    except GitRepositoryUnavailable as exc:
        # Hosts hide private repositories from those who come without a token.
        if target.credential is None and target.passed_over:
            raise _no_token() from exc
        raise
    note_answer(target, refused=False)


def _no_token() -> GitCredentialUnavailable:
    return GitCredentialUnavailable(
        "The token for this code source has expired or cannot be read: save a new one."
    )
