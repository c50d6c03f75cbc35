"""Large margin nearest neighbors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..._utils._typing import Array
from ..._utils._validation import check_number
from ...classic._triples import Triples
from ._base_metric import LabeledLearner
from ._keywords import DEPRECATED, renamed
from ._starts import first_map

__all__ = ["LMNN"]


def __dir__() -> list[str]:
    return __all__


# The kink of the hinge is not smoothed: metric-learn's gradient jumps there.
_SHARP = 1e-12


class LMNN(LabeledLearner):
    """Large margin nearest neighbors, by the gradient descent of metric-learn.

    It starts at `init` and ends where a step changes the objective by less than
    `convergence_tol`, which with the defaults is far from the minimum: a protection against
    overfitting. `seraph.classic.LMNN` says how far it is from the minimum.

    Parameters
    ----------
    init : str or ndarray, default="auto"
        The first map: "auto", "pca", "lda", "identity", "random", or an array of shape
        (n_components, n_features).
    n_neighbors : int, default=3
        Number of target neighbors.
    min_iter : int, default=50
        Smallest number of iterations.
    max_iter : int, default=1000
        Maximum number of iterations.
    learn_rate : float, default=1e-07
        First step size: halved where a step raises the objective, and 1 % larger after each
        iteration.
    regularization : float, default=0.5
        Weight of the pull, between 0 and 1.
    convergence_tol : float, default=0.001
        Stop where an iteration changes the objective by less than this.
    verbose : bool, default=False
        Taken, and not used; nothing is printed.
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    random_state : int, RandomState instance or None, default=None
        Seed of `init` "random" and "pca".
    k : "deprecated"
        Old name of `n_neighbors`, taken with a warning.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The learned map.
    labels_ : ndarray of int of shape (n_classes,)
        Numbers of the classes, from 0.
    n_iter_ : int
        Number of iterations.

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
        k: Any = DEPRECATED,
    ) -> None:
        self.init = init
        self.n_neighbors, self.k = renamed("k", k, "n_neighbors", n_neighbors)
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
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("min_iter", self.min_iter, low=0, integer=True)
        check_number("learn_rate", self.learn_rate, low=0.0)
        check_number("convergence_tol", self.convergence_tol, low=0.0)
        check_number("regularization", self.regularization, low=0.0, high=1.0)
        first = first_map(self.init, points, codes, self.n_components, self.random_state)
        sizes = np.bincount(codes)
        if self.n_neighbors > sizes.min():
            raise ValueError(
                f"n_neighbors={self.n_neighbors} is too large: the smallest class has "
                f"{sizes.min()} points."
            )
        order = np.argsort(codes, kind="stable")
        triples = Triples(
            points[order].astype(float),
            codes[order],
            n_neighbors=self.n_neighbors,
            push_weight=1.0 - self.regularization,
            width=_SHARP,
        )
        found, n_iter = self._descend(triples, first)
        return self._adopt(found, labels_=np.arange(len(sizes)), n_iter_=n_iter)

    def _descend(self, triples: Triples, L: Array) -> tuple[Array, int]:
        """Return the last map of the descent, and the number of iterations."""
        rate = float(self.learn_rate)
        value, gradient = _value_and_gradient(triples, L)
        iteration = 1  # the first evaluation counts, as in metric-learn
        for iteration in range(2, self.max_iter):
            while True:
                following = L - rate * gradient
                lower, gradient_there = _value_and_gradient(triples, following)
                change = lower - value
                if change <= 0.0 or rate == 0.0:
                    break
                rate /= 2.0
            L, value, gradient = following, lower, gradient_there
            rate *= 1.01
            if iteration > self.min_iter and abs(change) < self.convergence_tol:
                break
        return L, iteration


def _value_and_gradient(triples: Triples, L: Array) -> tuple[float, Array]:
    at = triples.at(L)
    return at.exact, 2.0 * at.laplacian.T @ triples.points
