"""Tokens of code sources: one's own and the site's. They can be written, never read."""

import re
from datetime import UTC, datetime

from django.db import transaction

from repos.models import CodeToken
from repos.sources import vault
from repos.sources.listing import CodeSource, sources
from repos.sources.tokens import (
    TokenState,
    from_environment,
    record_id,
    row_of,
    sealed_for,
    site_state,
    state_of,
)
from sourcegraph_site.accounts.errors import (
    InvalidCredential,
    InvalidCredentialKind,
    SettingsRevisionConflict,
)
from sourcegraph_site.accounts.models import User
from sourcegraph_site.accounts.rights import require_administrator, require_person
from sourcegraph_site.audit.record import record
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.inputs import Field, Input

MIN_TOKEN_CHARS = 8
MAX_TOKEN_CHARS = 4096
_TOKEN = re.compile(r"[\x21-\x7e]+", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)", re.I | re.A)


class SetCodeToken(Input):
    """`token` replaces the token; without it only the expiry changes; `clear` removes it."""

    source: str
    revision: int
    token: str | None = Field(None, repr=False)
    expires_at: str | None = None
    clear: bool = False


def own_code_tokens(actor: Actor) -> dict[str, TokenState]:
    """The states of the caller's tokens, by the id of the source.

    Raises:
        AuthenticationRequired, AccessDenied: not a person signed in on the website.
    """
    owner = _person(actor)
    return {each.id: state_of(row_of(owner, each), each) for each in _with_tokens()}


def site_code_tokens(actor: Actor) -> dict[str, TokenState]:
    """The states of the site's tokens. Raises: as `require_administrator`."""
    require_administrator(actor)
    return {each.id: site_state(each) for each in _with_tokens()}


def set_own_code_token(actor: Actor, params: SetCodeToken) -> TokenState:
    """Save, change or clear the caller's token for one source.

    Raises:
        AuthenticationRequired, AccessDenied: not a person signed in on the website.
        InvalidCredentialKind, InvalidCredential: the source; the token or its expiry.
        SettingsRevisionConflict: it changed since `revision`.
        CredentialStorageUnavailable: the key that encrypts tokens is not to be had.
    """
    return _set(actor, _person(actor), params)


def set_site_code_token(actor: Actor, params: SetCodeToken) -> TokenState:
    """As `set_own_code_token`, for the whole site. Raises also AdminRequired."""
    require_administrator(actor)
    return _set(actor, None, params)


def _person(actor: Actor) -> User:
    return User.objects.get(pk=require_person(actor))


def _with_tokens() -> list[CodeSource]:
    return [source for source in sources() if source.takes_token]


def _set(actor: Actor, owner: User | None, params: SetCodeToken) -> TokenState:
    source = next((each for each in _with_tokens() if each.id == params.source), None)
    if source is None:
        raise InvalidCredentialKind("There is no code source of this id that takes a token.")
    if owner is None and from_environment(source):
        raise InvalidCredential("This token is set by the server's environment, and only there.")
    expires_at = _checked(params)
    with transaction.atomic():
        row = _locked_row(owner, source)
        if row.revision != params.revision:
            raise SettingsRevisionConflict("This token changed meanwhile; read its state again.")
        if params.clear:
            _clear(row)
        else:
            _save(row, source, params.token, expires_at)
        row.revision += 1
        row.save()
        record(
            actor,
            "code_token.cleared" if params.clear else "code_token.saved",
            target=f"code_token:{source.id}",
            of="site" if owner is None else "person",
            replaced=params.token is not None,
            expires_at=params.expires_at,
        )
    return state_of(row, source)


def _locked_row(owner: User | None, source: CodeSource) -> CodeToken:
    key = record_id(owner, source.id)
    CodeToken.objects.get_or_create(record_id=key, defaults={"owner": owner, "source": source.id})
    return CodeToken.objects.select_for_update().get(record_id=key)


def _clear(row: CodeToken) -> None:
    row.sealed, row.key_id, row.bound_to = b"", "", ""
    row.expires_at = row.refused_at = None


def _save(
    row: CodeToken, source: CodeSource, token: str | None, expires_at: datetime | None
) -> None:
    row.expires_at = expires_at
    if token is not None:
        row.bound_to = source.bound_to
        row.key_id, row.sealed = vault.seal(sealed_for(row), token)
        row.refused_at = None
    elif not row.sealed:
        raise InvalidCredential("There is no token yet; send one.")


def _checked(params: SetCodeToken) -> datetime | None:
    """The expiry, after all rules that need no look-up."""
    if params.clear and (params.token is not None or params.expires_at is not None):
        raise InvalidCredential("`clear` takes neither a token nor an expiry.")
    if params.token is not None and not (
        MIN_TOKEN_CHARS <= len(params.token) <= MAX_TOKEN_CHARS and _TOKEN.fullmatch(params.token)
    ):
        raise InvalidCredential(
            f"A token is {MIN_TOKEN_CHARS} to {MAX_TOKEN_CHARS} characters without spaces."
        )
    if params.expires_at is None:
        return None
    try:
        if not _TIME.fullmatch(params.expires_at):
            raise ValueError(params.expires_at)
        moment = datetime.fromisoformat(params.expires_at.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidCredential("`expires_at` is a time such as 2030-01-31T00:00:00Z.") from None
    if moment <= clock.now():
        raise InvalidCredential("`expires_at` must lie in the future.")
    return moment
