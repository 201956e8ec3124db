"""The files of one repository's index: their names, who may write, what appears when.

    <root>/segments/<id>.segment                        immutable
    <root>/generations/<commit>[-<group>].manifest      replaced by rename
    <root>/staging/                                     unfinished work; nobody reads it
    <root>/lock                                         held by the one process that writes

A file appears under its name only when it is whole and durable. Whoever builds, merges or
collects holds the lock, so what lies in staging when it is taken is debris of a process
that died. Readers take no lock. They keep segments mapped: a file that is removed while it
is mapped stays until it is unmapped. A reader that finds a file gone before it could open
it looks at the manifest again, which by then names other segments.

Segments are sets of blobs and know nothing of commits. So a commit of which all blobs are
in segments needs no file of its own: its manifest is computed from its tree when somebody
asks for it.
"""

import fcntl
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from search.index.manifest import Manifest, decode_manifest
from search.index.publish import publish, sync_directory
from search.index.storage import storage_errors


class IndexDirectory:
    """The directory of one index."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def _segments_dir(self) -> Path:
        return self.root / "segments"

    @property
    def _manifests_dir(self) -> Path:
        return self.root / "generations"

    def segment_path(self, segment_id: str) -> Path:
        return self._segments_dir / f"{segment_id}.segment"

    def manifest_path(self, commit: str, group: str = "") -> Path:
        suffix = f"-{quote(group, safe='')}" if group else ""
        return self._manifests_dir / f"{commit}{suffix}.manifest"

    def segment_files(self) -> list[Path]:
        return sorted(self._segments_dir.glob("*.segment"))

    def manifest_files(self) -> list[Path]:
        return sorted(self._manifests_dir.glob("*.manifest"))

    def read_manifest(self, path: Path) -> Manifest:
        """Raises CorruptIndex, FileNotFoundError."""
        return decode_manifest(path.read_bytes(), path.name)

    def manifests(self) -> list[Manifest]:
        """All manifests that have a file. Raises CorruptIndex."""
        return [self.read_manifest(path) for path in self.manifest_files()]

    def has_manifest(self, commit: str, group: str = "") -> bool:
        """Has a manifest of this commit been published?"""
        return self.manifest_path(commit, group).exists()

    def remove(self, paths: Sequence[Path]) -> int:
        """Remove files of the index for good. Returns the bytes. The lock must be held."""
        freed = 0
        for path in paths:
            freed += path.stat().st_size
            path.unlink()
        for directory in {path.parent for path in paths}:
            sync_directory(directory)
        return freed

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock, with an empty staging folder, and turn a full disk into its error."""
        for directory in (self._segments_dir, self._manifests_dir):
            directory.mkdir(parents=True, exist_ok=True)
        with storage_errors(), (self.root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._sweep()
            try:
                yield
            finally:
                self._sweep()

    def publish_manifest(self, manifest: Manifest) -> None:
        """Write a manifest under its name. The lock must be held."""
        staged = self.new_staging() / "manifest"
        staged.write_bytes(manifest.encode())
        publish(staged, self.manifest_path(manifest.commit, manifest.group))

    def publish_segment(self, staged: Path, segment_id: str) -> None:
        """Give a finished segment its name. The lock must be held."""
        publish(staged, self.segment_path(segment_id))

    def new_staging(self) -> Path:
        """An empty folder that `_sweep` removes."""
        staging = self.root / "staging" / uuid.uuid4().hex
        staging.mkdir(parents=True)
        return staging

    def _sweep(self) -> None:
        shutil.rmtree(self.root / "staging", ignore_errors=True)
