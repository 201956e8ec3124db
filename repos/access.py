"""Who may see and who may manage a repository: the only place for these rules.

| Caller                       | sees                               | manages          |
|------------------------------|------------------------------------|------------------|
| anonymous                    | public ones, while the site allows | nothing          |
| administrator on the website,| everything                         | everything       |
| deployment credential,       |                                    |                  |
| terminal, our own jobs       |                                    |                  |
| signed-in person             | public, created and managed ones   | managed ones     |
| personal key, access token   | as its owner, but without the      | nothing; has its |
|                              | administrator's reach; narrowed    | rule for prepare |
"""

from django.db.models import Q, QuerySet

from repos.errors import (
    PreparationNotAllowed,
    RepositoryManagementDenied,
    RepositoryNotFound,
)
from repos.models import Repository, RepositoryManager
from repos.naming import check_name, repo_id_of
from sourcegraph_site.accounts import policy
from sourcegraph_site.accounts.prepared import PreparedSelect
from sourcegraph_site.kernel.actor import Actor, ActorKind
from sourcegraph_site.kernel.errors import AccessDenied, AuthenticationRequired

_KEYS = (ActorKind.KEY, ActorKind.OAUTH)


def visible_to(actor: Actor) -> QuerySet[Repository]:
    """Every read starts here; no surface filters repositories by itself."""
    found = Repository.objects.all()
    if not actor.unrestricted:
        if not actor.signed_in:
            found = found.filter(public_read=True) if policy.public_read() else found.none()
        else:
            found = found.filter(Q(public_read=True) | _belonging_to(actor))
    if actor.repositories is not None:
        found = found.filter(name__in=actor.repositories)
    return found


def _belonging_to(actor: Actor) -> Q:
    if actor.user_id is None:
        return Q(pk__in=[])
    managed = RepositoryManager.objects.filter(user_id=actor.user_id)
    return Q(creator_id=actor.user_id) | Q(pk__in=managed.values("repository_id"))


def may_see(actor: Actor, repo: Repository) -> bool:
    """The rule of `visible_to` for one repository that was found already; a test compares."""
    if actor.repositories is not None and repo.name not in actor.repositories:
        return False
    if actor.unrestricted:
        return True
    if not actor.signed_in:
        return repo.public_read and policy.public_read()
    if repo.public_read:
        return True
    if actor.user_id is None:
        return False
    return repo.creator_id == actor.user_id or _is_manager(actor, repo)


# By the digest: case-sensitive in every database and collation.
_BY_ID = PreparedSelect(Repository, '"repos_repository"."repo_id" = %s')


def get_visible(actor: Actor, name: str) -> Repository:
    """One repository by name.

    Raises:
        InvalidRepo: the name has another form.
        RepositoryNotFound: absent or hidden; the same answer, or names become an oracle.
    """
    repo = _BY_ID.first(repo_id_of(check_name(name)))
    # What is absent is asked about like what is hidden, so that time does not tell them apart.
    shown = may_see(actor, repo or Repository(pk=0, name=name, public_read=False))
    if repo is None or not shown:
        raise RepositoryNotFound("No such repository.")
    return repo


def can_manage(actor: Actor, repo: Repository) -> bool:
    """May this caller change the repository's settings?"""
    if actor.kind in _KEYS:
        return False
    return actor.unrestricted or _is_manager(actor, repo)


def can_prepare(actor: Actor, repo: Repository) -> bool:
    """May this caller, who sees the repository, queue preparations of it?"""
    if not actor.signed_in or actor.no_prepare:
        return False
    return actor.unrestricted or actor.site_admin or _is_manager(actor, repo)


def _is_manager(actor: Actor, repo: Repository) -> bool:
    if actor.user_id is None:
        return False
    return RepositoryManager.objects.filter(repository=repo, user_id=actor.user_id).exists()


def get_managed(actor: Actor, name: str) -> Repository:
    """One repository for a management operation; the checks in the contract's order.

    Raises:
        AuthenticationRequired: anonymous, before any look-up.
        AccessDenied: a personal key or token.
        InvalidRepo, RepositoryNotFound: as `get_visible`.
        RepositoryManagementDenied: visible, but not this caller's to manage.
    """
    if not actor.signed_in:
        raise AuthenticationRequired("Sign in to manage repositories.")
    if actor.kind in _KEYS:
        raise AccessDenied("A personal key cannot manage repositories.")
    repo = get_visible(actor, name)
    require_manager(actor, repo)
    return repo


def require_manager(actor: Actor, repo: Repository) -> None:
    """Raises RepositoryManagementDenied unless `can_manage`."""
    if not can_manage(actor, repo):
        raise RepositoryManagementDenied("Only its managers and administrators may do this.")


def get_preparable(actor: Actor, name: str) -> Repository:
    """One repository for `prepare`.

    Raises:
        InvalidRepo, RepositoryNotFound: as `get_visible`.
        PreparationNotAllowed: anonymous.
        RepositoryManagementDenied: everyone else who may not prepare it.
    """
    repo = get_visible(actor, name)
    if not actor.signed_in:
        raise PreparationNotAllowed("Sign in to prepare a version.")
    if not can_prepare(actor, repo):
        raise RepositoryManagementDenied("Only its managers and administrators may prepare it.")
    return repo
