"""Names that are not monitored → one commit, through the catalog or the remote."""

from dataclasses import dataclass
from functools import partial

from readers.errors import RefAmbiguous, RefNotCommit, RefNotFound
from readers.remote import catalog
from readers.remote.conversation import target_of
from readers.remote.describe import Described
from readers.remote.lookup import RefFound, look_up
from repos.errors import InvalidRevision
from repos.models import Repository
from repos.naming import is_ref_name
from repos.revisions import check_revision_word
from sourcegraph_site.kernel.deadline import Deadline

HEADS, TAGS = "refs/heads/", "refs/tags/"


@dataclass(frozen=True, slots=True)
class Named:
    """A branch or tag of the remote that ends at a commit."""

    ref: str
    commit: str
    source: str  # "catalog" or "remote"
    described: Described

    @property
    def kind(self) -> str:
        return "tag" if self.ref.startswith(TAGS) else "branch"


def candidates(revision: str) -> list[str]:
    """The full names that a revision may mean.

    >>> candidates("v1")
    ['refs/heads/v1', 'refs/tags/v1']

    Raises:
        ShortShaUnsupported, InvalidRevision: it can be neither a branch nor a tag.
    """
    if revision.startswith(TAGS):
        if not is_ref_name(revision.removeprefix(TAGS)):
            raise InvalidRevision("The tag's name holds characters that are not accepted.")
        return [revision]
    check_revision_word(revision)
    if revision.startswith(HEADS):
        return [revision]
    return [HEADS + revision, TAGS + revision]


def resolve_name(repo: Repository, revision: str, deadline: Deadline) -> Named:
    """The commit of a branch or tag that no sync observes.

    Raises:
        ShortShaUnsupported, InvalidRevision: see `candidates`.
        RefNotFound, RefAmbiguous, RefNotCommit.
        RemoteUnavailable, RemoteAccessDenied, InsufficientStorage.
    """
    refs = candidates(revision)
    found = catalog.fresh_entries(repo.storage_key, refs)
    source = "catalog"
    if found is None:
        found = look_up(repo.storage_key, partial(target_of, repo), refs, deadline)
        source = "remote"
    return _decide(refs, found, source)


def _decide(refs: list[str], found: list[RefFound], source: str) -> Named:
    if not found:
        raise RefNotFound("The remote has no such branch or tag; refs lists those it has.")
    if len(found) > 1:
        raise RefAmbiguous("A branch and a tag have this name; give the full one.", refs=refs)
    [row] = found
    if row.described.commit is None:
        raise RefNotCommit(f"The tag ends at a {row.described.target_type}.")
    return Named(row.ref, row.described.commit, source, row.described)
