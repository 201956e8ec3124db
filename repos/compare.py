"""Compare-and-set over a repository's revision (If-Match)."""

from repos.models import Repository
from sourcegraph_site.kernel.errors import PreconditionRequired, RevisionConflict


def check_revision(repo: Repository, revision: int | None) -> None:
    """`revision` is what the caller last saw; None: the caller did not say.

    Called once the caller's rights are known, so that neither answer tells of a repository
    that the caller may not see or manage.

    Raises:
        PreconditionRequired, RevisionConflict.
    """
    if revision is None:
        raise PreconditionRequired('Send If-Match: "<revision>" with the revision you last saw.')
    if repo.revision != revision:
        raise RevisionConflict("The repository changed since you read it.")
