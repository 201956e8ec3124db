"""The index of one repository: opening what is indexed of a commit, and indexing commits.

Segments are sets of blobs and know nothing of commits. So a commit of which all blobs are
in segments needs no file of its own: its manifest is computed from its tree when somebody
asks for it.
"""

import os
import shutil
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search.index.builder import (
    BlobPlan,
    build_from_git,
    default_workers,
    plan_blobs,
)
from search.index.directory import IndexDirectory
from search.index.format import CorruptIndex
from search.index.generation import Generation
from search.index.manifest import (
    Manifest,
    Match,
    Override,
    make_manifest,
    match_listing,
)
from search.index.options import IndexOptions
from search.index.segment import Segment
from search.index.trees import TreeListing, list_blobs, list_tree

_CACHED_GENERATIONS = 64

# (bytes of text done, bytes in all)
Progress = Callable[[int, int], None]


class GenerationMissing(Exception):
    """The commit has not been indexed: no segment holds some of its blobs."""


@dataclass(frozen=True)
class BuildReport:
    """What a build did."""

    new_documents: int
    new_bytes: int  # of blobs read
    segments: tuple[str, ...]  # ids of the segments that it added
    seconds: float


@dataclass(frozen=True)
class _Cached:
    """A generation, and the file that it came from; None when it was computed."""

    generation: Generation
    scope: tuple[bytes, ...]
    stamp: tuple[int, int] | None


class IndexStore(IndexDirectory):
    """The index directory of one repository. May be shared by threads."""

    def __init__(
        self,
        root: Path,
        git_dir: Path,
        options: IndexOptions | None = None,
        *,
        workers: int | None = None,
    ) -> None:
        """`workers`: processes that build; one per processor if not given."""
        super().__init__(root)
        self.git_dir = git_dir
        self.options = options or IndexOptions()
        self._worker_count = workers or default_workers()
        self._mutex = threading.Lock()
        self._segments: dict[str, Segment] = {}
        self._generations: OrderedDict[tuple[str, str], _Cached] = OrderedDict()

    # Reading

    def open_generation(
        self, commit: str, group: str = "", scope: Sequence[bytes] = ()
    ) -> Generation:
        """What is indexed of a commit, or of one path group of it.

        `scope` are the paths of the group; with none, all of the commit. A manifest that was
        made for another scope does not count.

        Raises:
            GenerationMissing: it is not indexed.
            CorruptIndex: a file that it needs is damaged.
            GitFailed: there is no such commit.
        """
        wanted = tuple(scope)
        for _ in range(3):
            try:
                return self._open_once(commit, group, wanted)
            except FileNotFoundError:
                # A merge has just replaced a segment; its manifest is already another.
                continue
        raise GenerationMissing(commit)

    def _open_once(self, commit: str, group: str, scope: tuple[bytes, ...]) -> Generation:
        path = self.manifest_path(commit, group)
        stamp = _stamp(path)
        with self._mutex:
            cached = self._generations.get((commit, group))
            if cached and cached.scope == scope and self._is_current(cached, stamp):
                self._generations.move_to_end((commit, group))
                return cached.generation
        manifest = None
        if stamp is not None:
            manifest = self.read_manifest(path)
        if manifest is None or manifest.scope != scope:
            manifest, stamp = self._compute(commit, group, scope), None
        segments = tuple(self.open_segment(each) for each in manifest.segments)
        generation = Generation(
            commit=commit,
            group=group,
            segments=segments,
            paths=manifest.paths,
            path_segment=manifest.path_segment,
            path_document=manifest.path_document,
            skipped=manifest.skipped,
            options=manifest.options,
        )
        self._let_go()
        with self._mutex:
            self._generations[commit, group] = _Cached(generation, scope, stamp)
            self._generations.move_to_end((commit, group))
            while len(self._generations) > _CACHED_GENERATIONS:
                self._generations.popitem(last=False)
        return generation

    def _is_current(self, cached: _Cached, stamp: tuple[int, int] | None) -> bool:
        if stamp is not None or cached.stamp is not None:
            return stamp == cached.stamp
        return all(segment.path.exists() for segment in cached.generation.segments)

    def _compute(self, commit: str, group: str, scope: tuple[bytes, ...]) -> Manifest:
        """The manifest of a commit that has no file. Raises GenerationMissing, GitFailed."""
        listing = list_tree(self.git_dir, commit, scope)
        # A changed option rebuilds beside the old index, which serves until that is done.
        digests = {segment.meta.options for segment in self.open_segments()}
        for digest in sorted(digests, key=lambda each: each != self.options.digest):
            segments = self.open_segments(digest)
            match = match_listing(listing, segments, self.override())
            if not match.missing.any():
                return make_manifest(
                    commit, listing, match, segments, options=digest, group=group, scope=scope
                )
        if not digests and not listing.paths:
            match = match_listing(listing, [], None)
            return make_manifest(
                commit, listing, match, [], options=self.options.digest, group=group, scope=scope
            )
        raise GenerationMissing(commit)

    def open_segment(self, segment_id: str) -> Segment:
        """One segment, opened once per process. Raises FileNotFoundError, CorruptIndex."""
        with self._mutex:
            segment = self._segments.get(segment_id)
        if segment is None or not segment.path.exists():
            segment = Segment(self.segment_path(segment_id))
            with self._mutex:
                segment = self._segments.setdefault(segment_id, segment)
        return segment

    def open_segments(self, digest: str = "") -> list[Segment]:
        """All published segments, largest first; with a digest, those of these options.

        Raises:
            CorruptIndex: one of them is damaged.
        """
        self._let_go()
        segments = [self.open_segment(path.stem) for path in self.segment_files()]
        segments = [each for each in segments if digest in ("", each.meta.options)]
        return sorted(segments, key=lambda each: -len(each.content))

    def _let_go(self) -> None:
        """Forget segments that were merged or collected: open files keep their disk space."""
        with self._mutex:
            for name in [each for each, kept in self._segments.items() if not kept.path.exists()]:
                del self._segments[name]
            for key, cached in list(self._generations.items()):
                if not all(each.path.exists() for each in cached.generation.segments):
                    del self._generations[key]

    # Writing

    def index_commit(
        self,
        commit: str,
        *,
        group: str = "",
        scope: Sequence[bytes] = (),
        progress: Progress | None = None,
    ) -> BuildReport:
        """Index what no segment has of a commit, and publish its manifest.

        Raises:
            GitFailed, GitObjectMissing: the mirror lacks something.
            InsufficientStorage: the disk is full; nothing has changed.
            CorruptIndex: a segment is damaged; see `repair`.
        """
        with self.writing():
            listing = list_tree(self.git_dir, commit, scope)
            match, segments = self._match(listing)
            oids = {listing.oids[i] for i in np.flatnonzero(match.missing).tolist()}
            report = self._add_blobs(oids, self._oversize(listing, match), progress)
            if report.segments:
                match, segments = self._match(listing)
            manifest = make_manifest(
                commit,
                listing,
                match,
                segments,
                options=self.options.digest,
                group=group,
                scope=scope,
            )
            self.publish_manifest(manifest)
            return report

    def index_commits(
        self,
        commits: Sequence[str],
        *,
        scope: Sequence[bytes] = (),
        progress: Progress | None = None,
    ) -> BuildReport:
        """Index what no segment has of many commits, so that each can be opened.

        With `scope`, so that each can be opened for this scope.

        Raises as `index_commit` does.
        """
        with self.writing():
            paths = dict(list_blobs(self.git_dir, commits, scope))
            unknown = self._unknown(list(paths))
            oversize: set[bytes] = set()
            override = self.override()
            if override is not None:
                allowed = override([paths[oid] for oid in unknown])
                oversize = {oid for oid, good in zip(unknown, allowed, strict=True) if good}
            return self._add_blobs(set(unknown), oversize, progress)

    def _add_blobs(
        self, oids: set[bytes], oversize: set[bytes], progress: Progress | None
    ) -> BuildReport:
        began = time.monotonic()
        if not oids:
            return BuildReport(0, 0, (), 0.0)
        whole = plan_blobs(self.git_dir, oids, self.options, oversize)
        added = []
        done, total = 0, sum(whole.sizes)
        for plan in whole.slices():
            if not plan.oids and not plan.skipped:
                continue
            added.append(self._add_segment(plan, done, total, progress))
            done += sum(plan.sizes)
        seconds = time.monotonic() - began
        return BuildReport(len(whole.oids), total, tuple(added), seconds)

    def _add_segment(self, plan: BlobPlan, done: int, total: int, progress: Progress | None) -> str:
        segment_id, staging = uuid.uuid4().hex, self.new_staging()

        def tick() -> None:
            if progress is not None:
                written = sum(path.stat().st_size for path in staging.glob("content.*"))
                progress(min(done + written, total), total)

        staged = build_from_git(
            self.git_dir,
            plan,
            staging,
            segment_id=segment_id,
            options=self.options,
            workers=self._worker_count,
            tick=tick,
        )
        self.publish_segment(staged, segment_id)
        shutil.rmtree(staging)
        return segment_id

    def _match(self, listing: TreeListing) -> tuple[Match, list[Segment]]:
        segments = self.open_segments(self.options.digest)
        return match_listing(listing, segments, self.override()), segments

    def _unknown(self, oids: list[bytes]) -> list[bytes]:
        """Object ids that no segment has and none has left out."""
        unknown = np.array(oids, f"S{len(oids[0])}") if oids else np.zeros(0, "S20")
        override = self.override() is not None
        for segment in self.open_segments(self.options.digest):
            absent = segment.find(unknown) < 0
            if not override:
                absent &= segment.find_skipped(unknown) == 0
            unknown = unknown[absent]
        width = unknown.dtype.itemsize
        return [bytes(oid).ljust(width, b"\0") for oid in unknown.tolist()]

    def _oversize(self, listing: TreeListing, match: Match) -> set[bytes]:
        override = self.override()
        missing = np.flatnonzero(match.missing).tolist()
        if override is None or not missing:
            return set()
        allowed = override([listing.paths[i] for i in missing])
        return {listing.oids[i] for i, good in zip(missing, allowed, strict=True) if good}

    def override(self) -> Override | None:
        """Which paths are indexed whatever the size of their blob; None for none."""
        globs = self.options.large_file_globs
        if not globs:
            return None
        from search.globs import compile_globs

        return compile_globs(globs, []).select

    def repair(self, suspects: Collection[str] = ()) -> list[str]:
        """Check every byte of every file, and remove what is damaged.

        Files named in `suspects` go whatever their checksums say: they are whole, and `verify`
        found them to differ from Git.

        What is gone comes back with the next `index_commit` or `index_commits`; until then
        its commits are missing, which is an error to a caller and never an empty answer.
        Returns the names of the files that were removed.
        """
        removed: list[Path] = []
        with self.writing():
            for path in self.segment_files():
                try:
                    Segment(path).check_all()
                except CorruptIndex:
                    removed.append(path)
            for path in self.manifest_files():
                try:
                    self.read_manifest(path)
                except CorruptIndex:
                    removed.append(path)
            files = [*self.segment_files(), *self.manifest_files()]
            removed += [path for path in files if path.name in suspects and path not in removed]
            self.remove(removed)
            with self._mutex:
                self._generations.clear()
                self._segments.clear()
        return [path.name for path in removed]


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_ino
