"""What happens every so many seconds. Apps register in `AppConfig.ready()`.

Beat only sends the names. A tick that found all workers busy is dropped, not piled up; the
next one does the same work.
"""

from collections.abc import Callable

from celery import current_app

Tick = Callable[[], object]
TICK_TASK = "jobs.tick"

_ticks: dict[str, Tick] = {}


def register_tick(name: str, every_seconds: float, fn: Tick) -> None:
    """Call `fn()` about every `every_seconds`, in one worker at a time at most usually: `fn`
    must bear being run twice at once."""
    _ticks[name] = fn
    current_app.conf.beat_schedule[name] = {
        "task": TICK_TASK,
        "schedule": every_seconds,
        "args": [name],
        "options": {"expires": every_seconds, "ignore_result": True},
    }


def run_tick(name: str) -> None:
    """Run one tick; an unknown name is a message of an older release and does nothing."""
    fn = _ticks.get(name)
    if fn is not None:
        fn()
