"""What the code page says about the repository itself. Reads only, through `repos.access`."""

from dataclasses import dataclass

from repos.access import get_visible
from sourcegraph_site.kernel.actor import Actor


@dataclass(frozen=True, slots=True)
class About:
    name: str
    code_provider: str
    branches: tuple[str, ...]  # the monitored ones


def about_repository(actor: Actor, name: str) -> About:
    """Raises InvalidRepo, RepositoryNotFound."""
    repo = get_visible(actor, name)
    return About(repo.name, repo.code_provider, tuple(repo.monitored_branches))
