"""What the search page is filled with beside results. Reads only, through `repos`."""

from repos.models import Repository
from repos.page_data import in_service
from repos.presentation import Row, rows_of
from sourcegraph_site.kernel.actor import Actor

FIRST_ROWS = 8

Found = Repository | None


def repository(actor: Actor, name: str) -> Found:
    """The repository, if the caller can search it."""
    return in_service(actor).filter(name=name).first() if name else None


def chosen(actor: Actor, last: str) -> str:
    """The repository of the last search if it is still there, else the first one, if any."""
    seen = in_service(actor)
    if last and seen.filter(name=last).exists():
        return last
    return seen.values_list("name", flat=True).first() or ""


def first_rows(actor: Actor) -> tuple[list[Row], int]:
    """Repositories for the first page, those synced last first; and how many there are."""
    seen = in_service(actor)
    return rows_of(list(seen.order_by("-observed_at", "name")[:FIRST_ROWS])), seen.count()
