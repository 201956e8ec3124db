"""Import from a code host: list the repositories of an account, and register chosen ones."""

import re
from dataclasses import dataclass
from typing import Literal

from repos.access import visible_to
from repos.errors import InvalidCodeProvider, RepositoryExists
from repos.models import Repository
from repos.naming import check_name, repo_id_of
from repos.policy import PolicyInput
from repos.sources.accounts import MAX_PAGES, Found, page_of_account
from repos.sources.listing import CodeSource, source_of
from repos.sources.tokens import usable_token
from repos.usecases.register_repository import (
    RegisterRepository,
    register_repository,
    require_right,
    validate,
)
from sourcegraph_site.accounts.models import User
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.deadline import Deadline
from sourcegraph_site.kernel.errors import AppError, InvalidCursor, InvalidRequest
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.wire import optional

SECONDS = 20.0
MAX_NAMES = 100
_ACCOUNT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,254}", re.ASCII)


class ListAccount(Input):
    """One page of an account's repositories; forks and archived ones only when asked for."""

    source: str = "github"
    account: str = Field(description="User, organisation, group or workspace.")
    query: str = Field("", description="Part of the name, whatever its case.")
    forks: bool = False
    archived: bool = False
    after: str = Field("", description="next_cursor of the page before.")


@dataclass(frozen=True, slots=True)
class AccountRow:
    """`registered`: here already, as far as the caller may know. `code`: why it cannot be
    registered, where that can be said beforehand."""

    name: str
    private: bool
    fork: bool
    archived: bool
    empty: bool
    default_branch: str
    description: str
    registered: bool
    code: str | None = optional()


@dataclass(frozen=True, slots=True)
class AccountPage:
    """A page may be short, or empty, and still have a next one."""

    source: str
    account: str
    items: list[AccountRow]
    next_cursor: str | None


class ImportRepositories(Input):
    """Repositories to register from one source, with one policy for all."""

    source: str = "github"
    names: list[str]
    dry_run: bool = False
    public_read: bool = Field(False, description="Everyone may read them; else only you may.")
    policy: PolicyInput = Field(default_factory=lambda: PolicyInput(default_branch=True))
    sync_interval_minutes: int = 60


@dataclass(frozen=True, slots=True)
class Imported:
    """What became, or would become, of one name."""

    name: str
    outcome: Literal["registered", "would_register", "exists", "refused"]
    code: str | None = optional()
    message: str | None = optional()


@dataclass(frozen=True, slots=True)
class ImportReport:
    dry_run: bool
    items: list[Imported]


def list_account(actor: Actor, params: ListAccount) -> AccountPage:
    """Ask the code host which repositories an account has.

    The caller's own token is used, and for administrators the site's where they have none:
    the names of what the site's token can read are not for everybody who may register.

    Raises:
        AuthenticationRequired, AccessDenied, RegistrationDisabled: as registration.
        InvalidCodeProvider, InvalidRequest, InvalidCursor: the request.
        GitAuthFailed, GitAccessDenied, GitRepositoryUnavailable, GitFetchFailed: the host.
    """
    require_right(actor)
    account = params.account.strip().strip("/")
    if not _ACCOUNT.fullmatch(account) or ".." in account:
        raise InvalidRequest("Write the account as it stands in addresses, such as acme.")
    page = _page_number(params.after)
    source = source_of(params.source)
    deadline = Deadline.after(SECONDS)
    found = page_of_account(source, _token(actor, source), account, page, deadline)
    more = bool(found) and page < MAX_PAGES
    wanted = [each for each in found if _wanted(each, params)]
    return AccountPage(
        source.id, account, _described(actor, wanted), str(page + 1) if more else None
    )


def _page_number(cursor: str) -> int:
    if not cursor:
        return 1
    if not re.fullmatch(r"[1-9][0-9]{0,2}", cursor) or int(cursor) > MAX_PAGES:
        raise InvalidCursor("The cursor is damaged; start again without it.")
    return int(cursor)


def _token(actor: Actor, source: CodeSource) -> str:
    owner = User.objects.filter(pk=actor.user_id or 0).first()
    found, _ = usable_token(source, owner, site=actor.unrestricted)
    return found.token if found is not None else ""


def _wanted(row: Found, params: ListAccount) -> bool:
    return (
        params.query.lower() in row.name.lower()
        and (params.forks or not row.fork)
        and (params.archived or not row.archived)
    )


def _described(actor: Actor, rows: list[Found]) -> list[AccountRow]:
    ids = {repo_id_of(row.name) for row in rows}
    known = set(visible_to(actor).filter(repo_id__in=ids).values_list("repo_id", flat=True))
    return [
        AccountRow(
            row.name,
            row.private,
            row.fork,
            row.archived,
            row.empty,
            row.default_branch,
            row.description,
            repo_id_of(row.name) in known,
            _refusal(row.name),
        )
        for row in rows
    ]


def _refusal(name: str) -> str | None:
    try:
        check_name(name)
    except AppError as exc:
        return exc.code
    return None


def import_repositories(actor: Actor, params: ImportRepositories) -> ImportReport:
    """Register each name, or with `dry_run` say what would become of it.

    Each name stands for itself: one that is refused does not keep the others out. What is
    imported is private unless `public_read` says otherwise.

    Raises:
        AuthenticationRequired, AccessDenied, RegistrationDisabled: as registration.
        InvalidRequest: no name, or more than 100.
        InvalidCodeProvider, InvalidPolicy and its kin: what holds for all names.
    """
    require_right(actor)
    names = list(dict.fromkeys(params.names))
    if not 1 <= len(names) <= MAX_NAMES:
        raise InvalidRequest(f"Name 1 to {MAX_NAMES} repositories.")
    if not source_of(params.source).host:
        raise InvalidCodeProvider("Choose a code source that has a host.")
    validate(actor, _request("owner/name", params))
    return ImportReport(params.dry_run, [_import(actor, name, params) for name in names])


def _request(name: str, params: ImportRepositories) -> RegisterRepository:
    return RegisterRepository(
        name=name,
        code_provider=params.source,
        public_read=params.public_read,
        policy=params.policy,
        sync_interval_minutes=params.sync_interval_minutes,
    )


def _import(actor: Actor, name: str, params: ImportRepositories) -> Imported:
    request = _request(name, params)
    try:
        if not params.dry_run:
            register_repository(actor, request)
            return Imported(name, "registered")
        validate(actor, request)
        if Repository.objects.filter(repo_id=repo_id_of(name)).exists():
            return Imported(name, "exists", RepositoryExists.code)
    except RepositoryExists as exc:
        return Imported(name, "exists", exc.code)
    except AppError as exc:
        return Imported(name, "refused", exc.code, exc.message)
    return Imported(name, "would_register")
