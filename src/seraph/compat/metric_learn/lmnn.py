"""Large margin nearest neighbors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ... import classic
from ..._utils._typing import Array
from ..._utils._validation import check_number
from ._base_metric import LabeledLearner
from ._starts import checked_components

__all__ = ["LMNN"]


class LMNN(LabeledLearner):
    """Large margin nearest neighbors, by `seraph.classic.LMNN`.

    Parameters
    ----------
    init : str or ndarray, default="auto"
        Where metric-learn's steps start; not used.
    n_neighbors : int, default=3
        Number of target neighbors.
    min_iter : int, default=50
        Setting of metric-learn's gradient descent; not used.
    max_iter : int, default=1000
        Maximum number of iterations.
    learn_rate : float, default=1e-07
        Setting of metric-learn's gradient descent; not used.
    regularization : float, default=0.5
        Weight of the pull, between 0 and 1.
    convergence_tol : float, default=0.001
        Setting of metric-learn's gradient descent; not used.
    verbose : bool, default=False
        Whether to warn if the solver stops early; nothing is printed.
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    random_state : int, RandomState instance or None, default=None
        Seed of `init`; not used.

    Examples
    --------
    >>> from seraph.compat.metric_learn import LMNN
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LMNN().fit(X, y).transform(X).shape
    (150, 4)
    """

    def __init__(
        self,
        init: Any = "auto",
        n_neighbors: int = 3,
        min_iter: int = 50,
        max_iter: int = 1000,
        learn_rate: float = 1e-7,
        regularization: float = 0.5,
        convergence_tol: float = 0.001,
        verbose: bool = False,
        preprocessor: Any = None,
        n_components: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.init = init
        self.n_neighbors = n_neighbors
        self.min_iter = min_iter
        self.max_iter = max_iter
        self.learn_rate = learn_rate
        self.regularization = regularization
        self.convergence_tol = convergence_tol
        self.verbose = verbose
        self.n_components = n_components
        self.random_state = random_state
        super().__init__(preprocessor)

    def _learn(self, points: Array, codes: Array) -> Self:
        check_number("regularization", self.regularization, low=0.0, high=1.0)
        learner = classic.LMNN(
            n_neighbors=self.n_neighbors,
            push_weight=1.0 - self.regularization,
            n_components=checked_components(self.n_components, points.shape[1]),
            max_iter=self.max_iter,
        )
        return self._adopt_learner(learner, points, codes, labels_=np.unique(codes))
