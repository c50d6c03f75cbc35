"""Metric learning from quadruplets, and from classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..._utils._typing import Array
from ..._utils._validation import check_number, shown
from ...classic._definite import power
from ...classic._lsml import ComparisonObjective
from ._base_metric import MahalanobisMixin
from ._guesses import _QuadrupletsClassifierMixin
from ._pairs import SamplingLearner
from ._starts import components_from_metric, metric_matrix

__all__ = ["LSML", "LSML_Supervised"]


class _BaseLSML(MahalanobisMixin):
    def __init__(
        self,
        tol: float = 1e-3,
        max_iter: int = 1000,
        prior: Any = "identity",
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.prior = prior
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def _learn(self, quadruplets: Array, weights: Any) -> Self:
        check_number("tol", self.tol, low=0.0)
        check_number("max_iter", self.max_iter, low=0, integer=True)
        points = quadruplets.reshape(-1, quadruplets.shape[2])
        prior = metric_matrix(self.prior, points, self.random_state, "prior", definite=True)
        root = power(prior, 0.5)
        near = (quadruplets[:, 0] - quadruplets[:, 1]) @ root
        far = (quadruplets[:, 2] - quadruplets[:, 3]) @ root
        if not (near.any() or far.any()):
            raise ValueError(
                f"The points of all {len(near)} quadruplets coincide: there is nothing to learn. "
                "Pass points that differ."
            )
        shares = np.ones(len(near)) if weights is None else np.array(weights, dtype=float)
        if shares.shape != (len(near),) or not 0.0 < shares.sum() < np.inf:
            raise ValueError(
                f"weights must be {len(near)} numbers, one for each quadruplet, with a positive "
                f"sum; got {shown(weights)}."
            )
        self.w_ = shares / shares.sum()
        number = np.arange(len(near))
        objective = ComparisonObjective(
            np.vstack([near, far]), number, len(near) + number, 1.0, self.w_
        )
        L, _, _, n_iter = objective.minimize(self.max_iter, self.tol)
        return self._adopt(components_from_metric(root @ L @ L.T @ root), n_iter_=max(1, n_iter))


class LSML(_QuadrupletsClassifierMixin, _BaseLSML):
    """Metric learning from quadruplets, by the solver of `seraph.classic.LSML`.

    Parameters
    ----------
    tol : float, default=0.001
        Tolerance of the solver, on the size of the gradient.
    max_iter : int, default=1000
        Maximum number of iterations.
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
    >>> from seraph.compat.metric_learn import LSML
    >>> quadruplets = [[[0.0, 0.0], [0.0, 3.0], [0.0, 0.0], [1.0, 0.0]]]
    >>> learner = LSML().fit(quadruplets)  # the first two are closer than the others
    >>> bool(learner.decision_function(quadruplets)[0] > -2.0)
    True
    """

    def fit(self, quadruplets: Any, weights: Any = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        quadruplets : array-like of shape (n_quadruplets, 4, n_features) or (n_quadruplets, 4)
            Quadruplets of points, or of indicators: the first two are closer than the others.
        weights : array-like of shape (n_quadruplets,), optional
            Weights of the quadruplets; scaled to add up to 1.
        """
        return self._learn(self._tuples(quadruplets, size=4), weights)


class LSML_Supervised(SamplingLearner, _BaseLSML):  # noqa: N801
    """Metric learning from sampled quadruplets, by the solver of `seraph.classic.LSML`.

    Parameters
    ----------
    tol, max_iter, prior
        As for `LSML`.
    n_constraints : int, optional
        Number of quadruplets to sample; 20 times the number of classes squared if None.
    weights : array-like, optional
        Weights of the quadruplets; scaled to add up to 1.
    verbose, preprocessor
        As for `LSML`.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampled quadruplets, and of `prior` "random".

    Examples
    --------
    >>> from seraph.compat.metric_learn import LSML_Supervised
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LSML_Supervised(random_state=0).fit(X, y).transform(X).shape
    (150, 4)
    """

    def __init__(
        self,
        tol: float = 1e-3,
        max_iter: int = 1000,
        prior: Any = "identity",
        n_constraints: int | None = None,
        weights: Any = None,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(tol, max_iter, prior, verbose, preprocessor, random_state)
        self.n_constraints = n_constraints
        self.weights = weights

    def _learn_labels(self, points: Array, y: Array) -> Self:
        rows = self._sampled(y, same_length=True)
        if len(rows[0]) == 0:
            raise ValueError(
                "LSML needs at least two classes, one of them with at least two members, to "
                "sample quadruplets from; y has too few."
            )
        return self._learn(points[np.column_stack(rows)], self.weights)
