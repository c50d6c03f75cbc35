"""Covariance: the classical Mahalanobis distance, from points without any label."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._marks import PairLabels
from .._points import principal_directions
from .._utils._typing import Array
from ._learner import ClassicLearner
from ._points import center_points


class Covariance(ClassicLearner):
    r"""The classical Mahalanobis distance: the metric is the inverse covariance of X.

    .. math:: A = \mathrm{Cov}(X)^{-1}

    Labels and pairs are checked and not used. Under it the points vary equally in all directions,
    whatever the units of the features. Directions in which X does not vary are left out: points
    that differ only there have distance 0.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map ``P``; the metric is ``P'P``. The mapped points have unit variance in
        every direction, and no two of their features are correlated.

    References
    ----------
    P. C. Mahalanobis. On the generalised distance in statistics. Proceedings of the National
    Institute of Sciences of India 2, 1936.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import Covariance
    >>> X, _ = load_wine(return_X_y=True)
    >>> np.allclose(np.cov(Covariance().fit_transform(X).T), np.eye(13))
    True
    """

    _needs_labels = False

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        Z = center_points(points)
        # Each feature in units of its own size: whether it varies must not depend on the others.
        scale = np.abs(Z).max(axis=0)
        if not scale.any():
            raise ValueError(
                f"All {len(points)} rows of X are the same point: there is no covariance. Pass "
                "points that differ."
            )
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0)
        _, lengths, directions = principal_directions(Z * inverse)
        spread = lengths[:, np.newaxis] / np.sqrt(len(Z) - 1)
        return directions / spread * inverse, {}
