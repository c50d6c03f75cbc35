"""Information-theoretic metric learning, from pairs and from classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.utils import resample

from ... import classic
from ..._utils._typing import Array
from ._inputs import PairLearner, SamplingLearner, marks_of
from ._parameters import LAST
from ._starts import components_from_metric, prior_root
from .base_metric import MahalanobisMixin

__all__ = ["ITML", "ITML_Supervised"]

# Largest number of points whose distances give ITML's bounds: metric-learn takes all of them.
_POINTS_FOR_BOUNDS = 3000


class _BaseITML(MahalanobisMixin):
    def _learn(self, pairs: Array, y: Array, bounds: Any = None) -> Self:
        points = pairs.reshape(-1, pairs.shape[2])
        root = prior_root(self, points)
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
        settings = self._settings("gamma", "max_iter", "tol", bounds=tuple(bounds.tolist()))
        learner = classic.ITML(n_constraints=None, **settings)
        self._fit_quietly(learner, points @ root, marks=marks_of(y))
        P = learner.components_ @ root
        return self._adopt(
            components_from_metric(P.T @ P), bounds_=bounds, n_iter_=learner.n_iter_
        )


class ITML(
    _BaseITML,
    PairLearner,
    arguments=f"gamma=1.0, max_iter=1000, tol=1e-3, prior='identity', {LAST}",
):
    """Information-theoretic metric learning from pairs, by `seraph.classic.ITML`."""

    def fit(  # type: ignore[override]  # metric-learn has the arguments in this order
        self, pairs: Any, y: Any, bounds: Any = None, calibration_params: Any = None
    ) -> Self:
        """Learn the metric."""
        return self._fit_pairs(pairs, y, calibration_params, bounds)


class ITML_Supervised(  # noqa: N801
    _BaseITML,
    SamplingLearner,
    arguments=f"gamma=1.0, max_iter=1000, tol=1e-3, n_constraints=None, prior='identity', {LAST}",
):
    """Information-theoretic metric learning from classes, by `seraph.classic.ITML`."""

    def fit(self, X: Any, y: Any, bounds: Any = None) -> Self:
        """Learn the metric."""
        return self._learn(*self._prepared(X, y), bounds)
