"""What bounds a search, and how much of a candidate list is looked at in one go.

    time      a deadline, polled between batches of at most 8 MiB of text
    counting  10,000 matches; the cap ends counting, not paging
    memory    spans of one batch, texts of one page

A search that one of them has cut short says which.
"""

from enum import StrEnum

from search.engine.request import MATCH_CAP

FIRST_BATCH_BYTES = 1 << 19
MIN_BATCH_BYTES = 1 << 18
MAX_BATCH_BYTES = 8 << 20
SECONDS_BETWEEN_CHECKS = 0.1
# Spans of one batch; a batch that finds more ends early. 24 bytes for each in several arrays.
MAX_BATCH_SPANS = 1 << 20
# Spans of one line that are kept for showing; all are counted.
MAX_LINE_SPANS = 1_000


class PartialReason(StrEnum):
    """Why the engine stopped before everything was found and counted."""

    DEADLINE = "deadline"
    MATCH_CAP = "match_cap"
    MEMORY = "memory"


class Pace:
    """Chooses the size of the next batch, so that neither a first hit nor a cap nor the
    deadline waits for text that nobody needs.

    The first batch is small. From then on the density of matches says how much text it
    should take to reach the cap, and the speed how much can be done between two looks at the
    clock.
    """

    def __init__(self) -> None:
        self._bytes = 0
        self._matches = 0
        self.batch_bytes = FIRST_BATCH_BYTES  # how much text the next batch should have

    def record(self, text_bytes: int, matches: int, seconds: float) -> None:
        """Tell what a batch had, found and took."""
        self._bytes += text_bytes
        self._matches += matches
        missing = max(MATCH_CAP + 1 - self._matches, MATCH_CAP // 10)
        for_matches = self._bytes * missing * 5 // (4 * max(self._matches, 1))
        for_clock = int(text_bytes / max(seconds, 1e-6) * SECONDS_BETWEEN_CHECKS)
        self.batch_bytes = min(max(for_matches, MIN_BATCH_BYTES), for_clock, MAX_BATCH_BYTES)
