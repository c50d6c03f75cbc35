"""The manifold extension: the roughness of a metric on a graph, a term."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy import sparse

from .._sweep import PointsInMemory
from .._utils._graph import neighbor_graph, roughness
from .._utils._typing import Array
from ._settings import Settings
from ._terms import Data, Term


@dataclass(frozen=True)
class Roughness(Term):
    """The penalty ``-<R, A>``, ``R = nu X' L X``, with L the Laplacian of a graph.

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
        if nu == 0.0:
            return None
        if not isinstance(points, PointsInMemory):
            raise ValueError(
                f"manifold={nu:g} needs the nearest neighbors of each point, which cannot be "
                "found across the chunks of a dask collection: set manifold=0, or pass "
                "X.compute() if it fits in memory."
            )
        array = data.coordinates.array
        graph = neighbor_graph(array) if data.graph is None else data.graph
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
        return cls(nu * roughness(points, graph))

    def by_metric(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the m x m gradient by the metric."""
        return -float(np.vdot(P @ self.R, P)), -self.R

    def at(self, s: float) -> Self:
        """Return ``-<R / s, B>``."""
        return replace(self, R=self.R / s)

    def slope(self, P: Array) -> float:
        """Compute the derivative by ``ln s``."""
        return float(np.vdot(P @ self.R, P))
