"""Metric learning for kernel regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..._utils._typing import Array
from ._neighbors import NeighborLearner

__all__ = ["MLKR"]


def __dir__() -> list[str]:
    return __all__


class MLKR(NeighborLearner):
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
        self._check_solver()
        points, y = self._points(X, y, y_numeric=True)
        try:
            y = np.asarray(y, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(
                "y must hold numbers, the targets of a regression. For classes, take NCA."
            ) from error

        def squared_errors(kernel: Array) -> tuple[float, Array]:
            """Return the sum of the squared leave-one-out errors of the kernel regression."""
            guesses = kernel @ y
            errors = guesses - y
            slopes = -2.0 * kernel * errors[:, np.newaxis] * (y - guesses[:, np.newaxis])
            return float(errors @ errors), slopes

        found = self._minimize(squared_errors, points, None)
        return self._adopt(found.x, n_iter_=found.nfev)
