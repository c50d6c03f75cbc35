"""Information-theoretic metric learning, from pairs and from classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils import resample

from ... import classic
from ..._utils._typing import Array
from ...classic._definite import power
from ._base_metric import MahalanobisMixin
from ._pairs import PairLearner, SamplingLearner, marks_of
from ._starts import components_from_metric, metric_matrix

__all__ = ["ITML", "ITML_Supervised"]

# Largest number of points whose distances give ITML's bounds: metric-learn takes all of them.
_POINTS_FOR_BOUNDS = 3000


class _BaseITML(MahalanobisMixin):
    def __init__(
        self,
        gamma: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-3,
        prior: Any = "identity",
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.prior = prior
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def _learn(self, pairs: Array, y: Array, bounds: Any = None) -> Self:
        points = pairs.reshape(-1, pairs.shape[2])
        prior = metric_matrix(self.prior, points, self.random_state, "prior", definite=True)
        root = power(prior, 0.5)
        if len(pairs) == 0:
            raise ValueError(
                "ITML needs at least one pair; y has no two points of one class, nor of two. "
                "Label more points, or raise n_constraints."
            )
        if bounds is None:
            unique = np.unique(points, axis=0)
            n = min(len(unique), _POINTS_FOR_BOUNDS)
            unique = resample(unique, replace=False, n_samples=n, random_state=0)
            bounds = np.percentile(pairwise_distances(unique), (5, 95))
        bounds = np.array(bounds, dtype=float).ravel()
        bounds[bounds == 0.0] = 1e-9
        learner = classic.ITML(
            gamma=self.gamma,
            prior="identity",
            bounds=tuple(bounds.tolist()),
            n_constraints=None,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        with self._quietly():
            learner.fit(points @ root, marks=marks_of(y))
        P = learner.components_ @ root
        metric = components_from_metric(P.T @ P)
        return self._adopt(metric, bounds_=bounds, n_iter_=learner.n_iter_)


class ITML(PairLearner, _BaseITML):
    """Information-theoretic metric learning from pairs, by `seraph.classic.ITML`.

    Parameters
    ----------
    gamma : float, default=1.0
        Weight of the slack: the larger, the more closely the bounds are kept.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=0.001
        Tolerance of the solver, on the duality gap.
    prior : {"identity", "covariance", "random"} or ndarray, default="identity"
        The metric to stay close to: "covariance" is the inverse of the points' covariance.
    verbose : bool, default=False
        Whether to warn if the solver stops early; nothing is printed.
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.
    random_state : int, RandomState instance or None, default=None
        Seed of `prior` "random".

    Examples
    --------
    >>> from seraph.compat.metric_learn import ITML
    >>> pairs = [[[0.0, 1.0], [0.1, 5.0]], [[0.0, 1.0], [3.0, 1.2]],
    ...          [[3.0, 4.0], [3.2, 0.0]], [[0.1, 2.0], [2.9, 2.5]]]
    >>> learner = ITML().fit(pairs, [1, -1, 1, -1])
    >>> learner.predict(pairs).tolist()
    [1, -1, 1, -1]
    """

    def fit(  # type: ignore[override]  # metric-learn has the arguments in this order
        self, pairs: Any, y: Any, bounds: Any = None, calibration_params: Any = None
    ) -> Self:
        """Learn the metric.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2)
            Pairs of points, or of indicators.
        y : array-like of shape (n_pairs,)
            +1 for pairs that are alike, -1 for the others.
        bounds : array-like of two floats, optional
            Bounds of the squared distances of alike and of other pairs. If None, the 5th and
            the 95th percentile of the distances, as in metric-learn.
        calibration_params : dict, optional
            Arguments of `calibrate_threshold`, which is called on the same pairs.
        """
        return self._fit_pairs(pairs, y, calibration_params, bounds)


class ITML_Supervised(SamplingLearner, _BaseITML):  # noqa: N801
    """Information-theoretic metric learning from classes, by `seraph.classic.ITML`.

    Parameters
    ----------
    gamma, max_iter, tol
        As for `ITML`.
    n_constraints : int, optional
        Number of pairs of either kind to sample; 20 times the number of classes squared if
        None.
    prior, verbose, preprocessor
        As for `ITML`.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampled pairs, and of `prior` "random".

    Examples
    --------
    >>> from seraph.compat.metric_learn import ITML_Supervised
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ITML_Supervised(random_state=0).fit(X, y).transform(X).shape
    (150, 4)
    """

    def __init__(
        self,
        gamma: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-3,
        n_constraints: int | None = None,
        prior: Any = "identity",
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(gamma, max_iter, tol, prior, verbose, preprocessor, random_state)
        self.n_constraints = n_constraints

    def fit(self, X: Any, y: Any, bounds: Any = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples,) with a preprocessor
            Points or indicators.
        y : array-like of shape (n_samples,)
            Class of each point; negative where it is unknown.
        bounds : array-like of two floats, optional
            Bounds of the squared distances of alike and of other pairs. If None, the 5th and
            the 95th percentile of the distances, as in metric-learn.
        """
        return self._learn_labels(*self._points(X, y), bounds)
