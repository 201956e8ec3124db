"""A pytest plugin for script/test: `--database-only` keeps the tests that use the database,
and those that need its servers."""

import pytest

FIXTURES = {"db", "transactional_db", "django_db_reset_sequences"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database-only", action="store_true", help="tests of the database only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--database-only"):
        return
    kept, left = [], []
    for item in items:
        marked = item.get_closest_marker("django_db") or item.get_closest_marker("servers")
        uses = marked or FIXTURES & set(getattr(item, "fixturenames", ()))
        (kept if uses else left).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)
