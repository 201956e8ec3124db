"""What a worker process, or a small build in its own process, can be asked to do."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from search.index.extract import Extractor, Part, key_range
from search.index.join import join_ranges
from search.index.segment import Segment
from search.index.sources import git_blobs, segment_documents


def no_tick() -> None:
    """For work that nobody watches."""


class Tasks:
    """Answers requests (workers.py) one after the other; keeps the kernel between them."""

    def __init__(self) -> None:
        self._extractor: Extractor | None = None

    def run(self, request: dict[str, Any], tick: Callable[[], None]) -> dict[str, Any]:
        """Do one request; the answer names the file of a part, or is empty.

        Calls `tick` every 8 MB of text; an error that it raises ends the work.
        """
        if request["op"] == "extract":
            return self._extract(request, tick)
        if request["op"] == "join":
            return self._join(request)
        raise ValueError(f"unknown request {request['op']!r}")

    def _extract(self, request: dict[str, Any], tick: Callable[[], None]) -> dict[str, Any]:
        staging, number = Path(request["staging"]), request["number"]
        keys = key_range(number, request["parts"])
        extractor = Extractor(staging, number, keys, request["max_blob_bytes"])
        self._extractor = extractor
        if "git_dir" in request:
            source = git_blobs(
                extractor, Path(request["git_dir"]), Path(request["oids"]), request["count"]
            )
        else:
            segments = [Segment(Path(path)) for path in request["segments"]]
            source = segment_documents(extractor, segments, np.load(request["documents"]))
        path = staging / f"part.{number}"
        save_part(extractor.run(source, tick), path)
        return {"part": str(path)}

    def _join(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._extractor is not None
        join_ranges(
            self._extractor.kernel,
            self._extractor.memory.batch,
            [Path(path) for path in request["runs"]],
            request["ranges"],
            Path(request["target"]),
        )
        return {}


def save_part(part: Part, path: Path) -> None:
    """Hand a part to the parent process, through the staging folder that only we write."""
    with path.open("wb") as handle:
        pickle.dump(part, handle, protocol=pickle.HIGHEST_PROTOCOL)


def load_part(path: Path) -> Part:
    with path.open("rb") as handle:
        part = pickle.load(handle)
    assert isinstance(part, Part)
    return part
