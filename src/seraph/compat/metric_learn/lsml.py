"""Metric learning from quadruplets, and from classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..._utils._typing import Array
from ..._utils._validation import check_number, shown
from ...classic._lsml import ComparisonObjective
from ._inputs import SamplingLearner
from ._parameters import LAST
from ._starts import components_from_metric, prior_root
from .base_metric import MahalanobisMixin, _QuadrupletsClassifierMixin

__all__ = ["LSML", "LSML_Supervised"]


class _BaseLSML(MahalanobisMixin):
    def _learn(self, quadruplets: Array, weights: Any) -> Self:
        check_number("tol", self.tol, low=0.0)
        check_number("max_iter", self.max_iter, low=0, integer=True)
        root = prior_root(self, quadruplets.reshape(-1, quadruplets.shape[2]))
        near = (quadruplets[:, 0] - quadruplets[:, 1]) @ root
        far = (quadruplets[:, 2] - quadruplets[:, 3]) @ root
        n = len(near)
        if not (near.any() or far.any()):
            raise ValueError(
                f"LSML got {n} quadruplets, and none of points that differ: there is nothing to "
                "learn. Pass points that differ, of at least two classes."
            )
        shares = np.ones(n) if weights is None else np.array(weights, dtype=float)
        if shares.shape != (n,) or not 0.0 < shares.sum() < np.inf:
            raise ValueError(
                f"weights must be {n} numbers, one for each quadruplet, with a positive "
                f"sum; got {shown(weights)}."
            )
        shares /= shares.sum()
        pairs, number = np.vstack([near, far]), np.arange(n)
        objective = ComparisonObjective(pairs, number, n + number, 1.0, shares)
        L, _, _, n_iter = objective.minimize(self.max_iter, self.tol)
        components = components_from_metric(root @ L @ L.T @ root)
        return self._adopt(components, w_=shares, n_iter_=max(1, n_iter))


class LSML(
    _BaseLSML,
    _QuadrupletsClassifierMixin,
    arguments=f"tol=1e-3, max_iter=1000, prior='identity', {LAST}",
):
    """Metric learning from quadruplets, by the solver of `seraph.classic.LSML`."""

    _example = """
>>> quadruplets = [[[0.0, 0.0], [3.0, 0.0], [0.0, 0.0], [0.0, 1.0]]]
>>> learner = {name}({arguments}).fit(quadruplets)  # the first two are closer than the others
>>> bool(learner.decision_function(quadruplets)[0] > -2.0)
True"""

    def fit(self, quadruplets: Any, weights: Any = None) -> Self:
        """Learn the metric."""
        return self._learn(self._tuples(quadruplets, size=4), weights)


class LSML_Supervised(  # noqa: N801
    _BaseLSML,
    SamplingLearner,
    arguments="tol=1e-3, max_iter=1000, prior='identity', n_constraints=None, weights=None, "
    f"{LAST}",
):
    """Metric learning from sampled quadruplets, by the solver of `seraph.classic.LSML`."""

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return sampled quadruplets, and their weights."""
        points, y = self._points(X, y)
        rows = self._sampled(y, same_length=True)
        return points[np.column_stack(rows)], self.weights
