"""Builds one segment: of blobs that no segment has yet, or of documents of old segments."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from search.index.extract import Run
from search.index.format import I64, MAX_CONTENT_BYTES, MAX_DOCUMENT_BYTES, SkipReason
from search.index.options import IndexOptions
from search.index.tasks import Tasks, load_part, no_tick
from search.index.workers import Workers, git_output
from search.index.writer import write_segment

# UTF-16 grows by half when it becomes UTF-8, and content must not outgrow u32.
MAX_SEGMENT_INPUT = MAX_CONTENT_BYTES * 2 // 3
MAX_SEGMENT_DOCUMENTS = 4_000_000
_IN_PROCESS_BYTES = 4 << 20  # a worker takes 0.3 s to start
_AHEAD_BYTES = 6 << 20  # and this process reads so much meanwhile
_WORTH_PACK_ORDER = 2_000  # blobs; below, listing a whole pack costs more than it saves


@dataclass
class BlobPlan:
    """Which blobs to read, in a good order, and which to leave out unread."""

    oids: list[bytes] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    skipped: list[tuple[bytes, SkipReason]] = field(default_factory=list)

    def slices(self) -> list["BlobPlan"]:
        """Plans that each fit one segment."""
        plans = [BlobPlan(skipped=self.skipped)]
        total = 0
        for oid, size in zip(self.oids, self.sizes, strict=True):
            total += size
            if total > MAX_SEGMENT_INPUT or len(plans[-1].oids) == MAX_SEGMENT_DOCUMENTS:
                plans.append(BlobPlan())
                total = size
            plans[-1].oids.append(oid)
            plans[-1].sizes.append(size)
        return plans


def plan_blobs(
    git_dir: Path, oids: Collection[bytes], options: IndexOptions, oversize: Collection[bytes] = ()
) -> BlobPlan:
    """Look up kind and size of objects; those that are not blobs are dropped.

    `oversize`: blobs that are wanted though they are larger than the options allow.

    Raises:
        GitFailed: an object is missing.
    """
    plan = BlobPlan()
    for oid, size in _sizes(git_dir, oids):
        if size > MAX_DOCUMENT_BYTES:
            plan.skipped.append((oid, SkipReason.BEYOND_FORMAT))
        elif size > options.max_blob_bytes and oid not in oversize:
            plan.skipped.append((oid, SkipReason.TOO_LARGE))
        else:
            plan.oids.append(oid)
            plan.sizes.append(size)
    return plan


def _sizes(git_dir: Path, oids: Collection[bytes]) -> list[tuple[bytes, int]]:
    if len(oids) >= _WORTH_PACK_ORDER:
        # In pack order Git finds the bases of deltas in its cache.
        found = _batch_check(git_dir, b"", "--batch-all-objects", "--unordered")
        wanted = set(oids)
        rows = [row for row in found if row[0] in wanted]
        missing = wanted.difference(oid for oid, _, _ in found)
        if missing:  # in an alternate object store
            rows += _batch_check(git_dir, b"".join(oid.hex().encode() + b"\n" for oid in missing))
    else:
        rows = _batch_check(git_dir, b"".join(oid.hex().encode() + b"\n" for oid in oids))
    return [(oid, size) for oid, kind, size in rows if kind == b"blob"]


def _batch_check(git_dir: Path, stdin: bytes, *flags: str) -> list[tuple[bytes, bytes, int]]:
    listing = git_output(
        git_dir,
        "cat-file",
        "--buffer",
        *flags,
        "--batch-check=%(objectname) %(objecttype) %(objectsize)",
        stdin=stdin,
    )
    rows = [line.split(b" ") for line in listing.splitlines()]
    for row in rows:
        if len(row) != 3:
            raise GitObjectMissing(row[0].decode(errors="replace"))
    return [(bytes.fromhex(oid.decode()), kind, int(size)) for oid, kind, size in rows]


class GitObjectMissing(Exception):
    """The repository lacks an object that a tree of it names: the mirror is damaged."""


def build_from_git(
    git_dir: Path,
    plan: BlobPlan,
    staging: Path,
    *,
    segment_id: str,
    options: IndexOptions,
    workers: int,
    tick: Callable[[], None],
) -> Path:
    """Write a segment of the plan's blobs into `staging`, which must be empty.

    Raises:
        GitFailed: Git cannot read a blob.
        OSError: for instance a full disk.
        WorkerFailed: a worker process died.
    """
    cuts = _cuts(plan.sizes, workers)
    requests: list[dict[str, Any]] = []
    for number, (first, end) in enumerate(cuts):
        oids = staging / f"oids.{number}"
        oids.write_text("".join(f"{oid.hex()}\n" for oid in plan.oids[first:end]))
        requests.append(
            {
                "git_dir": str(git_dir),
                "oids": str(oids),
                "count": end - first,
                "max_blob_bytes": options.max_blob_bytes,
            }
        )
    width = len((plan.oids or [plan.skipped[0][0]])[0])
    return _build(requests, plan.skipped, staging, segment_id, options.digest, width, tick)


def build_from_segments(
    segments: Sequence[Path],
    rows: I64,
    sizes: Sequence[int],
    skipped: Sequence[tuple[bytes, SkipReason]],
    staging: Path,
    *,
    segment_id: str,
    digest: str,
    oid_bytes: int,
    workers: int,
) -> Path:
    """Write a segment of documents of others: rows of (index in `segments`, document).

    Raises:
        CorruptIndex: a text is damaged, found in this process.
        WorkerFailed: the same, found in a worker.
        OSError: for instance a full disk.
    """
    requests: list[dict[str, Any]] = []
    for number, (first, end) in enumerate(_cuts(sizes, workers)):
        documents = staging / f"documents.{number}.npy"
        np.save(documents, rows[first:end])
        requests.append(
            {
                "segments": [str(path) for path in segments],
                "documents": str(documents),
                "max_blob_bytes": MAX_DOCUMENT_BYTES,  # documents keep the flags they have
            }
        )
    return _build(requests, skipped, staging, segment_id, digest, oid_bytes, no_tick)


def _build(
    requests: list[dict[str, Any]],
    skipped: Sequence[tuple[bytes, SkipReason]],
    staging: Path,
    segment_id: str,
    digest: str,
    oid_bytes: int,
    tick: Callable[[], None],
) -> Path:
    for number, request in enumerate(requests):
        request |= {"op": "extract", "staging": str(staging), "number": number}
        request["parts"] = len(requests)

    with _Crew(len(requests)) as crew:
        answers = crew.ask(requests, tick)
        parts = [load_part(Path(answer["part"])) for answer in answers]
        return write_segment(
            parts,
            skipped,
            staging,
            segment_id=segment_id,
            options=digest,
            oid_bytes=oid_bytes,
            join=crew.join,
        )


class _Crew:
    """This process and some workers, which do a request each at the same time.

    This process takes a share, as it has loaded already what a worker takes 0.3 s to load.
    """

    def __init__(self, count: int) -> None:
        self._workers = Workers(count - 1)
        self._tasks = Tasks()

    def __enter__(self) -> "_Crew":
        return self

    def __exit__(self, *error: object) -> None:
        self._workers.__exit__(*error)

    def ask(
        self, requests: Sequence[dict[str, Any]], tick: Callable[[], None]
    ) -> list[dict[str, Any]]:
        self._workers.send(requests[1:])
        answer = self._tasks.run(requests[0], tick)
        return [answer, *self._workers.answers(tick)]

    def join(
        self, runs: Sequence[Run], ranges: Sequence[tuple[int, int, int]], target: Path
    ) -> None:
        common = {"op": "join", "target": str(target), "runs": [str(run.path) for run in runs]}
        count = len(self._workers) + 1
        self.ask([common | {"ranges": ranges[i::count]} for i in range(count)], no_tick)


def default_workers() -> int:
    """One worker for each processor that this process may use."""
    return len(os.sched_getaffinity(0))


def _cuts(sizes: Sequence[int], workers: int) -> list[tuple[int, int]]:
    """Cut a list into as many runs as there are workers, of about the same size, but for the
    first, which this process begins while the others are starting."""
    total = sum(sizes)
    if total < _IN_PROCESS_BYTES or workers == 1:
        return [(0, len(sizes))]
    ahead = min(_AHEAD_BYTES, total // 4)
    ends = np.cumsum(sizes)
    bounds = [ahead + (total - ahead) * i // workers for i in range(1, workers)]
    at = [0, *np.searchsorted(ends, bounds).tolist(), len(sizes)]
    return list(zip(at, at[1:], strict=False))
