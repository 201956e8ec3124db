"""What runs behind the search: handlers of its jobs, and what happens on a sync."""

from repos import work
from search.serving import REPAIR
from search.usecases.collect_indexes import (
    ALL_EVERY_SECONDS,
    UPKEEP,
    forget_removed,
    queue_all_upkeep,
    tidy_after,
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
    register_tick("search.upkeep", ALL_EVERY_SECONDS, queue_all_upkeep)
    subscribe(RepositorySynced, queue_indexing)
    subscribe(RepositorySynced, tidy_after)
    subscribe(RepositoryRemoved, forget_removed)
