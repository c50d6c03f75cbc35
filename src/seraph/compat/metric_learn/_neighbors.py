"""The base of NCA and MLKR, where each point picks another, the nearer the likelier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from ..._utils._typing import Array
from ..._utils._validation import check_number
from ..._utils._warnings import warn
from ._base_metric import LabeledLearner
from ._starts import first_map


class NeighborLearner(LabeledLearner):
    """Base: learners that minimize a function of these probabilities by L-BFGS."""

    init: Any
    n_components: int | None
    max_iter: int
    tol: float | None
    verbose: bool
    random_state: Any

    def _check_solver(self) -> None:
        check_number("max_iter", self.max_iter, low=0, integer=True)
        check_number("tol", self.tol, low=0.0, instead=None)

    def _minimize(
        self,
        objective: Callable[[Array], tuple[float, Array]],
        points: Array,
        classes: Array | None,
    ) -> OptimizeResult:
        """Start at `init` and minimize; the map found is `x`.

        `objective` takes the probabilities of `neighbor_shares`, and returns its value and its
        derivatives with respect to the squared distances. `classes` are those of `first_map`.
        """
        first = first_map(self.init, points, classes, self.n_components, self.random_state)
        # Far from the origin, squared distances would lose their digits.
        centered = points.astype(float) - points.mean(axis=0)

        def value_and_gradient(flat: Array) -> tuple[float, Array]:
            Z = centered @ flat.reshape(first.shape).T
            value, slopes = objective(neighbor_shares(Z))
            return value, map_gradient(slopes, Z, centered).ravel()

        found = minimize(
            value_and_gradient,
            first.ravel(),
            method="L-BFGS-B",
            jac=True,
            tol=self.tol,
            options={"maxiter": self.max_iter},
        )
        if self.verbose and not found.success:
            warn(
                f"{type(self).__name__} stopped after {found.nit} iterations: {found.message}. "
                "Raise max_iter.",
                ConvergenceWarning,
            )
        found.x = found.x.reshape(first.shape)
        return found


def neighbor_shares(Z: Array) -> Array:
    """Return the probability that a point picks another: the softmax of the squared distances.

    Examples
    --------
    >>> neighbor_shares(np.array([[0.0], [0.0], [9.0]])).round(3)
    array([[0. , 1. , 0. ],
           [1. , 0. , 0. ],
           [0.5, 0.5, 0. ]])
    """
    norms = np.einsum("ij,ij->i", Z, Z)
    squared = Z @ (-2.0 * Z.T)
    squared += norms
    np.fill_diagonal(squared, np.inf)
    shares: Array = softmax(-squared, axis=1)
    return shares


def map_gradient(slopes: Array, Z: Array, points: Array) -> Array:
    """Return the gradient with respect to the map from `points` to `Z`.

    `slopes` are the derivatives with respect to the squared distances; each of their rows must
    add up to zero.
    """
    push = slopes.sum(axis=0)[:, np.newaxis] * Z - (slopes + slopes.T) @ Z
    gradient: Array = 2.0 * push.T @ points
    return gradient
