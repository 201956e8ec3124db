"""Tokens of code sources: their states, and which one opens a repository.

In this order: the token of the person who registered the repository, the site's, none. A
token that is expired or cannot be read is passed over; a person who was disabled lends none.
"""

import hashlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.conf import settings
from django.db.models import Q

from repos.errors import GitCredentialUnavailable
from repos.gitstore.credential import Credential
from repos.gitstore.remote_url import Remote, check_remote
from repos.models import CodeToken, Repository
from repos.sources import vault
from repos.sources.listing import CodeSource, source_at, sources
from sourcegraph_site.accounts.errors import CredentialStorageUnavailable
from sourcegraph_site.accounts.models import User
from sourcegraph_site.kernel import clock

log = logging.getLogger(__name__)

SITE = "site"
EXPIRES_SOON = timedelta(days=7)

State = Literal["empty", "ready", "expiring", "expired", "invalid"]


@dataclass(frozen=True, slots=True)
class TokenState:
    """What anyone may know of a token; the token itself never leaves the server."""

    revision: int
    configured: bool
    expires_at: datetime | None
    state: State
    source: Literal["saved", "environment"]


@dataclass(frozen=True, slots=True)
class Warned:
    """A token of the site that needs an administrator; `kind` is the id of its source."""

    kind: str
    state: State
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Target:
    """A remote, and what opens it. `token_id`: the row it came from. `passed_over`: some token
    was there, and could not be used."""

    url: str
    remote: Remote
    credential: Credential | None = None
    token_id: int | None = None
    passed_over: bool = False


def record_id(owner: User | None, source_id: str) -> str:
    """The row of one owner and source, and what its ciphertext is bound to."""
    name = owner.public_id if owner is not None else SITE
    return hashlib.sha256(f"{name}\0{source_id}".encode()).hexdigest()


def sealed_for(row: CodeToken) -> str:
    """The context under which the token of a row is sealed: whose it is, and for where."""
    return f"{row.record_id} {row.bound_to}"


def from_environment(source: CodeSource) -> str:
    """The site's token that the environment sets, "" if it does not.

    It is the operator's, so it goes only where the operator said: to SOURCEGRAPH_CODE_HOST, or
    to a locked source; never to a host that an administrator wrote into the source.
    """
    if source.id != "github":
        return ""
    operators = source.locked or (source.origin == settings.CODE_HOST and not source.api)
    return settings.GIT_TOKEN if operators else ""


def state_of(row: CodeToken | None, source: CodeSource) -> TokenState:
    """The state of a saved token; `row` is None where there never was one."""
    if row is None or not row.sealed:
        return TokenState(row.revision if row else 0, False, None, "empty", "saved")
    return TokenState(row.revision, True, row.expires_at, _state(row, source), "saved")


def _state(row: CodeToken, source: CodeSource) -> State:
    now = clock.now()
    if row.expires_at is not None and row.expires_at <= now:
        return "expired"
    if row.refused_at is not None or opened(row, source) is None:
        return "invalid"
    if row.expires_at is not None and row.expires_at <= now + EXPIRES_SOON:
        return "expiring"
    return "ready"


def site_state(source: CodeSource) -> TokenState:
    """The state of the site's token: the environment's, else the saved one."""
    if from_environment(source):
        return TokenState(0, True, None, "ready", "environment")
    return state_of(row_of(None, source), source)


def row_of(owner: User | None, source: CodeSource) -> CodeToken | None:
    return CodeToken.objects.filter(record_id=record_id(owner, source.id)).first()


def opened(row: CodeToken, source: CodeSource) -> str | None:
    """The token, if it can be read and the source still is where it was given for."""
    if not row.sealed or row.bound_to != source.bound_to:
        return None
    try:
        return vault.unseal(sealed_for(row), row.key_id, bytes(row.sealed))
    except (vault.Unreadable, CredentialStorageUnavailable) as exc:
        log.warning("the %s cannot be read: %s", row, exc)
        return None


def target_of(repo: Repository) -> Target:
    """The remote of a repository and the token for it.

    Raises:
        InvalidRemote: the operator does not allow this address any more.
        GitCredentialUnavailable: its source demands a token, and none can be used.
    """
    remote = check_remote(repo.remote_url)
    source = source_at(remote, repo.code_provider)
    if source is None:
        return Target(repo.remote_url, remote)
    found, passed_over = usable_token(source, repo.creator)
    if found is None and not source.anonymous:
        raise GitCredentialUnavailable(_why_none(passed_over))
    if found is None:
        return Target(repo.remote_url, remote, passed_over=passed_over)
    credential = Credential(source.origin, source.username, found.token)
    return Target(repo.remote_url, remote, credential, found.row_id, passed_over)


def _why_none(passed_over: bool) -> str:
    if passed_over:
        return "The token for this code source has expired or cannot be read: save a new one."
    return "This code source needs a token: save one in the user settings or the site's settings."


@dataclass(frozen=True, slots=True)
class Token:
    token: str
    row_id: int | None  # None: from the environment


def usable_token(
    source: CodeSource, owner: User | None, *, site: bool = True
) -> tuple[Token | None, bool]:
    """The first token that can be used, and whether one before it could not be.

    Without `site` only the owner's counts.
    """
    passed_over = False
    for row in _candidates(source, owner, site):
        if row is None:
            return Token(from_environment(source), None), passed_over
        if not row.sealed:
            continue
        expired = row.expires_at is not None and row.expires_at <= clock.now()
        token = None if expired else opened(row, source)
        if token is not None:
            return Token(token, row.pk), passed_over
        passed_over = True
    return None, passed_over


def _candidates(source: CodeSource, owner: User | None, site: bool) -> Iterator[CodeToken | None]:
    """Rows in the order of use; None stands for the environment's token."""
    if owner is not None and owner.is_active:
        row = row_of(owner, source)
        if row is not None:
            yield row
    if not site:
        return
    if from_environment(source):
        yield None
        return
    row = row_of(None, source)
    if row is not None:
        yield row


def note_answer(target: Target, *, refused: bool) -> None:
    """Remember that the code host refused a token, or that it took it again."""
    if target.token_id is None:
        return
    row = CodeToken.objects.filter(pk=target.token_id)
    if refused:
        row.filter(refused_at=None).update(refused_at=clock.now())
    else:
        row.exclude(refused_at=None).update(refused_at=None)


def ailing(user_id: int | None, *, site: bool) -> list[CodeToken]:
    """Tokens that end within a week, have ended or were refused: a person's, and with `site`
    the site's. One query, because the list of repositories asks it at every poll."""
    whose = Q(owner_id=user_id) if user_id is not None else Q(pk__in=[])
    if site:
        whose |= Q(owner=None)
    soon = Q(expires_at__lte=clock.now() + EXPIRES_SOON) | Q(refused_at__isnull=False)
    found = CodeToken.objects.filter(whose, soon).exclude(sealed=b"")
    return list(found.order_by("owner_id", "source"))


def warnings() -> list[Warned]:
    """The site's tokens that expire soon, are expired or are not taken any more."""
    found = []
    for source in sources():
        state = site_state(source)
        if state.state in ("expiring", "expired", "invalid"):
            found.append(Warned(source.id, state.state, state.expires_at))
    return found
