"""Directories of the data root that belong to nothing."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from repos.doctor.finding import Finding
from repos.gitstore import layout, maintenance
from repos.gitstore.disk import size_of
from repos.models import Repository
from repos.usecases.remove_repository import discard


def examine() -> Iterator[Finding]:
    known = set(Repository.objects.values_list("storage_key", flat=True))
    for path in maintenance.orphans(known):
        text = f"belongs to no repository ({size_of(path):,} bytes)"
        yield Finding("directories", f"repositories/{path.name}", text, partial(_remove, path))
    for path in maintenance.left_behind():
        text = f"was left by a process that died ({size_of(path):,} bytes)"
        name = f"{path.parent.name}/{path.name}"
        yield Finding("directories", name, text, partial(_remove, path))


def _remove(path: Path) -> str:
    if path.parent == layout.trash_root():
        maintenance.erase(path)
    else:
        discard(path)
    return "removed"
