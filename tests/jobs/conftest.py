import itertools

import pytest

from sourcegraph_site.jobs import handlers


@pytest.fixture
def handler():
    """Register a handler for the test: `handler(fn)` → kind."""
    kinds = []
    numbers = itertools.count()

    def make(fn=lambda handle: None, *, time_limit_seconds: int = 60) -> str:
        kind = f"test.{next(numbers)}"
        handlers.register(kind, fn, time_limit_seconds=time_limit_seconds)
        kinds.append(kind)
        return kind

    yield make
    for kind in kinds:
        handlers.unregister(kind)


@pytest.fixture
def broker(settings, tmp_path):
    """Bells that were rung, instead of a broker."""
    rung = []
    from celery import current_app

    original = current_app.send_task
    current_app.send_task = lambda name, *args, **kwargs: rung.append(name)
    yield rung
    current_app.send_task = original
