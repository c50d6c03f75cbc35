"""The manifold extension: a graph, and the roughness of a metric on it, a term."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from .._sweep import PointsInMemory
from .._utils._typing import Array
from ._settings import Settings
from ._terms import Data, Term


@dataclass(frozen=True)
class Roughness(Term):
    """The penalty ``-<R, A>``, ``R = nu X' L X``, with L the Laplacian of a graph.

    ``<X' L X, A>`` is the sum over the edges of their weight times ``||x_i - x_j||_A^2``. (The
    normalized Laplacian has no such form: it depends on the origin.)

    Parameters
    ----------
    R : ndarray of shape (m, m)
        Symmetric positive semi-definite matrix.
    """

    R: Array

    @classmethod
    def make(cls, data: Data, settings: Settings) -> Self | None:
        """Make the term of a fit; None if ``manifold=0``."""
        nu, points = settings.manifold, data.points
        graph = None if data.graph is None else check_graph(data.graph, len(points))
        if nu == 0.0:
            return None
        if not isinstance(points, PointsInMemory):
            raise ValueError(
                f"manifold={nu:g} needs the nearest neighbors of each point, which cannot be "
                "found across the chunks of a dask collection: set manifold=0, or pass "
                "X.compute() if it fits in memory."
            )
        array = data.coordinates.array
        if graph is None:
            graph = neighbor_graph(array, settings.n_neighbors)
        with np.errstate(over="ignore"):
            term = cls.of(array, graph, nu)
        if not np.isfinite(term.R).all():
            raise ValueError(
                f"manifold={nu:g} is too large for these points: the sum over the graph "
                "overflows. Lower it, or scale the features."
            )
        return term

    @classmethod
    def of(cls, points: Array, graph: sparse.csr_array, nu: float) -> Self:
        """Compute ``R`` from points and symmetric weights."""
        X = points.astype(np.float64)
        R = X.T @ times_laplacian(graph, X)
        return cls(nu * ((R + R.T) / 2.0))

    def by_metric(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the m x m gradient by the metric."""
        return -float(np.vdot(P @ self.R, P)), -self.R

    def at(self, s: float) -> Self:
        """Return ``-<R / s, B>``."""
        return replace(self, R=self.R / s)

    def slope(self, P: Array) -> float:
        """Compute the derivative by ``ln s``."""
        return float(np.vdot(P @ self.R, P))


def neighbor_graph(points: Array, n_neighbors: int) -> sparse.csr_array:
    """Join two points by an edge if either is among the nearest neighbors of the other.

    The result is a symmetric sparse array of zeros and ones.
    """
    if n_neighbors >= len(points):
        raise ValueError(
            f"n_neighbors={n_neighbors} is too large: X has {len(points)} rows. "
            f"Set it to at most {len(points) - 1}, or set manifold=0."
        )
    directed = sparse.csr_array(kneighbors_graph(points, int(n_neighbors)))  # int8 would overflow
    return directed.maximum(directed.T)


def check_graph(graph: Any, n: int) -> sparse.csr_array:
    """Check that `graph` holds the weights of an undirected graph of `n` points.

    They are symmetric and at least 0. The diagonal does not matter.
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


def times_laplacian(weights: sparse.csr_array, Y: Array) -> Array:
    """Compute ``L Y``, with L the Laplacian of symmetric weights, which may be negative."""
    degree = np.asarray(weights.sum(axis=1)).reshape(-1, 1)
    product: Array = degree * Y - weights @ Y
    return product
