"""How the processes of a Celery pool learn that their worker stops, or is dead.

The worker opens a pipe before it forks. Told to stop, it writes one byte that nobody reads,
so the pipe is readable in all its children from then on. Killed, it closes the only write
end, which makes the pipe readable too. No lock is shared, so no killed process can leave one
behind.

(PR_SET_PDEATHSIG would not do here: it follows the *thread* that forked, and Celery forks
replacements from a thread that ends before the worker does.)
"""

import os
import select
import threading
import time

_read: int | None = None
_write: int | None = None
_worker: int = 0


def open_in_worker() -> None:
    """In the worker, before its pool starts."""
    global _read, _write, _worker
    _read, _write = os.pipe()
    _worker = os.getpid()


def enter_child() -> None:
    """In a fresh process of the pool: from now on it dies with its worker."""
    global _write
    if _write is not None:
        os.close(_write)
        _write = None
    threading.Thread(target=_die_with_worker, name="lifeline", daemon=True).start()


def _die_with_worker() -> None:
    if _read is not None:
        select.select([_read], [], [])
    while os.getppid() == _worker:
        time.sleep(0.2)
    os._exit(1)


def stop() -> None:
    """In the worker, also from a signal handler."""
    if _write is not None:
        os.write(_write, b".")


def stopping() -> bool:
    """Is this process told to finish? Always False outside a Celery pool."""
    return _read is not None and bool(select.select([_read], [], [], 0)[0])
