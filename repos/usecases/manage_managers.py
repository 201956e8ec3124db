"""Who manages a repository: add and remove people."""

from django.contrib.auth import get_user_model
from django.db import transaction

from repos.access import get_managed
from repos.compare import check_revision
from repos.errors import ManagerLimitReached
from repos.models import Repository, RepositoryManager
from repos.records import RepositoryRecord, record_of
from sourcegraph_site.accounts.errors import UserNotFound
from sourcegraph_site.audit.record import record
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import InvalidRequest
from sourcegraph_site.kernel.inputs import Field, Input

MAX_MANAGERS = 50


class ManageManagers(Input):
    repo: str
    add: str | None = Field(None, description="Public id of the person to add.")
    remove: str | None = Field(None, description="Public id of the person to remove.")


def manage_managers(
    actor: Actor, params: ManageManagers, *, revision: int | None
) -> RepositoryRecord:
    """Add one manager, or remove one, oneself included.

    Adding a present or removing an absent one changes nothing, not even the revision.

    Raises:
        AuthenticationRequired, InvalidRepo, RepositoryNotFound, RepositoryManagementDenied.
        InvalidRequest: not exactly one of add and remove.
        PreconditionRequired: no `revision`.
        RevisionConflict: the record changed since `revision`.
        UserNotFound: nobody enabled has this id.
        ManagerLimitReached: there are 50 already.
    """
    if (params.add is None) == (params.remove is None):
        raise InvalidRequest("Give exactly one of add and remove.")
    repo = get_managed(actor, params.repo)
    with transaction.atomic():
        repo = Repository.objects.select_for_update().get(pk=repo.pk)
        check_revision(repo, revision)
        if params.add is not None:
            who, changed = params.add, _add(repo, params.add)
            action = "repository.manager_added"
        else:
            who, changed = params.remove or "", _remove(repo, params.remove or "")
            action = "repository.manager_removed"
        if changed:
            repo.revision += 1
            repo.save(update_fields=["revision", "updated_at"])
            record(actor, action, target=f"repository:{repo.name}", user=who)
    return record_of(actor, repo)


def _add(repo: Repository, public_id: str) -> bool:
    user = get_user_model().objects.filter(public_id=public_id, is_active=True).first()
    if user is None:
        raise UserNotFound("No enabled user has this id.")
    mine = RepositoryManager.objects.filter(repository=repo)
    if mine.filter(user=user).exists():
        return False
    if mine.count() >= MAX_MANAGERS:
        raise ManagerLimitReached(f"A repository has at most {MAX_MANAGERS} managers.")
    RepositoryManager.objects.create(repository=repo, user=user)
    return True


def _remove(repo: Repository, public_id: str) -> bool:
    mine = RepositoryManager.objects.filter(repository=repo, user__public_id=public_id)
    return bool(mine.delete()[0])
