"""Learn one weight for each block of features: what a hundred answers can tell about columns."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit

from .._base import MahalanobisLearner
from .._marks import Marks, PairLabels
from .._sweep import one_blas_thread
from .._utils._typing import Array


class ColumnWeights(MahalanobisLearner):
    r"""Weigh blocks of features by logistic regression on marked pairs.

    With :math:`D_b` the squared distance within block b, the squared distance is
    :math:`\sum_b w_b D_b`, and a pair is similar with probability
    :math:`\sigma(\theta - \sum_b w_b D_b)`. The weights minimize

    .. math:: -\sum \ln p(y) + \tfrac{\rho}{2} \sum_b (w_b - c)^2 + \epsilon c^2,
              \quad w \ge 0,

    over w, c and the offset :math:`\theta`: they shrink toward a common weight, which is the
    Euclidean distance. The problem is convex.

    Parameters
    ----------
    block_of : ndarray of int of shape (n_features,)
        The block of each feature, from 0.
    shrink : float
        The strength :math:`\rho`.
    """

    def __init__(self, block_of: Array, shrink: float = 0.3) -> None:
        self.block_of = block_of
        self.shrink = shrink

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,  # noqa: ARG002 (as every learner has it)
        *,
        marks: Marks | None = None,
    ) -> Self:
        """Learn the weights from marked pairs of rows of `X`; `y` is not used."""
        points = self._check_points(X)
        labels = PairLabels.of(X, len(points), None, marks)
        gaps = block_gaps(points, labels.pairs, self.block_of)
        signs = np.where(labels.similar, 1.0, -1.0)
        with one_blas_thread():
            weights, offset = _fitted(gaps, signs, self.shrink)
        components = np.diag(np.sqrt(weights)[self.block_of])
        return self._learned(X, components, weights_=weights, offset_=offset)


def block_gaps(points: Array, pairs: Array, block_of: Array) -> Array:
    """Return the squared distance of each pair within each block, of shape (pairs, blocks).

    Examples
    --------
    >>> X = np.array([[0.0, 0.0, 1.0], [3.0, 4.0, 2.0]])
    >>> block_gaps(X, np.array([[0, 1]]), np.array([0, 0, 1]))
    array([[25.,  1.]])
    """
    squared = (points[pairs[:, 0]].astype(np.float64) - points[pairs[:, 1]]) ** 2
    starts = np.flatnonzero(np.diff(block_of, prepend=-1))
    return np.add.reduceat(squared, starts, axis=1)


# Keeps the problem bounded where pairs can be told apart without error.
_HARDLY_ANY = 1e-3


def objective(x: Array, gaps: Array, signs: Array, shrink: float) -> tuple[float, Array]:
    """Return the value and the gradient at ``x = (w, c, offset)``."""
    weights, common, offset = x[:-2], x[-2], x[-1]
    margins = signs * (offset - gaps @ weights)
    slopes = -signs * expit(-margins)
    off = weights - common
    value = np.logaddexp(0.0, -margins).sum()
    value += 0.5 * shrink * (off @ off) + _HARDLY_ANY * common**2
    return float(value), np.concatenate(
        [
            shrink * off - slopes @ gaps,
            [2.0 * _HARDLY_ANY * common - shrink * off.sum(), slopes.sum()],
        ]
    )


def _fitted(gaps: Array, signs: Array, shrink: float) -> tuple[Array, float]:
    m = gaps.shape[1]
    start = np.concatenate([np.full(m + 1, 2.0 / m), [2.0]])
    found = minimize(
        objective,
        start,
        args=(gaps, signs, shrink),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * m + [(None, None)] * 2,
        options={"maxiter": 1000},
    )
    return np.asarray(found.x[:m]), float(found.x[-1])
