"""The manifold extension: the roughness of a metric on a graph, a term of the objective."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._utils._graph import check_graph, neighbor_graph, roughness
from .._utils._typing import AnyArray, Array
from ._objective import Term


@dataclass(frozen=True)
class Roughness(Term):
    """The penalty ``-<R, A>``, ``R = nu X' L X``, with L the Laplacian of a graph."""

    R: AnyArray

    @staticmethod
    def matrix(points: Array, graph: Any, nu: float) -> Array:
        """Compute ``R`` for a user's graph, or for the nearest neighbors if it is None."""
        graph = neighbor_graph(points) if graph is None else check_graph(graph, len(points))
        with np.errstate(over="ignore", invalid="ignore"):
            R = nu * roughness(points, graph)
        if not np.isfinite(R).all():
            raise ValueError(
                f"manifold={nu:g} is too large for these points: the sum over the graph "
                "overflows. Lower it, or scale the features."
            )
        return R

    def value_and_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        return -((P @ self.R) * P).sum(), -self.R

    def at_scale(self, s: float) -> Self:
        # -<R, A> = -<R / s, B>
        return replace(self, R=self.R / s)

    def slope(self, P: AnyArray) -> float:
        return float(((P @ self.R) * P).sum())
