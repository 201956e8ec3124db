"""What of a repository may be read at a commit: all of it, or a monorepo's path groups."""

from collections.abc import Sequence
from dataclasses import dataclass

from readers.errors import ContentNotReady, PathNotRegistered
from readers.paths import covers
from repos.models import Repository, Version
from repos.readiness import ready_groups


@dataclass(frozen=True, slots=True)
class Coverage:
    """The registered directories by group, and the groups that are prepared at the commit.

    `groups` is None in full mode: every path is covered, and no preparation is needed.
    """

    groups: tuple[tuple[str, tuple[bytes, ...]], ...] | None = None
    ready: frozenset[str] = frozenset()

    def contains(self, path: bytes) -> bool:
        """Does `path` lie in a registered directory?"""
        return self.groups is None or any(covers(d, path) for _, dirs in self.groups for d in dirs)

    def shows(self, path: bytes) -> bool:
        """Does it lie in a registered directory, or lead to one?"""
        return self.groups is None or any(
            covers(d, path) or covers(path, d) for _, dirs in self.groups for d in dirs
        )

    def narrow(self, paths: Sequence[bytes]) -> list[bytes]:
        """The paths, a parent of registered directories replaced by those below it."""
        if self.groups is None:
            return list(paths)
        directories = [d for _, dirs in self.groups for d in dirs]
        found = {
            d if covers(path, d) else path
            for path in paths or [b""]
            for d in directories
            if covers(path, d) or covers(d, path)
        }
        return sorted(found)

    def require(self, path: bytes) -> None:
        """For a read of one path.

        Raises:
            PathNotRegistered: no registered directory holds it.
            ContentNotReady: its group is not prepared at this commit.
        """
        if not self.contains(path):
            raise PathNotRegistered("The path is not in a directory of this monorepo's groups.")
        self._require_groups(path)

    def require_below(self, path: bytes) -> None:
        """For an operation on a directory, which may be a parent of registered ones.

        Raises:
            PathNotRegistered, ContentNotReady: as `require`, for every group that it meets.
        """
        if not self.shows(path):
            raise PathNotRegistered("The path meets no directory of this monorepo's groups.")
        self._require_groups(path)

    def _require_groups(self, path: bytes) -> None:
        for name, dirs in self.groups or ():
            meets = any(covers(d, path) or covers(path, d) for d in dirs)
            if meets and name not in self.ready:
                raise ContentNotReady(f"The group {name!r} is not prepared at this commit.")


FULL = Coverage()


def coverage_of(repo: Repository, version: Version) -> Coverage:
    if not repo.monorepo:
        return FULL
    return Coverage(
        tuple(
            (group["name"], tuple(path.encode() for path in group["paths"]))
            for group in repo.path_groups
        ),
        frozenset(ready_groups(version)),
    )
