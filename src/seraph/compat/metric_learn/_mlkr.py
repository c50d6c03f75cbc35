"""Metric learning for kernel regression."""

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


class MLKR(LabeledLearner):
    """Metric learning for kernel regression, as in metric-learn.

    Parameters
    ----------
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    init : str or ndarray, default="auto"
        Where to start.
    tol : float, optional
        Tolerance of L-BFGS; SciPy's own if None.
    max_iter : int, default=1000
        Maximum number of iterations.
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
    >>> from seraph.compat.metric_learn import MLKR
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MLKR(n_components=2).fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        init: Any = "auto",
        tol: float | None = None,
        max_iter: int = 1000,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
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
            Number to predict at each point.

        Returns
        -------
        self
            The fitted learner.
        """
        check_number("max_iter", self.max_iter, low=0, integer=True)
        check_number("tol", self.tol, low=0.0, instead=None)
        points, y = self._points(X, y, y_numeric=True)
        d = checked_components(self.n_components, points.shape[1])
        first = first_map(self.init, points, None, d, self.random_state)
        try:
            y = np.asarray(y, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(
                "y must hold numbers, the targets of a regression. For classes, take NCA."
            ) from error
        # Far from the origin, squared distances would lose their digits.
        points = points.astype(float) - points.mean(axis=0)
        found = minimize(
            _squared_errors,
            first.ravel(),
            args=(points, y),
            method="L-BFGS-B",
            jac=True,
            tol=self.tol,
            options={"maxiter": self.max_iter},
        )
        if self.verbose and not found.success:
            warn(
                f"MLKR stopped after {found.nit} iterations: {found.message}. Raise max_iter.",
                ConvergenceWarning,
            )
        return self._adopt(found.x.reshape(first.shape), d, n_iter_=found.nfev)


def _squared_errors(flat: Array, points: Array, y: Array) -> tuple[float, Array]:
    """Return the squared errors of the kernel regression that leaves each point out; gradient."""
    L = flat.reshape(-1, points.shape[1])
    Z = points @ L.T
    kernel = neighbor_shares(Z)
    errors = kernel @ y - y
    weights = kernel * errors[:, np.newaxis] * (y - (errors + y)[:, np.newaxis])
    return float(errors @ errors), 4.0 * laplacian_gradient(weights, Z, points)
