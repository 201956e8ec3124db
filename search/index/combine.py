"""Several path groups of one commit as one generation."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from search.index.generation import Generation, PathTable


def combine(parts: Sequence[Generation]) -> Generation:
    """The union of generations of one commit whose paths do not overlap.

    One alone is returned as it is. Segments that several use stand once in the result, so
    that a block is scanned once.
    """
    if len(parts) == 1:
        return parts[0]
    segments = list({segment.id: segment for part in parts for segment in part.segments}.values())
    number = {segment.id: index for index, segment in enumerate(segments)}
    paths = [path for part in parts for path in part.paths]
    order = sorted(range(len(paths)), key=paths.__getitem__)
    of_segment, of_document = [np.zeros(0, np.uint16)], [np.zeros(0, np.uint32)]
    for part in parts:
        renumber = np.array([number[segment.id] for segment in part.segments], np.uint16)
        if len(part.paths):
            of_segment.append(renumber[part.path_segment])
            of_document.append(np.asarray(part.path_document))
    skipped: Counter[str] = Counter()
    for part in parts:
        skipped.update(part.skipped)
    return Generation(
        commit=parts[0].commit,
        group=",".join(part.group for part in parts),
        segments=tuple(segments),
        paths=PathTable.of([paths[index] for index in order]),
        path_segment=np.concatenate(of_segment)[order],
        path_document=np.concatenate(of_document)[order],
        skipped=dict(skipped),
        options=parts[0].options,
    )
