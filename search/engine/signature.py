"""Which repositories cannot match: one bit for each trigram that occurs in them, hashed.

A repository of 50 MB has some 200,000 different trigrams out of 16 million. 2^18 bits take
32 KiB whatever its size, a tenth of what a Roaring bitmap of the trigrams does; about half of
them are set, and a literal of a dozen characters passes by chance in one of a thousand
repositories. Where it does, the repository is searched and nothing is found.
"""

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from search.index.format import U8
from search.index.generation import Generation
from search.pattern.condition import All, And, Condition, Or, Trigrams

SIGNATURE_BITS = 18
SIGNATURE_BYTES = 1 << SIGNATURE_BITS - 3
# Knuth's multiplier: the product's high bits depend on all bits of a code.
_MULTIPLIER = 2_654_435_761

_signatures: WeakKeyDictionary[Generation, bytes] = WeakKeyDictionary()


def signature_of(generation: Generation) -> bytes:
    """The signature of everything in a generation's segments: SIGNATURE_BYTES, kept.

    Raises CorruptIndex.
    """
    signature = _signatures.get(generation)
    if signature is None:
        bits = np.zeros(1 << SIGNATURE_BITS, np.bool_)
        for segment in generation.segments:
            bits[_rows(segment.codes)] = True
        signature = _signatures[generation] = np.packbits(bits, bitorder="little").tobytes()
    return signature


def may_match(signature: bytes, condition: Condition) -> bool:
    """False only if no block of a repository with this signature fulfils the condition."""
    match condition:
        case All():
            return True
        case Trigrams(codes=codes):
            return _holds(np.frombuffer(signature, np.uint8), codes)
        case And(conditions=parts):
            return all(may_match(signature, part) for part in parts)
        case Or(conditions=parts):
            return any(may_match(signature, part) for part in parts)


def _holds(signature: U8, codes: tuple[int, ...]) -> bool:
    rows = _rows(np.array(codes, np.uint32))
    return bool((signature[rows >> 3] >> (rows & 7) & 1).all())


def _rows(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    return codes * np.uint32(_MULTIPLIER) >> np.uint32(32 - SIGNATURE_BITS)
