"""Figures of merit over the neighbors of each point, as retrieval is judged."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import euclidean_distances

from .._marks import read_classes
from .._utils._tiles import row_slices, spaced
from .._utils._typing import Array
from .._utils._validation import check_number
from ._pairs import check_mapped

# Distances in memory at a time: 32 MB. Most queries.
_BUDGET, _MOST_QUERIES = 2**22, 20_000
# Squared distances that differ by no more than this share of the largest norm are a tie.
_TIE = 1e-12


def precision_at_1(
    Z: ArrayLike,
    y: ArrayLike,
    *,
    Z_reference: ArrayLike | None = None,
    y_reference: ArrayLike | None = None,
) -> float:
    """Compute the share of points whose nearest neighbor is of their class.

    Each labeled point is a query; the neighbors are the other labeled points, or those of a
    reference. A query that has no companion there is left out, because nothing could be found.
    Among equally near points those of other classes come first, so ties count as errors. Above
    20,000 queries, 20,000 evenly spaced ones are judged; the neighbors come from all points.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_dimensions)
        Points whose Euclidean distance is judged: what ``transform`` returns.
    y : array-like of shape (n_samples,)
        Class labels; rows with -1, NaN or None (:ref:`unlabeled`) are left out.
    Z_reference : array-like of shape (n_references, n_dimensions), optional
        Points to find neighbors among. By default those of `Z`, except the query itself.
    y_reference : array-like of shape (n_references,), optional
        Their classes.

    Returns
    -------
    float
        From 0 to 1, best.

    Examples
    --------
    >>> from seraph.metrics import precision_at_1
    >>> precision_at_1([[0.0], [1.0], [1.5], [9.0]], [0, 0, 1, 1])
    0.5
    """
    return recall_at_k(Z, y, 1, Z_reference=Z_reference, y_reference=y_reference)


def recall_at_k(
    Z: ArrayLike,
    y: ArrayLike,
    k: int,
    *,
    Z_reference: ArrayLike | None = None,
    y_reference: ArrayLike | None = None,
) -> float:
    """Compute the share of points with one of their class among the `k` nearest.

    Parameters
    ----------
    Z, y
        Points and classes, as in `precision_at_1`.
    k : int
        Number of neighbors to look at; all of them if there are fewer.
    Z_reference, y_reference : array-like, optional
        Points to find neighbors among, and their classes, as in `precision_at_1`.

    Returns
    -------
    float
        From 0 to 1, best.

    References
    ----------
    H. O. Song, Y. Xiang, S. Jegelka, S. Savarese. Deep metric learning via lifted structured
    feature embedding. CVPR 2016. (Recall at k.)

    Examples
    --------
    >>> from seraph.metrics import recall_at_k
    >>> recall_at_k([[0.0], [1.0], [1.5], [9.0]], [0, 0, 1, 1], 2)
    0.75
    """
    check_number("k", k, low=1, integer=True)
    right, queries = 0, 0
    for hits, _ in find_neighbors(Z, y, Z_reference, y_reference, k):
        right += int(hits.any(axis=1).sum())
        queries += len(hits)
    return right / queries


def map_at_r(
    Z: ArrayLike,
    y: ArrayLike,
    *,
    Z_reference: ArrayLike | None = None,
    y_reference: ArrayLike | None = None,
) -> float:
    r"""Compute the mean average precision at R.

    For a query with R companions of its class, let :math:`P(i)` be the share of its `i` nearest
    neighbors that are companions. Its score is the mean over the first R places of :math:`P(i)`
    where place `i` holds a companion, and 0 elsewhere.

    Parameters
    ----------
    Z, y
        Points and classes, as in `precision_at_1`.
    Z_reference, y_reference : array-like, optional
        Points to find neighbors among, and their classes, as in `precision_at_1`.

    Returns
    -------
    float
        From 0 to 1, best.

    References
    ----------
    K. Musgrave, S. Belongie, S.-N. Lim. A metric learning reality check. ECCV 2020.

    Examples
    --------
    >>> from seraph.metrics import map_at_r
    >>> map_at_r([[0.0], [1.0], [2.0], [3.5], [9.0]], [0, 0, 0, 1, 1])
    0.7
    """
    scores: list[Array] = []
    for hits, companions in find_neighbors(Z, y, Z_reference, y_reference, None):
        places = np.arange(1, hits.shape[1] + 1)
        counted = hits & (places <= companions[:, np.newaxis])
        precision = np.cumsum(counted, axis=1) / places
        scores.append((precision * counted).sum(axis=1) / companions)
    every = np.concatenate(scores)
    return math.fsum(every) / len(every)  # the same in any order


def find_neighbors(
    Z: ArrayLike,
    y: ArrayLike,
    Z_reference: ArrayLike | None,
    y_reference: ArrayLike | None,
    k: int | None,
) -> Iterator[tuple[Array, Array]]:
    """Yield, for some queries at a time, which neighbors are companions, and how many there are.

    The neighbors come in ascending distance: `k` of them, or as many as the largest number of
    companions.
    """
    points = check_mapped(Z)
    if (Z_reference is None) != (y_reference is None):
        raise ValueError("Pass Z_reference and y_reference together, or neither.")
    itself = Z_reference is None
    reference = points if Z_reference is None else check_mapped(Z_reference, "Z_reference")
    if points.shape[1] != reference.shape[1]:
        raise ValueError(
            f"Z has {points.shape[1]} dimensions and Z_reference has {reference.shape[1]}: map "
            "both with the same learner."
        )
    codes, other_codes = _common_codes(y, len(points), y_reference, len(reference))
    columns = np.flatnonzero(other_codes >= 0)
    sizes = np.bincount(other_codes[columns], minlength=int(codes.max(initial=0)) + 1)
    companions = np.where(codes >= 0, sizes[codes] - int(itself), 0)
    rows = np.flatnonzero(companions > 0)
    if len(rows) == 0:
        raise ValueError(
            "No labeled point has another one of its class to find: label at least two points of "
            "a class."
        )
    rows = rows[spaced(len(rows), _MOST_QUERIES)]
    center = reference.mean(axis=0)  # to lose fewer digits
    points, targets = points - center, reference[columns] - center
    if points.shape[1] == 0:  # as a metric of rank 0 maps them
        points, targets = np.zeros((len(points), 1)), np.zeros((len(targets), 1))
    norms = [float(np.square(table).sum(axis=1).max()) for table in (points, targets)]
    tie = _TIE * (max(norms) or 1.0)
    depth = min(int(companions.max()) if k is None else k, len(columns) - int(itself))
    for part in row_slices(len(rows), _BUDGET // len(columns)):
        a = rows[part]
        gap = euclidean_distances(points[a], targets, squared=True)
        same = codes[a][:, np.newaxis] == other_codes[columns]
        gap[same] += tie  # ties count as errors
        if itself:
            gap[np.arange(len(a)), np.searchsorted(columns, a)] = np.inf
        nearest = np.argpartition(gap, depth - 1, axis=1)[:, :depth]
        order = np.argsort(np.take_along_axis(gap, nearest, axis=1), axis=1)
        nearest = np.take_along_axis(nearest, order, axis=1)
        yield np.take_along_axis(same, nearest, axis=1), companions[a]


def _common_codes(
    y: ArrayLike, n: int, y_reference: ArrayLike | None, n_reference: int
) -> tuple[Array, Array]:
    """Number the classes of queries and references alike; -1 for an unknown class."""
    numbers: dict[object, int] = {}

    def codes(labels: ArrayLike, length: int, name: str) -> Array:
        values, known = read_classes(labels, length, name)
        coded = np.full(length, -1)
        coded[known] = [numbers.setdefault(c, len(numbers)) for c in values[known].tolist()]
        return coded

    queries = codes(y, n, "y")
    return queries, queries if y_reference is None else codes(
        y_reference, n_reference, "y_reference"
    )
