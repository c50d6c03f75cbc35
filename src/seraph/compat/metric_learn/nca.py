"""Neighborhood components analysis."""

from __future__ import annotations

from typing import Any, Self

from ... import classic
from ..._utils._typing import Array
from ._base_metric import LabeledLearner
from ._starts import SCIPY_TOL, first_map

__all__ = ["NCA"]


class NCA(LabeledLearner):
    """Neighborhood components analysis, by `seraph.classic.NCA`.

    Parameters
    ----------
    init : {"auto", "pca", "lda", "identity", "random"} or ndarray, default="auto"
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

    def _learn(self, points: Array, codes: Array) -> Self:
        first = first_map(self.init, points, codes, self.n_components, self.random_state)
        learner = classic.NCA(
            n_components=len(first),
            init=first,
            max_iter=self.max_iter,
            tol=SCIPY_TOL if self.tol is None else self.tol,
        )
        return self._adopt_learner(learner, points, codes)
