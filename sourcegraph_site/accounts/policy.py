"""The site's settings, read often and changed rarely.

Each process keeps what it read for `FRESH_SECONDS`; a change is therefore in force
everywhere within that time, and at once in the process that made it.
"""

import time
from typing import Any

from sourcegraph_site.accounts.models import SettingsSection
from sourcegraph_site.accounts.sections import SECTIONS, Access, RepositoryDefaults, defaults

FRESH_SECONDS = 2.0

_kept: dict[str, tuple[float, Any]] = {}


def _section(name: str) -> Any:
    kept = _kept.get(name)
    if kept and time.monotonic() - kept[0] < FRESH_SECONDS:
        return kept[1]
    row = SettingsSection.objects.filter(name=name).values_list("values", flat=True).first()
    known = SECTIONS[name].model_fields
    saved = {key: value for key, value in (row or {}).items() if key in known}
    section = SECTIONS[name].model_validate({**defaults(name), **saved})
    _kept[name] = (time.monotonic(), section)
    return section


def access() -> Access:
    section: Access = _section("access")
    return section


def repository_defaults() -> RepositoryDefaults:
    section: RepositoryDefaults = _section("repository_defaults")
    return section


def public_read() -> bool:
    """May anonymous callers read public repositories?"""
    return access().public_read


def forget() -> None:
    """Read again at the next question; called after a change, and by tests."""
    _kept.clear()
