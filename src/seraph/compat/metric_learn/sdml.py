"""Sparse metric learning, from pairs and from classes."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._utils._eigen import eigvalsh
from ..._utils._typing import Array
from ..._utils._validation import check_number
from ..._utils._warnings import warn
from ...classic._sdml import largest_weight, sparse_metric
from ._inputs import PairLearner, SamplingLearner
from ._parameters import LAST
from ._starts import components_from_metric, prior_root
from .base_metric import MahalanobisMixin

__all__ = ["SDML", "SDML_Supervised"]


class _BaseSDML(MahalanobisMixin):
    def _learn(self, pairs: Array, y: Array) -> Self:
        check_number("balance_param", self.balance_param, low=0.0)
        check_number("sparsity_param", self.sparsity_param, low=0.0)
        root = prior_root(self, pairs.reshape(-1, pairs.shape[2]))
        difference = pairs[:, 0] - pairs[:, 1]
        pull = (difference.T * y) @ difference
        largest, weight = largest_weight(pull, root), float(self.balance_param)
        if weight >= largest and eigvalsh(pull)[0] < 0.0:
            warn(
                f"balance_param={weight:g} is too large for these pairs: there is no minimum from "
                f"{largest:.2g} on, so {0.99 * largest:.2g} is used. Lower balance_param.",
                ConvergenceWarning,
            )
            weight = 0.99 * largest
        K = np.linalg.inv(root @ root) + weight * pull
        A = sparse_metric(K, float(self.sparsity_param), max_iter=100, tol=1e-4)[0]
        return self._adopt(components_from_metric(A))


_SDML = "balance_param=0.5, sparsity_param=0.01, prior='identity'"


class SDML(
    _BaseSDML,
    PairLearner,
    arguments=f"{_SDML}, {LAST}",
    example="balance_param=0.02, sparsity_param=0.0",
):
    """Sparse metric learning from pairs, by the solver of `seraph.classic.SDML`."""


class SDML_Supervised(  # noqa: N801
    _BaseSDML,
    SamplingLearner,
    arguments=f"{_SDML}, n_constraints=None, {LAST}",
    example="balance_param=1e-4",
):
    """Sparse metric learning from classes, by the solver of `seraph.classic.SDML`."""
