"""The Euclidean distance as a learner that learns nothing: the baseline of every comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._marks import PairLabels
from .._utils._typing import Array
from ._learner import ClassicLearner


class Euclidean(ClassicLearner):
    """The Euclidean distance: the metric is the identity.

    Labels and pairs are checked and not used.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The identity.

    Examples
    --------
    >>> from seraph.classic import Euclidean
    >>> learner = Euclidean().fit([[0.0, 0.0], [3.0, 4.0]])
    >>> learner.pair_distance([[[0.0, 0.0], [3.0, 4.0]]])
    array([5.])
    """

    _needs_labels = False

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        return np.eye(points.shape[1]), {}
