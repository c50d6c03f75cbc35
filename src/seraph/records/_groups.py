"""Cluster accepted pairs by average linkage, with the answers as constraints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from .. import Marks
from .._utils._typing import Array
from ._questions import disjoint

# Connected components with more rows than this are first split by a higher probability.
_LARGEST = 500
_ANSWERED = 1e6  # the distance of rows that were answered, larger than any sum of other distances


def grouped(
    n: int,
    pairs: Array,
    probability: Array,
    least: float,
    answers: Marks,
    probability_of: Callable[[Array], Array],
) -> Array:
    """Return the group of each of `n` rows, numbered by first rows; -1 for rows that are alone.

    A connected component of the accepted pairs may be a chain whose ends are quite different. So
    each component is clustered by average linkage: the two clusters with the largest mean
    probability between them are merged, as long as that is at least `least`. Answers are
    constraints: rows answered to be the same are together, and clusters with two rows that were
    answered to be different are never merged. No answer may contradict the others.

    Examples
    --------
    >>> none = Marks(rows=5)
    >>> near = lambda pairs: np.where(np.abs(pairs[:, 0] - pairs[:, 1]) == 1, 0.9, 0.1)
    >>> grouped(5, np.array([[0, 1], [1, 2], [2, 3]]), np.full(3, 0.9), 0.6, none, near)
    array([ 0,  0,  1,  1, -1])
    """
    joined = components(n, answers.pairs[answers.similar])
    apart = answers.pairs[~answers.similar]
    first = np.arange(n)  # the first row of the group of each row
    parts = _connected(n, pairs, probability)
    for rows in parts:
        first[rows] = rows[0]
    # A larger component has only pairs of the same probability, and stays whole.
    chains = [rows for rows in parts if 2 < len(rows) <= _LARGEST]
    chain = np.full(n, -1)
    for number, rows in enumerate(chains):
        chain[rows] = number
    between = probability_of(pairs_within(chain))
    ends = np.cumsum([len(rows) * (len(rows) - 1) // 2 for rows in chains], dtype=np.intp)
    for rows, likely in zip(chains, np.split(between, ends), strict=False):
        distance = squareform(1.0 - likely)
        distance[np.equal.outer(joined[rows], joined[rows])] = -_ANSWERED
        i, j = np.searchsorted(rows, apart[np.isin(apart, rows).all(axis=1)]).T
        distance[i, j] = distance[j, i] = _ANSWERED
        tree = linkage(squareform(distance, checks=False), "average")
        tree[:, 2] = np.maximum(tree[:, 2], 0.0)  # `fcluster` takes no negative distances
        part = fcluster(tree, 1.0 - least, "distance")
        _, start, which = np.unique(part, return_index=True, return_inverse=True)
        first[rows] = rows[start][which]
    _, which, sizes = np.unique(first, return_inverse=True, return_counts=True)
    return np.where(sizes > 1, np.cumsum(sizes > 1) - 1, -1)[which]


def pairs_within(group: Array) -> Array:
    """List the pairs of rows of one group, smaller row first."""
    rows = np.flatnonzero(group >= 0)
    rows = rows[np.argsort(group[rows], kind="stable")]
    ends = np.searchsorted(group[rows], group[rows], side="right")
    later = ends - np.arange(1, len(rows) + 1)  # rows of the same group that come after each
    first = np.repeat(np.arange(len(rows)), later)
    step = np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later)
    return np.column_stack([rows[first], rows[first + 1 + step]])


def best_partners(pairs: Array, probability: Array) -> Array:
    """Return which pairs to keep so that no row is in two: the likeliest first."""
    kept = np.zeros(len(pairs), dtype=bool)
    order = np.argsort(-probability, kind="stable")
    kept[order[list(disjoint(pairs[order]))]] = True
    return kept


def components(n: int, pairs: Array) -> Array:
    """Return the connected component of each of `n` rows."""
    i, j = pairs.T.astype(np.int32)
    graph = sparse.csr_matrix((np.ones(len(pairs)), (i, j)), shape=(n, n))
    component: Array = connected_components(graph, directed=False)[1]
    return component


def _connected(n: int, pairs: Array, probability: Array) -> list[Array]:
    """List the connected components of several rows; those that are too large are split."""
    component = components(n, pairs)
    sizes = np.bincount(component)
    inside = sizes[component[pairs[:, 0]]] > _LARGEST
    least, most = probability[inside].min(initial=1.0), probability[inside].max(initial=0.0)
    parts: list[Array] = []
    taken = sizes[component] > 1
    if least < most:  # otherwise all are as sure, however many
        kept = inside & (probability >= 0.5 * (least + most))
        parts = _connected(n, pairs[kept], probability[kept])
        taken &= sizes[component] <= _LARGEST
    rows = np.flatnonzero(taken)
    order = rows[np.argsort(component[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(component[order])) + 1
    return [*parts, *(part for part in np.split(order, cuts) if len(part))]
