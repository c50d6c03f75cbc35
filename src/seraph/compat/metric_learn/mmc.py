"""Mahalanobis metric for clustering, from pairs and from classes."""

from __future__ import annotations

from typing import Self

import numpy as np

from ... import classic
from ..._utils._typing import Array
from ..._utils._validation import check_number
from ._inputs import PairLearner, SamplingLearner, marks_of
from ._parameters import LAST
from ._starts import components_from_metric, metric_matrix
from .base_metric import MahalanobisMixin

__all__ = ["MMC", "MMC_Supervised"]


class _BaseMMC(MahalanobisMixin):
    def _learn(self, pairs: Array, y: Array) -> Self:
        check_number("diagonal_c", self.diagonal_c, low=0.0)
        points = pairs.reshape(-1, pairs.shape[2])
        first = metric_matrix(self.init, points, self.random_state, "init", definite=False)
        alike = pairs[y == 1, 0] - pairs[y == 1, 1]
        if not alike.any():
            raise ValueError(
                f"MMC needs pairs of both kinds whose points differ; all {len(alike)} pairs that "
                "are alike (+1) are of equal points. Pass more pairs."
            )
        settings = self._settings("diagonal", "max_iter", "tol")
        learner = classic.GDM(n_constraints=None, **settings)
        self._fit_quietly(learner, points, marks=marks_of(y))
        # The sum of the squared distances of alike pairs: in the full form, metric-learn bounds
        # it by a hundredth of that under `init`; in the diagonal form, this is its best value.
        bound = np.vdot(alike @ first, alike) / 100.0
        total = float(self.diagonal_c) / 2.0 if self.diagonal else bound
        A = learner.get_mahalanobis_matrix()
        A *= total / np.vdot(alike @ A, alike)
        solved = {"n_iter_": learner.n_iter_, "converged_": learner.converged_}
        return self._adopt(components_from_metric(A), A_=A, **solved)


class MMC(
    _BaseMMC,
    PairLearner,
    arguments="max_iter=100, max_proj=10000, tol=1e-3, init='identity', diagonal=False, "
    f"diagonal_c=1.0, {LAST}",
):
    """Mahalanobis metric for clustering from pairs, by `seraph.classic.GDM`."""


class MMC_Supervised(  # noqa: N801
    _BaseMMC,
    SamplingLearner,
    arguments="max_iter=100, max_proj=10000, tol=1e-6, n_constraints=None, init='identity', "
    f"diagonal=False, diagonal_c=1.0, {LAST}",
):
    """Mahalanobis metric for clustering from classes, by `seraph.classic.GDM`."""
