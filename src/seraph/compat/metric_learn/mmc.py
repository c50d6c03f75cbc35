"""Mahalanobis metric for clustering, from pairs and from classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ... import classic
from ..._utils._typing import Array
from ..._utils._validation import check_number
from ._base_metric import MahalanobisMixin
from ._pairs import PairLearner, SamplingLearner, marks_of
from ._starts import components_from_metric, metric_matrix

__all__ = ["MMC", "MMC_Supervised"]


class _BaseMMC(MahalanobisMixin):
    def __init__(
        self,
        max_iter: int = 100,
        max_proj: int = 10000,
        tol: float = 1e-3,
        init: Any = "identity",
        diagonal: bool = False,
        diagonal_c: float = 1.0,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.max_iter = max_iter
        self.max_proj = max_proj
        self.tol = tol
        self.init = init
        self.diagonal = diagonal
        self.diagonal_c = diagonal_c
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

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
        learner = classic.GDM(
            diagonal=self.diagonal, n_constraints=None, max_iter=self.max_iter, tol=self.tol
        )
        with self._quietly():
            learner.fit(points, marks=marks_of(y))
        # The sum of the squared distances of alike pairs: in the full form, metric-learn bounds it
        # by a hundredth of that under `init`; in the diagonal form, this is its best value.
        bound = np.vdot(alike @ first, alike) / 100.0
        total = float(self.diagonal_c) / 2.0 if self.diagonal else bound
        A = learner.get_mahalanobis_matrix()
        A *= total / np.vdot(alike @ A, alike)
        return self._adopt(
            components_from_metric(A),
            A_=A,
            n_iter_=learner.n_iter_,
            converged_=learner.converged_,
        )


class MMC(PairLearner, _BaseMMC):
    """Mahalanobis metric for clustering from pairs, by `seraph.classic.GDM`.

    Parameters
    ----------
    max_iter : int, default=100
        Maximum number of iterations.
    max_proj : int, default=10000
        Setting of metric-learn's projections; not used.
    tol : float, default=0.001
        Tolerance of the solver, on the duality gap.
    init : {"identity", "covariance", "random"} or ndarray, default="identity"
        Sets the scale of the metric: the squared distances of alike pairs add up to a hundredth
        of those under this matrix. Not used if `diagonal`.
    diagonal : bool, default=False
        Whether to learn one weight per feature.
    diagonal_c : float, default=1.0
        Scale of the metric if it is diagonal.
    verbose : bool, default=False
        Whether to warn if the solver stops early; nothing is printed.
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.
    random_state : int, RandomState instance or None, default=None
        Seed of `init` "random".

    Attributes
    ----------
    A_ : ndarray of shape (n_features, n_features)
        The matrix of the learned squared distance.
    converged_ : bool
        Whether the gap is within `tol`.

    Examples
    --------
    >>> from seraph.compat.metric_learn import MMC
    >>> pairs = [[[0.0, 1.0], [0.1, 5.0]], [[0.0, 1.0], [3.0, 1.2]],
    ...          [[3.0, 4.0], [3.2, 0.0]], [[0.1, 2.0], [2.9, 2.5]]]
    >>> learner = MMC().fit(pairs, [1, -1, 1, -1])
    >>> learner.predict(pairs).tolist()
    [1, -1, 1, -1]
    """


class MMC_Supervised(SamplingLearner, _BaseMMC):  # noqa: N801
    """Mahalanobis metric for clustering from classes, by `seraph.classic.GDM`.

    Parameters
    ----------
    max_iter, max_proj, tol
        As for `MMC`.
    n_constraints : int, optional
        Number of pairs of either kind to sample; 20 times the number of classes squared if
        None.
    init, diagonal, diagonal_c, verbose, preprocessor
        As for `MMC`.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampled pairs, and of `init` "random".

    Examples
    --------
    >>> from seraph.compat.metric_learn import MMC_Supervised
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MMC_Supervised(random_state=0).fit(X, y).transform(X).shape
    (150, 4)
    """

    def __init__(
        self,
        max_iter: int = 100,
        max_proj: int = 10000,
        tol: float = 1e-6,
        n_constraints: int | None = None,
        init: Any = "identity",
        diagonal: bool = False,
        diagonal_c: float = 1.0,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        settings = (max_iter, max_proj, tol, init, diagonal, diagonal_c, verbose)
        super().__init__(*settings, preprocessor, random_state)
        self.n_constraints = n_constraints
