"""Registration of a repository, and its first sync."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction

from repos import idempotency, work
from repos.errors import (
    InvalidRemote,
    RegistrationDisabled,
    RepositoryExists,
)
from repos.gitstore.remote_url import check_remote
from repos.models import Repository, RepositoryManager
from repos.naming import check_name, repo_id_of
from repos.policy import (
    PathGroupInput,
    Policy,
    PolicyInput,
    check_git_timeout,
    check_index_history,
    check_index_mode,
    check_interval,
    check_path_groups,
    check_policy,
)
from repos.records import RepositoryRecord, person, record_of
from repos.scheduling import next_sync
from repos.sources.listing import source_of
from sourcegraph_site.accounts import policy as site
from sourcegraph_site.audit.record import record
from sourcegraph_site.jobs.models import Job
from sourcegraph_site.kernel import clock
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.errors import AccessDenied, AuthenticationRequired
from sourcegraph_site.kernel.inputs import Field, Input
from sourcegraph_site.kernel.wire import to_wire

OPERATION = "register"


class RegisterRepository(Input):
    """A repository to be mirrored; without `url`, https://<host of its code source>/<name>.git."""

    name: str = Field(description="owner/repository")
    code_provider: str = Field("github", description="Id of a code source.")
    url: str | None = Field(None, description="Clone address; for administrators.")
    public_read: bool = True
    index_mode: str = "full"
    index_history: str = ""
    path_groups: list[PathGroupInput] = Field(default_factory=list)
    policy: PolicyInput
    sync_interval_minutes: int = 5
    git_timeout_minutes: int = 0


@dataclass(frozen=True, slots=True)
class _Checked:
    """The input after all rules; what the row is made of."""

    name: str
    remote_url: str
    code_provider: str
    public_read: bool
    index_mode: str
    index_history: str
    path_groups: list[dict[str, Any]]
    policy: Policy
    sync_interval_minutes: int
    git_timeout_minutes: int


def register_repository(
    actor: Actor, params: RegisterRepository, *, idempotency_key: str = ""
) -> RepositoryRecord:
    """Register a repository and queue its first sync.

    The same actor, key and content within 24 hours gives the first answer again.

    Raises:
        InvalidRepo, InvalidCodeProvider, InvalidRemote, InvalidPolicy and its kin: the request.
        AuthenticationRequired, AccessDenied, RegistrationDisabled: the caller's rights.
        IdempotencyConflict: the key was used for another content.
        RepositoryExists: the name is taken; details hold the `creator`.
    """
    checked = _check(actor, params)
    require_right(actor)
    digest = idempotency.digest_of(params.model_dump())
    with transaction.atomic():
        before = idempotency.replayed(actor, OPERATION, idempotency_key, digest)
        if before is not None:
            return record_of(actor, before.repository)
        try:
            repo = _create(actor, checked)
        except RepositoryExists:
            # The same request at the same time may have been faster by a moment.
            before = idempotency.replayed(actor, OPERATION, idempotency_key, digest)
            if before is None:
                raise
            return record_of(actor, before.repository)
        if actor.kind is ActorKind.SESSION and actor.user_id is not None:
            RepositoryManager.objects.create(repository=repo, user_id=actor.user_id)
        work.queue_sync(repo, source=Job.Source.MANUAL, actor=actor.label)
        idempotency.keep(actor, OPERATION, idempotency_key, digest, repo, {})
        record(
            actor,
            "repository.registered",
            target=f"repository:{repo.name}",
            public_read=repo.public_read,
            policy=to_wire(checked.policy),
        )
    return record_of(actor, repo)


def validate(actor: Actor, params: RegisterRepository) -> None:
    """The rules of a registration that need no look-up of the name. Raises as registration."""
    _check(actor, params)


def _check(actor: Actor, params: RegisterRepository) -> _Checked:
    name = check_name(params.name)
    defaults = site.repository_defaults()
    by_days = defaults.retention_mode == "days"
    policy = check_policy(
        params.policy,
        fallback_days=defaults.retention_days if by_days else None,
        fallback_count=None if by_days else defaults.retention_count,
    )
    return _Checked(
        name=name,
        remote_url=_remote_of(actor, name, params),
        code_provider=params.code_provider,
        public_read=params.public_read,
        index_mode=check_index_mode(params.index_mode),
        index_history=check_index_history(params.index_history),
        path_groups=check_path_groups(params.index_mode, params.path_groups),
        policy=policy,
        sync_interval_minutes=check_interval(params.sync_interval_minutes),
        git_timeout_minutes=check_git_timeout(params.git_timeout_minutes),
    )


def _remote_of(actor: Actor, name: str, params: RegisterRepository) -> str:
    source = source_of(params.code_provider)
    if params.url is not None:
        if not actor.unrestricted:
            raise InvalidRemote("Only administrators may give a clone address.")
        return check_remote(params.url).url
    if not source.host:
        raise InvalidRemote("Give the clone address in `url`.")
    return check_remote(f"{source.origin}/{name}.git").url


def require_right(actor: Actor) -> None:
    """May this caller register repositories?

    Raises:
        AuthenticationRequired, AccessDenied, RegistrationDisabled.
    """
    if actor.unrestricted:
        return
    if not actor.signed_in:
        raise AuthenticationRequired("Sign in to register repositories.")
    if actor.kind is not ActorKind.SESSION:
        raise AccessDenied("A personal key cannot register repositories.")
    if not site.access().allow_user_repositories:
        raise RegistrationDisabled("Only administrators may register repositories here.")


def _create(actor: Actor, checked: _Checked) -> Repository:
    by_person = actor.kind is ActorKind.SESSION
    taken = Repository.objects.filter(repo_id=repo_id_of(checked.name)).first()
    if taken is not None:
        raise _exists(taken)
    try:
        with transaction.atomic():
            return Repository.objects.create(
                name=checked.name,
                remote_url=checked.remote_url,
                code_provider=checked.code_provider,
                public_read=checked.public_read,
                creator_id=actor.user_id if by_person else None,
                index_mode=checked.index_mode,
                index_history=checked.index_history,
                path_groups=checked.path_groups,
                branches=list(checked.policy.branches),
                follows_default=checked.policy.follows_default,
                window_days=checked.policy.days,
                window_count=checked.policy.count,
                sync_interval_minutes=checked.sync_interval_minutes,
                git_timeout_minutes=checked.git_timeout_minutes,
                # Should even the first sync's job be lost, the schedule brings another.
                next_sync_at=next_sync(clock.now(), checked.sync_interval_minutes),
            )
    except IntegrityError:
        raise _exists(Repository.objects.get(repo_id=repo_id_of(checked.name))) from None


def _exists(repo: Repository) -> RepositoryExists:
    user = get_user_model().objects.filter(pk=repo.creator_id or 0).first()
    creator = to_wire(person(user)) if user is not None else None
    return RepositoryExists("This name is registered already.", creator=creator)
