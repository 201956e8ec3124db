"""Counts the whole result in its order, up to the cap."""

import numpy as np

from search.engine.request import MATCH_CAP, Counts
from search.engine.scan import Hits


def count(hits: Hits) -> Counts:
    """Files, lines and matches among ordered matches."""
    if not len(hits):
        return Counts()
    new_row = hits.row[1:] != hits.row[:-1]
    new_line = new_row | (hits.line[1:] != hits.line[:-1])
    files, lines = 1 + int(np.count_nonzero(new_row)), 1 + int(np.count_nonzero(new_line))
    return Counts(files, lines, len(hits))


class Tally:
    """Counts the whole result in order, up to the cap."""

    def __init__(self, counts: Counts, *, capped: bool) -> None:
        self.counts = counts
        self.capped = capped

    def add(self, hits: Hits) -> None:
        """Count the matches that come behind those counted so far."""
        room = MATCH_CAP - self.counts.matches
        if len(hits) > room:
            self.capped = True
            hits = hits.select(slice(0, room))
        self.counts += count(hits)
