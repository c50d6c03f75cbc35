"""Neighborhood components analysis."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..._utils._typing import Array
from ._neighbors import NeighborLearner

__all__ = ["NCA"]


def __dir__() -> list[str]:
    return __all__


class NCA(NeighborLearner):
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

    def _learn(self, points: Array, codes: Array) -> Self:
        self._check_solver()
        alike = codes[:, np.newaxis] == codes

        def minus_expected_right(picks: Array) -> tuple[float, Array]:
            """Return the negative number of points expected to pick one of their class."""
            right = np.where(alike, picks, 0.0)
            expected = right.sum(axis=1)
            return -float(expected.sum()), right - picks * expected[:, np.newaxis]

        found = self._minimize(minus_expected_right, points, codes)
        return self._adopt(found.x, n_iter_=found.nit)
