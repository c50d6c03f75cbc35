"""Neighborhood components analysis."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from ..._utils._typing import Array
from ..._utils._validation import check_number
from ..._utils._warnings import warn
from ._labeled import LabeledLearner
from ._neighbors import laplacian_gradient, neighbor_shares
from ._starts import checked_components, first_map


class NCA(LabeledLearner):
    """Neighborhood components analysis, as in metric-learn.

    Parameters
    ----------
    init : str or ndarray, default="auto"
        Where to start.
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, optional
        Tolerance of L-BFGS; SciPy's own if None.
    verbose : bool, default=False
        Whether to warn if the solver stops early; nothing is printed.
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.
    random_state : int, RandomState instance or None, default=None
        Seed of `init`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The learned map.

    Examples
    --------
    >>> from seraph.compat.metric_learn import NCA
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NCA(n_components=2).fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        init: Any = "auto",
        n_components: int | None = None,
        max_iter: int = 100,
        tol: float | None = None,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.init = init
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples,) with a preprocessor
            Points or indicators.
        y : array-like of shape (n_samples,)
            Class of each point.

        Returns
        -------
        self
            The fitted learner.
        """
        check_number("max_iter", self.max_iter, low=0, integer=True)
        check_number("tol", self.tol, low=0.0, instead=None)
        points, codes = self._labeled(X, y)
        d = checked_components(self.n_components, points.shape[1])
        first = first_map(self.init, points, codes, d, self.random_state)
        alike = codes[:, np.newaxis] == codes
        # Far from the origin, squared distances would lose their digits.
        points = points.astype(float) - points.mean(axis=0)
        found = minimize(
            _minus_expected_right,
            first.ravel(),
            args=(points, alike),
            method="L-BFGS-B",
            jac=True,
            tol=self.tol,
            options={"maxiter": self.max_iter},
        )
        if self.verbose and not found.success:
            warn(
                f"NCA stopped after {found.nit} iterations: {found.message}. Raise max_iter.",
                ConvergenceWarning,
            )
        return self._adopt(found.x.reshape(first.shape), d, n_iter_=found.nit)


def _minus_expected_right(flat: Array, points: Array, alike: Array) -> tuple[float, Array]:
    """Return the negative number of points expected to pick one of their class; its gradient."""
    L = flat.reshape(-1, points.shape[1])
    Z = points @ L.T
    picks = neighbor_shares(Z)
    right = np.where(alike, picks, 0.0)
    expected = right.sum(axis=1)
    weights = right - picks * expected[:, np.newaxis]
    return -float(expected.sum()), -2.0 * laplacian_gradient(weights, Z, points)
