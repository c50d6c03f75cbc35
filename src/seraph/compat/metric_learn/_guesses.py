"""What learners of tuples predict: which pairs are alike, which of two distances is smaller."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_is_fitted

from ..._utils._typing import Array
from ..._utils._validation import check_choice, check_number
from ...metrics import choose_threshold
from ._base_metric import BaseMetricLearner

_STRATEGIES = ("accuracy", "f_beta", "max_tpr", "max_tnr")


class _PairsClassifierMixin(ClassifierMixin, BaseMetricLearner):
    """What learners of pairs can do: tell alike from different, by a threshold."""

    classes_ = np.array([-1, 1])
    _tuple_size = 2

    def predict(self, pairs: ArrayLike) -> Array:
        """Guess which pairs are alike: those no farther apart than the threshold.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2)
            Pairs of points, or of indicators for the preprocessor.
        """
        check_is_fitted(self, "components_")
        if "threshold_" not in vars(self):
            raise AttributeError(
                f"This {type(self).__name__} has no threshold yet: call calibrate_threshold or "
                "set_threshold first."
            )
        return np.where(-self.decision_function(pairs) <= self.threshold_, 1, -1)

    def decision_function(self, pairs: ArrayLike) -> Array:
        """Return the negative distance of each pair.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2)
            Pairs of points, or of indicators for the preprocessor.
        """
        return self.pair_score(pairs)

    def score(self, pairs: ArrayLike, y: ArrayLike) -> float:
        """Return how well distances tell alike pairs from others: the area under the ROC curve.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2)
            Pairs of points, or of indicators for the preprocessor.
        y : array-like of shape (n_pairs,)
            +1 for pairs that are alike, -1 for others.
        """
        return float(roc_auc_score(y, self.decision_function(pairs)))

    def set_threshold(self, threshold: float) -> Self:
        """Set the distance up to which `predict` calls a pair alike.

        Parameters
        ----------
        threshold : float
            The distance.
        """
        check_is_fitted(self, "components_")
        check_number("threshold", threshold)
        self.threshold_ = float(threshold)
        return self

    def calibrate_threshold(
        self,
        pairs_valid: ArrayLike,
        y_valid: ArrayLike,
        strategy: str = "accuracy",
        min_rate: float | None = None,
        beta: float = 1.0,
    ) -> Self:
        """Choose the threshold of `predict` that serves best on some labeled pairs.

        Parameters
        ----------
        pairs_valid : array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2)
            Pairs of points, or of indicators for the preprocessor.
        y_valid : array-like of shape (n_pairs,)
            +1 for pairs that are alike, -1 for others.
        strategy : {"accuracy", "f_beta", "max_tpr", "max_tnr"}, default="accuracy"
            What to maximize: the share of right guesses; the F-score; the true positive rate
            while the true negative rate is at least `min_rate`; or the other way round.
        min_rate : float, optional
            Lowest rate, from 0 to 1, for "max_tpr" and "max_tnr".
        beta : float, default=1.0
            Weight of recall in "f_beta".
        """
        check_is_fitted(self, "components_")
        self._validate_calibration_params(strategy, min_rate, beta)
        pairs, y = self._tuples(pairs_valid, y_valid, size=2, reset=False)
        distances = -self.decision_function(pairs)
        self.threshold_ = choose_threshold(
            distances, y == 1, None, strategy, min_rate, beta=beta, between=False
        )
        return self

    @staticmethod
    def _validate_calibration_params(
        strategy: str = "accuracy", min_rate: float | None = None, beta: float = 1.0
    ) -> None:
        check_choice("strategy", strategy, _STRATEGIES)
        if strategy in ("max_tpr", "max_tnr"):
            check_number("min_rate", min_rate, low=0.0, high=1.0)
        if strategy == "f_beta":
            check_number("beta", beta)


class _ComparisonMixin(ClassifierMixin, BaseMetricLearner):
    """What learners of comparisons can do: tell which of two distances is the smaller."""

    classes_ = np.array([-1, 1])
    _tuple_size: int
    _far: tuple[int, int]  # which two points should be farther apart than the first two
    _equal: int  # what to predict where the distances are equal

    def predict(self, tuples: ArrayLike) -> Array:
        """Guess whether the first two points are closer than the others.

        Parameters
        ----------
        tuples : array-like of shape (n, size, n_features) or (n, size)
            Triplets or quadruplets of points, or of indicators for the preprocessor.
        """
        margins = self.decision_function(tuples)
        return np.where(margins == 0.0, self._equal, np.sign(margins)).astype(int)

    def decision_function(self, tuples: ArrayLike) -> Array:
        """Return how much farther apart the other points are than the first two.

        Parameters
        ----------
        tuples : array-like of shape (n, size, n_features) or (n, size)
            Triplets or quadruplets of points, or of indicators for the preprocessor.
        """
        check_is_fitted(self, "components_")
        points = self._tuples(tuples, size=self._tuple_size, reset=False)
        return self.pair_score(points[:, :2]) - self.pair_score(points[:, self._far])

    def score(self, tuples: ArrayLike) -> float:
        """Return the share of tuples whose first two points are closer than the others.

        Parameters
        ----------
        tuples : array-like of shape (n, size, n_features) or (n, size)
            Triplets or quadruplets of points, or of indicators for the preprocessor.
        """
        return float(np.mean(self.predict(tuples)) / 2.0 + 0.5)


class _TripletsClassifierMixin(_ComparisonMixin):
    """What learners of triplets can do: the first point is closer to the second."""

    _tuple_size, _far, _equal = 3, (0, 2), -1


class _QuadrupletsClassifierMixin(_ComparisonMixin):
    """What learners of quadruplets can do: the first two points are closer than the last two."""

    _tuple_size, _far, _equal = 4, (2, 3), 0
