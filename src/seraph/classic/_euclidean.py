"""The Euclidean distance as a learner that learns nothing: what every other must beat."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from .._base import MahalanobisLearner
from .._pairs import PairLabels


class Euclidean(MahalanobisLearner):
    """The Euclidean distance: the metric is the identity.

    It takes what the learners take, so that a comparison needs no special case. Labels and
    pairs are optional; they are checked, and not used.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The identity.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Examples
    --------
    >>> from seraph.classic import Euclidean
    >>> learner = Euclidean().fit([[0.0, 0.0], [3.0, 4.0]])
    >>> learner.pair_distance([[[0.0, 0.0], [3.0, 4.0]]])
    array([5.])
    """

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
    ) -> Self:
        """Check the input, and take the identity.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,), optional
            Class labels.
        pairs : array-like of int of shape (n_pairs, 2), optional
            Row numbers of marked pairs.
        pair_labels : array-like of shape (n_pairs,), optional
            +1 or True for pairs that are alike, -1 or False for those that are not.

        Returns
        -------
        Euclidean
            The fitted learner.
        """
        points = self._check_points(X)
        PairLabels.make(len(points), y, pairs, pair_labels, required=False)
        return self._learned(X, np.eye(points.shape[1], dtype=points.dtype))
