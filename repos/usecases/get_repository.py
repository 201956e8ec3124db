"""One repository: its record, as this caller sees it."""

from repos.access import get_visible
from repos.records import RepositoryRecord, record_of
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.inputs import Field, Input


class GetRepository(Input):
    repo: str = Field(description="Name of the repository, owner/repository.")


def get_repository(
    actor: Actor, params: GetRepository, *, with_versions: bool = True
) -> RepositoryRecord:
    """The record; its `revision` is the ETag.

    Raises:
        InvalidRepo, RepositoryNotFound: see `access.get_visible`.
    """
    return record_of(actor, get_visible(actor, params.repo), with_versions=with_versions)
