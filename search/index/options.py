"""What may be set about an index. A change of any of it rebuilds the index."""

import hashlib
import json
from dataclasses import asdict, dataclass

from search.index.format import FORMAT, MAX_DOCUMENT_BYTES


@dataclass(frozen=True)
class IndexOptions:
    """Options of one repository's index.

    max_blob_bytes: larger blobs are skipped as `too_large`.
    large_file_globs: paths (ripgrep's globs, search/globs.py) that are indexed whatever
        their size, up to the 64 MiB that the format allows.
    """

    max_blob_bytes: int = 2 << 20
    large_file_globs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.max_blob_bytes <= MAX_DOCUMENT_BYTES:
            raise ValueError(f"max_blob_bytes must lie in [1, {MAX_DOCUMENT_BYTES}]")

    @property
    def digest(self) -> str:
        """Names the options and the format; equal exactly when both are."""
        text = json.dumps([FORMAT, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
