"""Personal API keys of the signed-in person: list, create, revoke (contract 1.7, decision 34).

Only a browser session may do this: a key that could make keys would outlive its revocation.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import QuerySet

from sourcegraph_site.accounts import keys
from sourcegraph_site.accounts.errors import InvalidApiKeyInput, InvalidPagination
from sourcegraph_site.accounts.models import ApiKey
from sourcegraph_site.audit.record import record
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.errors import AccessDenied, AuthenticationRequired, InvalidCursor
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.paging import binding_of, decode_cursor, encode_cursor
from sourcegraph_site.kernel.wire import optional

MAX_NAME_BYTES = 128
MAX_REPOSITORIES = 100
MAX_REPOSITORY_NAME = 512
MAX_PAGE, PAGE = 100, 50

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


class ListApiKeys(Input):
    limit: str = Field(str(PAGE), description="1 to 100.")
    after: str = Field("", description="Cursor of the previous page.")


class CreateApiKey(Input):
    name: str = Field("", description="1 to 128 bytes, without spaces at its ends.")
    expires_at: str | None = Field(None, description="RFC 3339, in the future; null: never.")
    repositories: list[str] | None = Field(
        None, description="1 to 100 names that the key may use; null: all that its owner may."
    )
    no_prepare: bool = Field(False, description="The key never prepares, whoever its owner is.")


class RevokeApiKey(Input):
    id: str


@dataclass(frozen=True, slots=True)
class ApiKeyRecord:
    """`key` is in the reply to creation only."""

    id: str
    name: str
    key_prefix: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    repositories: list[str] | None
    no_prepare: bool
    key: str | None = optional()


@dataclass(frozen=True, slots=True)
class ApiKeyList:
    """Newest first; expired keys are in it, revoked ones are not."""

    items: list[ApiKeyRecord]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Revoked:
    """`deleted` is false when this person has no such key; another's looks the same."""

    deleted: bool


def list_api_keys(actor: Actor, params: ListApiKeys) -> ApiKeyList:
    """The caller's keys.

    Raises:
        AuthenticationRequired, AccessDenied: not a person signed in on the website.
        InvalidPagination: the limit or the cursor.
    """
    found = _own(actor).order_by("-pk")
    if not re.fullmatch(r"[0-9]{1,3}", params.limit) or not 1 <= int(params.limit) <= MAX_PAGE:
        raise InvalidPagination(f"`limit` is a number from 1 to {MAX_PAGE}.")
    limit, binding = int(params.limit), binding_of("api_keys", actor.user_id)
    if params.after:
        found = found.filter(pk__lt=_position(params.after, binding))
    rows = list(found[: limit + 1])
    more = len(rows) > limit
    rows = rows[:limit]
    return ApiKeyList(
        [_record(row) for row in rows], encode_cursor(binding, rows[-1].pk) if more else None
    )


def _position(cursor: str, binding: str) -> int:
    try:
        position = decode_cursor(cursor, binding)
    except InvalidCursor as exc:
        raise InvalidPagination(exc.message) from None
    if type(position) is not int or not 0 <= position < 2**63:
        raise InvalidPagination("The cursor is damaged; start again without it.")
    return position


def create_api_key(actor: Actor, params: CreateApiKey) -> ApiKeyRecord:
    """Make a key and return it, this once.

    Repositories are not looked up: a name that is absent, hidden or not registered yet narrows
    the key just as well, and the answer tells nothing about it.

    Raises:
        AuthenticationRequired, AccessDenied: not a person signed in on the website.
        InvalidApiKeyInput: the name, the expiry or the list.
    """
    user_id = _person(actor)
    name = _name(params.name)
    expires_at = _expiry(params.expires_at)
    repositories = _repositories(params.repositories)
    made = keys.new_key()
    with transaction.atomic():
        row = ApiKey.objects.create(
            user_id=user_id,
            name=name,
            prefix=made.prefix,
            digest=made.digest,
            repositories=repositories,
            no_prepare=params.no_prepare,
            created_at=clock.now(),
            expires_at=expires_at,
        )
        record(actor, "api_key.created", target=f"api_key:{row.prefix}", name=name)
    return _record(row, made.key)


def revoke_api_key(actor: Actor, params: RevokeApiKey) -> Revoked:
    """Refuse one key from the next call on.

    Raises:
        AuthenticationRequired, AccessDenied: not a person signed in on the website.
    """
    # Whatever else an address may hold never reaches the database.
    known = params.id if re.fullmatch(r"[0-9a-f]{32}", params.id) else ""
    found = _own(actor).filter(public_id=known)
    with transaction.atomic():
        row = found.first()
        if row is None or not found.update(revoked_at=clock.now()):
            return Revoked(False)
        record(actor, "api_key.revoked", target=f"api_key:{row.prefix}", name=row.name)
    return Revoked(True)


def _person(actor: Actor) -> int:
    if not actor.signed_in:
        raise AuthenticationRequired("Sign in first.")
    if actor.kind is not ActorKind.SESSION or actor.user_id is None:
        raise AccessDenied("Only a person who is signed in on the website may do this.")
    return actor.user_id


def _own(actor: Actor) -> QuerySet[ApiKey]:
    return ApiKey.objects.filter(user_id=_person(actor), revoked_at=None)


def _name(text: str) -> str:
    name = text.strip()
    size = len(name.encode("utf-8", "surrogatepass"))
    if not 1 <= size <= MAX_NAME_BYTES or not name.isprintable():
        raise InvalidApiKeyInput(f"Give the key a name of 1 to {MAX_NAME_BYTES} bytes.")
    return name


def _expiry(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        if not _TIME.fullmatch(text):
            raise ValueError(text)
        moment = datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidApiKeyInput("`expires_at` is a time such as 2030-01-31T00:00:00Z.") from None
    if moment <= clock.now():
        raise InvalidApiKeyInput("`expires_at` must lie in the future.")
    return moment


def _repositories(names: list[str] | None) -> list[str] | None:
    if names is None:
        return None
    if not 1 <= len(names) <= MAX_REPOSITORIES:
        raise InvalidApiKeyInput(f"`repositories` holds 1 to {MAX_REPOSITORIES} names, or is null.")
    if any(not 1 <= len(name) <= MAX_REPOSITORY_NAME or not name.isprintable() for name in names):
        raise InvalidApiKeyInput("`repositories` holds names such as owner/repository.")
    return sorted(set(names))


def _record(row: ApiKey, key: str | None = None) -> ApiKeyRecord:
    return ApiKeyRecord(
        row.public_id,
        row.name,
        row.prefix,
        row.created_at,
        row.expires_at,
        row.last_used_at,
        row.repositories,
        row.no_prepare,
        key,
    )
