"""Storage key → path. The only place that knows where things lie below the data root."""

import secrets
from pathlib import Path

from django.conf import settings


def repository_path(storage_key: str) -> Path:
    """Everything of one repository; its storage key is 32 hex characters, never its name."""
    return Path(settings.DATA_ROOT) / "repositories" / storage_key


def mirror_path(storage_key: str) -> Path:
    return repository_path(storage_key) / "mirror.git"


def index_path(storage_key: str) -> Path:
    return repository_path(storage_key) / "index"


def staging_root() -> Path:
    return Path(settings.DATA_ROOT) / "staging"


def scratch_root() -> Path:
    return Path(settings.DATA_ROOT) / "scratch"


def trash_root() -> Path:
    return Path(settings.DATA_ROOT) / "trash"


def fresh(root: Path) -> Path:
    """A new, unguessable path below `root`, which is made; the path itself is not."""
    root.mkdir(parents=True, exist_ok=True)
    return root / secrets.token_hex(16)
