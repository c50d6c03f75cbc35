"""Sparse metric learning, from pairs and from classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._utils._eigen import eigvalsh
from ..._utils._typing import Array
from ..._utils._validation import check_number
from ..._utils._warnings import warn
from ...classic._definite import power
from ...classic._sdml import largest_weight, sparse_metric
from ._base_metric import MahalanobisMixin
from ._pairs import PairLearner, SamplingLearner
from ._starts import components_from_metric, metric_matrix

__all__ = ["SDML", "SDML_Supervised"]


class _BaseSDML(MahalanobisMixin):
    def __init__(
        self,
        balance_param: float = 0.5,
        sparsity_param: float = 0.01,
        prior: Any = "identity",
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.balance_param = balance_param
        self.sparsity_param = sparsity_param
        self.prior = prior
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def _learn(self, pairs: Array, y: Array) -> Self:
        check_number("balance_param", self.balance_param, low=0.0)
        check_number("sparsity_param", self.sparsity_param, low=0.0)
        points = pairs.reshape(-1, pairs.shape[2])
        prior = metric_matrix(self.prior, points, self.random_state, "prior", definite=True)
        difference = pairs[:, 0] - pairs[:, 1]
        pull = (difference.T * y) @ difference
        largest = largest_weight(pull, power(prior, 0.5))
        weight = float(self.balance_param)
        if weight >= largest and eigvalsh(pull)[0] < 0.0:
            warn(
                f"balance_param={weight:g} is too large for these pairs: there is no minimum from "
                f"{largest:.2g} on, so {0.99 * largest:.2g} is used. Lower balance_param.",
                ConvergenceWarning,
            )
            weight = 0.99 * largest
        K = np.linalg.inv(prior) + weight * pull
        A = sparse_metric(K, float(self.sparsity_param), max_iter=100, tol=1e-4)[0]
        return self._adopt(components_from_metric(A))


class SDML(PairLearner, _BaseSDML):
    """Sparse metric learning from pairs, by the solver of `seraph.classic.SDML`.

    Parameters
    ----------
    balance_param : float, default=0.5
        Weight of the pairs. If it leaves no minimum, the largest that does is used, with a
        warning.
    sparsity_param : float, default=0.01
        Weight of the entries off the diagonal.
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
    >>> from seraph.compat.metric_learn import SDML
    >>> pairs = [[[0.0, 1.0], [0.1, 5.0]], [[0.0, 1.0], [3.0, 1.2]],
    ...          [[3.0, 4.0], [3.2, 0.0]], [[0.1, 2.0], [2.9, 2.5]]]
    >>> learner = SDML(balance_param=0.02, sparsity_param=0.0).fit(pairs, [1, -1, 1, -1])
    >>> learner.predict(pairs).tolist()
    [1, -1, 1, -1]
    """


class SDML_Supervised(SamplingLearner, _BaseSDML):  # noqa: N801
    """Sparse metric learning from classes, by the solver of `seraph.classic.SDML`.

    Parameters
    ----------
    balance_param, sparsity_param, prior
        As for `SDML`.
    n_constraints : int, optional
        Number of pairs of either kind to sample; 20 times the number of classes squared if
        None.
    verbose, preprocessor
        As for `SDML`.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampled pairs, and of `prior` "random".

    Examples
    --------
    >>> from seraph.compat.metric_learn import SDML_Supervised
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SDML_Supervised(balance_param=1e-4, random_state=0).fit(X, y).transform(X).shape
    (150, 4)
    """

    def __init__(
        self,
        balance_param: float = 0.5,
        sparsity_param: float = 0.01,
        prior: Any = "identity",
        n_constraints: int | None = None,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(balance_param, sparsity_param, prior, verbose, preprocessor, random_state)
        self.n_constraints = n_constraints
