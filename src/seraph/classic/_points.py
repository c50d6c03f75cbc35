"""Points as solvers take them: their coordinates, orders of rows, and squared distances.

With fewer points than features, a metric is learned in the span of the points and is the identity
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.utils import check_random_state

from .._marks import PairLabels
from .._pairs import CHUNK, squared_distances
from .._points import (
    CONSTANT_FEATURE,
    exact_size,
    magnitude,
    principal_directions,
    subtract_mean,
)
from .._utils._tiles import row_slices
from .._utils._typing import Array

# Its multiples modulo 1 have the lowest discrepancy (Weyl's sequence of the golden ratio).
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)


def center_points(points: Array) -> Array:
    """Center points, in double precision. Features that vary by rounding errors are constant."""
    return subtract_mean(points.astype(np.float64, copy=False), rounding=CONSTANT_FEATURE)


def remove_unit(points: Array) -> tuple[Array, float]:
    """Center points, divide them by a power of two near their size, and return that, too.

    No square overflows or underflows then.
    """
    size = exact_size(magnitude(points))
    return center_points(points.astype(np.float64) / size), size


def subtract_group_means(X: Array, group: Array) -> Array:
    """Subtract from each point the mean of its group; groups are numbered from 0."""
    sums = np.stack([np.bincount(group, column) for column in X.T], axis=1)
    means: Array = sums / np.bincount(group)[:, np.newaxis]
    return X - means[group]


def project_to_span(X: Array) -> tuple[Array, Array | None]:
    """Return points in coordinates of their span, and its basis if it may be a smaller space."""
    if len(X) > X.shape[1]:
        return X, None
    basis, coordinates = np.linalg.qr(subtract_mean(X).T)
    return coordinates.T, basis


def extend_map(P: Array, basis: Array | None) -> Array:
    """Return a square map that is `P` on the span of `basis`, and the identity elsewhere."""
    if basis is None:
        return P
    whole: Array = np.eye(len(basis)) + basis @ (P - np.eye(len(P))) @ basis.T
    return whole


def first_map(init: Any, Z: Array, n_components: int | None, random_state: Any) -> Array:
    """Return the map of shape (n_components, n_features) at which a search starts.

    `init` is "identity", "random", or "pca" for the principal components of the centered points
    `Z` (the identity without `n_components`); or the map itself, whose shape is checked.
    """
    m = Z.shape[1]
    if isinstance(init, np.ndarray):
        d = len(init) if n_components is None else n_components
        if init.shape != (d, m) or d > m:
            raise ValueError(
                f"init must have the shape (n_components, n_features), here ({d}, {m}) with at "
                f"most {m} rows; got {init.shape}."
            )
        return init.astype(np.float64)
    d = m if n_components is None else int(n_components)
    if init == "random":
        return np.asarray(check_random_state(random_state).normal(size=(d, m)))
    if init == "pca" and d < m:
        directions = principal_directions(Z)[2][:d]
        return np.vstack([directions, np.zeros((d - len(directions), m))])
    return np.eye(d, m)


def class_ranges(codes: Array) -> list[tuple[int, int]]:
    """Return where each class begins and ends in the ordered `codes`."""
    changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    return list(pairwise([0, *changes.tolist(), len(codes)]))


def row_order(points: Array, labels: PairLabels) -> Array:
    """Return an order of the rows that follows from the points: nearest to the labeled mean first.

    A learner that takes its rows in this order does not depend on the order in which they came.
    More unlabeled rows do not change the order of the labeled ones.
    """
    known = labels.is_labeled if labels.is_labeled.any() else slice(None)  # triplets alone
    apart = points.astype(np.float64) / exact_size(magnitude(points))
    apart -= apart[known].mean(axis=0)
    norms = np.einsum("ij,ij->i", apart, apart)
    # Whole numbers have many equal norms, which rounding errors must not sort; a direction does.
    direction = np.random.default_rng(0).normal(size=points.shape[1])
    rounded = np.round(norms / (norms[known].mean() or 1.0), 9)
    return np.lexsort((labels.codes, apart @ direction, rounded))


def spread_rows(n: int) -> Array:
    """Return a low-discrepancy order of `n` rows.

    The order is Weyl's sequence of the golden ratio. If the rows are sorted by class, every
    contiguous part of it is nearly stratified.
    """
    return np.argsort(np.arange(n) * _GOLDEN % 1.0)


def distance_rows(Z: Array, numbers: int | None = None) -> Iterator[tuple[slice, Array]]:
    """Yield the squared distances from some of the points to all: which points, and a matrix.

    For learners that compare the neighbors of a point with each other, and so need whole rows. A
    point is not its own neighbor: its distance from itself is infinite. A block has at most
    `numbers` entries, `CHUNK` by default, but at least one row.
    """
    for rows in row_slices(len(Z), (numbers or CHUNK) // max(1, len(Z))):
        d2 = squared_distances(Z[rows], Z)
        np.fill_diagonal(d2[:, rows], np.inf)
        yield rows, d2


def pair_differences(Z: Array, pairs: Array) -> Iterator[tuple[slice, Array]]:
    """Yield the differences of the two points of each pair, some pairs at a time."""
    for part in row_slices(len(pairs), CHUNK // max(1, Z.shape[1])):
        yield part, Z[pairs[part, 0]] - Z[pairs[part, 1]]


def pair_squares(Z: Array, pairs: Array) -> Array:
    """Return the squared distance of each pair, from differences."""
    squares = np.empty(len(pairs))
    for part, gaps in pair_differences(Z, pairs):
        squares[part] = np.einsum("kr,kr->k", gaps, gaps)
    return squares


def neighbor_weights(Z: Array) -> Iterator[tuple[slice, Array]]:
    """Yield, for some of the points at a time, the softmax of minus the squared distances."""
    for rows, d2 in distance_rows(Z):
        yield rows, softmax(-d2, axis=1)


def add_laplacian(out: Array, Y: Array, rows: slice, W: Array) -> None:
    """Add ``Lap(W + W') Y`` to `out`, with ``Lap(W) = diag(W 1) - W``.

    W, dense or sparse, has the given rows of a square matrix whose other rows are zero.
    """
    out += W.sum(axis=0)[:, np.newaxis] * Y
    out[rows] += W.sum(axis=1)[:, np.newaxis] * Y[rows]
    out[rows] -= W @ Y
    out -= W.T @ Y[rows]
