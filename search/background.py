"""What runs behind the search: handlers of its jobs, and what happens on a sync."""

from repos import work
from search.serving import REPAIR, forget
from search.usecases.collect_indexes import (
    UPKEEP,
    queue_all_upkeep,
    queue_upkeep,
    upkeep_index,
)
from search.usecases.index_commits import (
    HISTORY,
    index_commit,
    index_history,
    queue_indexing,
    repair_index,
)
from sourcegraph_site.jobs.handlers import register
from sourcegraph_site.jobs.ticks import register_tick
from sourcegraph_site.kernel.events import RepositoryRemoved, RepositorySynced, subscribe

HOUR = 3600


def connect() -> None:
    """Called once, when the app is ready."""
    register(work.INDEX, index_commit, time_limit_seconds=HOUR)
    register(HISTORY, index_history, time_limit_seconds=4 * HOUR)
    register(REPAIR, repair_index, time_limit_seconds=4 * HOUR)
    register(UPKEEP, upkeep_index, time_limit_seconds=4 * HOUR)
    register_tick("search.upkeep", HOUR, queue_all_upkeep)
    subscribe(RepositorySynced, queue_indexing)
    subscribe(RepositorySynced, _tidy_after)
    subscribe(RepositoryRemoved, _forget)


def _tidy_after(event: RepositorySynced) -> None:
    if event.changed:
        queue_upkeep(event.repository_id)


def _forget(event: RepositoryRemoved) -> None:
    forget(event.storage_key)
