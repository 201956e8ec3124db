"""Whether this worker process is told to stop.

A worker is one process that runs one job at a time (Celery's solo pool); the supervisor runs
several. Not a prefork pool: with a broker that cannot be polled by its event loop, its
processes share a lock that a killed one keeps for ever, and no job would run again.
"""

_stopping = False


def stop() -> None:
    """Called by the worker, also from a signal handler."""
    global _stopping
    _stopping = True


def stopping() -> bool:
    """Always False outside a worker."""
    return _stopping
