"""What the code page says about the repository itself. Reads only, through `repos.access`."""

from dataclasses import dataclass

from repos.access import get_visible
from repos.sources.web import page_base
from sourcegraph_site.kernel.actor import Actor


@dataclass(frozen=True, slots=True)
class About:
    name: str
    host_kind: str  # of the code host, "" if it has no pages that we know
    host_base: str
    branches: tuple[str, ...]  # the monitored ones


def about_repository(actor: Actor, name: str) -> About:
    """Raises InvalidRepo, RepositoryNotFound."""
    repo = get_visible(actor, name)
    return About(repo.name, *page_base(repo), tuple(repo.monitored_branches))
