"""Sort more distances than fit into memory: a range at a time, recomputed in each pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._marks import PairLabels
from .._utils._tiles import row_slices, upper_tiles
from .._utils._typing import Array
from ._classes import ClassDistances
from ._tiles import SquaredDistances

_TILE = 1024  # side of a tile: 8 MB of distances
# Most distances to sort at a time: 64 MB.
_BUDGET = 2**23
# A pass that only counts has a histogram of at most this number of bins, as a power of two.
_RANGE_BITS = 20
_ALL_KEYS = 2**63 - 1  # above the bits of any number that is not negative, and of infinity

Chunks = Callable[[], Iterator[tuple[Array, Array]]]


class Counts(NamedTuple):
    """Distinct squared distances, ascending, and the number of pairs of each kind at each.

    `d2` has the smallest of the distances that count as equal.
    """

    d2: Array
    similar: Array
    dissimilar: Array


def pair_chunks(
    d2: SquaredDistances | ClassDistances, labels: PairLabels, tile: int = _TILE
) -> Chunks:
    """Return a function that yields squared distances of labeled pairs, and which are similar."""
    rows = np.flatnonzero(labels.codes >= 0)

    def chunks() -> Iterator[tuple[Array, Array]]:
        for some, others in upper_tiles(len(rows), tile):
            a, b = rows[some], rows[others]
            found = d2(a, b)
            same = labels.codes[a][:, np.newaxis] == labels.codes[b]
            if some is others:
                upper = np.triu_indices(len(a), k=1)
                yield found[upper], same[upper]
            else:
                yield found.ravel(), same.ravel()
        for part in row_slices(len(labels.pairs), tile):
            first, second = labels.pairs[part].T
            yield d2.of_pairs(first, second), labels.similar[part]

    return chunks


def ordered_counts(
    chunks: Chunks, total: int, tie: int, budget: int = _BUDGET, range_bits: int = _RANGE_BITS
) -> Iterator[Counts]:
    """Yield all distances in ascending order, at most about `budget` at a time.

    If there are more, a first pass counts how many lie in each range, and each further pass
    sorts those of one range. The bits of floats that are not negative, read as whole numbers,
    have the order of the floats; so a range can be halved until it holds a single number.

    `chunks` yields the same `total` distances every time. They count as equal, and are together in
    one part, if the gaps between them, in ascending order, are at most `tie` units in the last
    place. A pass that only counts has at most ``2**range_bits`` ranges.
    """
    held: Counts | None = None  # the last group, which may go on in the next part
    end = 0
    for part, part_end in _sorted_parts(chunks, total, tie, budget, range_bits):
        if held is not None:
            if _keys(part.d2[:1])[0] - end <= tie:
                part.similar[0] += held.similar[0]
                part.dissimilar[0] += held.dissimilar[0]
                part.d2[0] = held.d2[0]
            else:
                yield held
        if len(part.d2) > 1:
            yield Counts(*(values[:-1] for values in part))
        held, end = Counts(*(values[-1:] for values in part)), part_end
    if held is not None:
        yield held


def _sorted_parts(
    chunks: Chunks, total: int, tie: int, budget: int, range_bits: int
) -> Iterator[tuple[Counts, int]]:
    """Yield the distances of one range after the other, and the key of the largest in each."""
    ranges = [(0, _ALL_KEYS, total)]
    while ranges:
        low, high, count = ranges.pop()
        if count <= budget or high - low == 1:
            yield _counts(chunks, low, high, tie)
        else:
            ranges += _parts(chunks, low, high, budget, range_bits)[::-1]


def _keys(d2: Array) -> Array:
    return np.add(d2, 0.0, dtype=np.float64).view(np.int64)  # adding 0 removes the sign of -0.0


def _inside(keys: Array, low: int, high: int) -> Array:
    return (keys >= low) & (keys < high)


def _counts(chunks: Chunks, low: int, high: int, tie: int) -> tuple[Counts, int]:
    """Count the pairs of each kind at each distance of a range."""
    found: list[Array] = []
    n_equal = np.zeros(2, dtype=np.int64)
    for d2, similar in chunks():
        keys = _keys(d2)
        inside = _inside(keys, low, high)
        if high - low == 1:  # equal distances, which may be too many to list
            n_equal += np.bincount(similar[inside], minlength=2)
        else:
            # The last bit says which kind it is, so that one sort serves both.
            found.append((keys[inside].astype(np.uint64) << 1) | similar[inside])
    if high - low == 1:
        return Counts(_distances([low]), n_equal[1:], n_equal[:1]), low
    ordered = np.concatenate(found)
    found.clear()
    ordered.sort()
    starts = np.append(0, np.flatnonzero(np.diff(ordered >> 1) > tie) + 1)
    n_similar = np.add.reduceat((ordered & 1).astype(np.uint8), starts, dtype=np.int64)
    n_all = np.diff(starts, append=len(ordered))
    counts = Counts(_distances(ordered[starts] >> 1), n_similar, n_all - n_similar)
    return counts, int(ordered[-1]) >> 1


def _distances(keys: ArrayLike) -> Array:
    return np.asarray(keys).astype(np.int64).view(np.float64)


def _parts(
    chunks: Chunks, low: int, high: int, budget: int, range_bits: int
) -> list[tuple[int, int, int]]:
    """Split a range into parts of at most `budget` distances, as far as one pass can tell."""
    shift = max(0, (high - low - 1).bit_length() - range_bits)
    counts = np.zeros(((high - low - 1) >> shift) + 1, dtype=np.int64)
    for d2, _ in chunks():
        keys = _keys(d2)
        keys = keys[_inside(keys, low, high)] - low
        counts += np.bincount(keys >> shift, minlength=len(counts))
    parts: list[tuple[int, int, int]] = []
    for place in np.flatnonzero(counts).tolist():
        start, end, count = low + (place << shift), low + ((place + 1) << shift), counts[place]
        if parts and parts[-1][2] + count <= budget:
            start, count = parts[-1][0], parts.pop()[2] + count
        parts.append((start, min(end, high), int(count)))
    return parts
