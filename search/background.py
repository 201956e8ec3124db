"""What runs behind the search: handlers of its jobs, and what happens on a sync."""

from repos import work
from search.serving import REPAIR
from search.usecases.index_commits import (
    HISTORY,
    index_commit,
    index_history,
    queue_indexing,
    repair_index,
)
from sourcegraph_site.jobs.handlers import register
from sourcegraph_site.kernel.events import RepositorySynced, subscribe

HOUR = 3600


def connect() -> None:
    """Called once, when the app is ready."""
    register(work.INDEX, index_commit, time_limit_seconds=HOUR)
    register(HISTORY, index_history, time_limit_seconds=4 * HOUR)
    register(REPAIR, repair_index, time_limit_seconds=4 * HOUR)
    subscribe(RepositorySynced, queue_indexing)
