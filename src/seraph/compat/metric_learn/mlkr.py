"""Metric learning for kernel regression."""

from __future__ import annotations

from typing import Any, Self

from ... import classic
from ._base_metric import LabeledLearner
from ._starts import SCIPY_TOL, first_map

__all__ = ["MLKR"]


class MLKR(LabeledLearner):
    """Metric learning for kernel regression, by `seraph.classic.MLKR`.

    Parameters
    ----------
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    init : {"auto", "pca", "identity", "random"} or ndarray, default="auto"
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
        """
        points, y = self._points(X, y, y_numeric=True)
        first = first_map(self.init, points, None, self.n_components, self.random_state)
        learner = classic.MLKR(
            n_components=len(first),
            init=first,
            max_iter=self.max_iter,
            tol=SCIPY_TOL if self.tol is None else self.tol,
        )
        return self._adopt_learner(learner, points, y)
