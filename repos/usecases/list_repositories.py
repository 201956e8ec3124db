"""The catalog: all repositories that the caller sees, by pages."""

import re

from repos.access import visible_to
from repos.records import CatalogRow, catalog_rows
from sourcegraph_site.kernel.actor import Actor
from sourcegraph_site.kernel.errors import InvalidCursor
from sourcegraph_site.kernel.inputs import Field, Input

PAGE = 100
_REPO_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)


class ListRepositories(Input):
    after: str = Field("", description="The last repo_id of the page before.")


def list_repositories(actor: Actor, params: ListRepositories) -> list[CatalogRow]:
    """At most 100 rows in the order of `repo_id`. A full page means: ask again.

    Raises:
        InvalidCursor: `after` is not a repo_id.
    """
    if params.after and not _REPO_ID.fullmatch(params.after):
        raise InvalidCursor("`after` is the last repo_id of the page before.")
    found = visible_to(actor).filter(repo_id__gt=params.after).order_by("repo_id")
    return catalog_rows(actor, found[:PAGE])
