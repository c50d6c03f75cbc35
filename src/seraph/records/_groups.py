"""Put records that were found to be the same into groups, and keep to the answers."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .._decisions._cluster import Merging
from .._decisions._links import Links
from .._marks import PairLabels
from .._utils._typing import Array
from ..metrics._tiles import SquaredDistances

# Rows that hang together by more than this are first parted at a shorter distance.
_LARGEST = 2000
_SHORTER = 0.9


def grouped(
    Z: Array, pairs: Array, distances: Array, threshold: float, labels: PairLabels
) -> Array:
    """Return the group of each row, -1 for rows that are alone.

    Rows that accepted pairs connect may be far apart at the two ends of a chain. So within such
    rows, the nearest two groups are merged as long as the mean distance between them is within
    the threshold. Rows answered to be similar are together, and groups with two rows that were
    answered to be dissimilar are never merged.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        The rows, in the space whose Euclidean distance counts.
    pairs : ndarray of int of shape (k, 2)
        Accepted pairs.
    distances : ndarray of shape (k,)
        Their distances; 0 for pairs that were answered.
    threshold : float
        Largest mean distance between two groups to be merged.
    labels : PairLabels
        The answers.

    Examples
    --------
    >>> Z, none = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]]), PairLabels.make(5, required=False)
    >>> chain = np.array([[0, 1], [1, 2], [2, 3]])
    >>> grouped(Z, chain, np.ones(3), 1.4, none)
    array([ 0,  0,  1,  1, -1])
    """
    links = Links.of(labels)
    found = np.full(len(Z), -1)
    n_groups = 0
    for rows in _connected(len(Z), pairs, distances):
        if len(rows) == 2 or len(rows) > _LARGEST:  # more than that only if all are equal
            part = np.zeros(len(rows), dtype=np.intp)
        else:
            part = _merged(Z[rows], links.group[rows], links.apart, threshold)
        sizes = np.bincount(part)
        number = np.where(sizes > 1, np.cumsum(sizes > 1) - 1 + n_groups, -1)
        found[rows] = number[part]
        n_groups += int(np.sum(sizes > 1))
    return _numbered(found)


def _connected(n: int, pairs: Array, distances: Array) -> list[Array]:
    """List the rows that pairs connect, by way of others too; parted if they are too many."""
    i, j = pairs.T.astype(np.int32)
    graph = sparse.csr_matrix((np.ones(len(pairs)), (i, j)), shape=(n, n))
    component = connected_components(graph, directed=False)[1]
    sizes = np.bincount(component)
    inside = sizes[component[pairs[:, 0]]] > _LARGEST
    farthest = distances[inside].max(initial=0.0)
    parts: list[Array] = []
    taken = sizes[component] > 1
    if farthest > 0.0:  # otherwise all are equal, however many
        kept = inside & (distances <= _SHORTER * farthest)
        parts = _connected(n, pairs[kept], distances[kept])
        taken &= sizes[component] <= _LARGEST
    rows = np.flatnonzero(taken)
    order = rows[np.argsort(component[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(component[order])) + 1
    return [*parts, *(part for part in np.split(order, cuts) if len(part))]


def _merged(Z: Array, must: Array, apart: Array, threshold: float) -> Array:
    everything = np.arange(len(Z))
    merging = Merging(np.sqrt(SquaredDistances(Z)(everything, everything)), "average")
    place: dict[int, int] = {}
    for row, group in enumerate(must.tolist()):
        first = place.setdefault(group, row)
        if first != row:
            merging.merge(first, row)
    forbidden = [(place[a], place[b]) for a, b in apart.tolist() if a in place and b in place]
    merging.forbid(np.array(forbidden, dtype=np.intp).reshape(-1, 2))
    while merging.gap.min() <= threshold and merging.merge_nearest():
        pass
    return merging.labels()


def _numbered(found: Array) -> Array:
    """Number the groups by their first rows."""
    known = found >= 0
    _, first, which = np.unique(found[known], return_index=True, return_inverse=True)
    numbered = found.copy()
    numbered[known] = np.argsort(np.argsort(first))[which.reshape(-1)]
    return numbered
