"""Graphs of neighbors, and the roughness of a metric on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from ._typing import Array

# Squared distances are ties if they differ by less than this power of the rounding error, times
# the mean square of the points: 2e-5 in single precision, 1e-11 in double precision.
_TIE = 0.7
# Rows of which all distances are in memory at once.
_ROWS_AT_ONCE = 500


def neighbor_graph(
    points: Array,
    n_neighbors: int = 10,
    rows: Array | None = None,
) -> sparse.csr_array:
    """Join two points by an edge if either is among the nearest neighbors of the other.

    All points are neighbors if there are no more than `n_neighbors`. Only the `rows`, if given,
    are joined to their neighbors among all points. Returns a symmetric matrix of zeros and ones.
    """
    n, k = len(points), min(n_neighbors, len(points) - 1)
    slack = float(np.finfo(points.dtype).eps) ** _TIE
    rows = np.arange(n) if rows is None else rows
    neighbors = _find_neighbors(np.asarray(points, dtype=np.float64), rows, k, slack)
    edges = np.repeat(rows, k), neighbors.ravel()
    directed = sparse.csr_array((np.ones(neighbors.size), edges), shape=(n, n))
    return directed.maximum(directed.T)


def _find_neighbors(points: Array, rows: Array, k: int, slack: float) -> Array:
    """Find the k nearest neighbors of the `rows` among all points; among ties, the first ones.

    Squared distances are ties if they differ by at most `slack` times the mean square.

    Whole numbers and categories have many ties. Without a rule, rounding errors would break them,
    and the graph would differ between single and double precision, or between machines.
    """
    n = len(points)
    slack *= float(np.mean(np.square(points).sum(axis=1)))
    near, unsure = np.empty((len(rows), k), dtype=np.intp), np.arange(len(rows))
    if n > _ROWS_AT_ONCE:  # of fewer points, all distances take less time than a search
        asked = min(2 * k, n - 1)
        search = NearestNeighbors(n_neighbors=asked + 1).fit(points)
        distances, nearest = search.kneighbors(points[rows])
        others = nearest != rows[:, np.newaxis]
        others[others.all(axis=1), 0] = False  # one of many equal points
        squares = np.square(distances[others].reshape(-1, asked))
        near = _first_of_ties(squares, nearest[others].reshape(-1, asked), k, slack)
        # The ties of some points reach beyond the neighbors that the search returned.
        reach = squares[:, -1] <= squares[:, k - 1] + slack
        unsure = np.flatnonzero(reach & (asked < n - 1))
    for first in range(0, len(unsure), _ROWS_AT_ONCE):
        places = unsure[first : first + _ROWS_AT_ONCE]
        squares = euclidean_distances(points[rows[places]], points, squared=True)
        squares[np.arange(len(places)), rows[places]] = np.inf
        every = np.broadcast_to(np.arange(n), squares.shape)
        near[places] = _first_of_ties(squares, every, k, slack)
    return near


def _first_of_ties(squares: Array, rows: Array, k: int, slack: float) -> Array:
    """Choose k of the rows in each line: the nearest, then the first of those at the k-th place.

    Return them in ascending order.
    """
    gaps = squares - np.partition(squares, k - 1, axis=1)[:, k - 1 : k]
    places = np.where(gaps < -slack, -1, np.where(gaps <= slack, rows, rows.max() + 1))
    chosen = np.argpartition(places, k - 1, axis=1)[:, :k]
    return np.sort(np.take_along_axis(rows, chosen, axis=1), axis=1)


def check_graph(graph: Any, n: int) -> sparse.csr_array:
    """Check that `graph` holds the weights of an undirected graph of `n` points.

    It is symmetric, with weights of at least 0; the diagonal does not matter.
    """
    try:
        weights = sparse.csr_array(graph)
        if weights.dtype.kind == "c":
            raise ValueError("complex weights are not supported.")
        weights = weights.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"graph must be a (sparse) matrix of weights; got {type(graph).__name__}: {error}"
        ) from error
    if weights.shape != (n, n):
        raise ValueError(
            f"graph must have one row and one column per row of X, shape ({n}, {n}); "
            f"got {weights.shape}."
        )
    if not np.all(np.isfinite(weights.data)) or np.any(weights.data < 0.0):
        raise ValueError("graph must hold finite weights of at least 0.")
    if abs(weights - weights.T).max() > 1e-9 * weights.max():
        raise ValueError(
            "graph must be symmetric: make it so, for example with graph.maximum(graph.T)."
        )
    return weights


def roughness(points: Array, graph: sparse.csr_array) -> Array:
    """Compute ``X' L X``, with L the Laplacian of the graph.

    ``<X' L X, A>`` is the sum over the edges of their weight times ``||x_i - x_j||_A^2``. (The
    normalized Laplacian has no such form: it depends on the origin.)

    """
    X = points.astype(np.float64)
    R = X.T @ times_laplacian(graph, X)
    return (R + R.T) / 2.0


def times_laplacian(weights: sparse.csr_array, Y: Array) -> Array:
    """Compute ``L Y``, with L the Laplacian of symmetric weights, which may be negative."""
    degree = np.asarray(weights.sum(axis=1)).reshape(-1, 1)
    product: Array = degree * Y - weights @ Y
    return product


def neighbors_and_pairs(
    rough: Array,
    similar: Array,
    dissimilar: Array,
    similar_weight: float = 3.0,
    dissimilar_weight: float = 1.0,
) -> Array:
    """Compute the matrix ``K = R + gs S - gd D`` of LRML (Hoi, Liu and Chang, 2008).

    R, S and D are the sums of ``(x_i - x_j)(x_i - x_j)'`` over the edges, and over the pairs of
    both kinds, each divided by its trace. The metric is the inverse of K, with small eigenvalues
    lifted, up to a factor.
    """
    weights = (1.0, similar_weight, -dissimilar_weight)
    total = np.zeros_like(rough)
    for weight, scatter in zip(weights, (rough, similar, dissimilar), strict=True):
        total += weight * (scatter / (float(np.trace(scatter)) or 1.0))  # as it is if all coincide
    return total
