"""Looks for everything in an instance that is not as it should be (`manage.py doctor`)."""

from collections.abc import Iterator
from dataclasses import dataclass

from readers.remote import doctor as lookups
from repos.doctor import Finding, directories, jobs, mirrors, records, space, tokens
from repos.errors import RepositoryNotFound
from repos.models import Repository
from search import doctor as indexes


@dataclass(frozen=True, slots=True)
class Examination:
    """`findings` is read once, and examines as it goes: a repair may be run in between."""

    uses: list[space.Use]
    findings: Iterator[Finding]


def examine(*, repo: str = "", deep: bool = False) -> Examination:
    """Examine all, or the mirror and the index of one repository alone.

    Reads every index file and the commits and trees of every mirror; `deep` reads blobs too.

    Raises:
        RepositoryNotFound: there is no repository of this name.
    """
    rows = Repository.objects.filter(deleted_at=None).order_by("name")
    chosen = list(rows.filter(name=repo) if repo else rows)
    if repo and not chosen:
        raise RepositoryNotFound(f"There is no repository {repo!r}.")
    uses = space.uses(chosen)
    return Examination(uses, _findings(chosen, uses, everything=not repo, deep=deep))


def _findings(
    chosen: list[Repository], uses: list[space.Use], *, everything: bool, deep: bool
) -> Iterator[Finding]:
    if everything:
        yield from jobs.examine()
        yield from directories.examine()
        yield from lookups.examine()
        yield from records.examine()
        yield from tokens.examine()
    yield from space.examine(uses)
    yield from mirrors.examine(chosen, deep=deep)
    yield from indexes.examine(chosen, deep=deep)
