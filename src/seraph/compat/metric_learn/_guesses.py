"""What learners take and guess: points and classes, pairs, triplets or quadruplets."""

from __future__ import annotations

from typing import Any, Self
from warnings import catch_warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, TransformerMixin
from sklearn.metrics import roc_auc_score
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..._marks import Marks
from ..._utils._typing import Array
from ..._utils._validation import check_choice, check_number
from ._base_metric import BaseMetricLearner, MahalanobisMixin
from ._starts import SCIPY_TOL, first_map
from .constraints import Constraints, known_codes, wrap_pairs


class PointLearner(TransformerMixin, MahalanobisMixin):
    """Base: learners of points and their labels."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric."""
        return self._learn(*self._prepared(X, y))

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return what to learn from: checked points and their labels."""
        return self._points(X, y)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class LabeledLearner(PointLearner):
    """Base: learners of points that all have a class; -1 is one like any other."""

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return points, and their classes numbered from 0."""
        points, y = self._points(X, y)
        check_classification_targets(y)
        return points, np.unique(y, return_inverse=True)[1].reshape(-1)


class SamplingLearner(PointLearner):
    """Base: learners that sample pairs of points of one class, and pairs of two."""

    n_constraints: int | None
    verbose: bool
    random_state: Any

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return sampled pairs of points, and their labels."""
        points, y = self._points(X, y)
        return wrap_pairs(points, self._sampled(y))

    def _sampled(self, y: Array, *, same_length: bool = False) -> tuple[Array, ...]:
        """Return the rows of sampled pairs, as `Constraints` does."""
        n = 20 * len(np.unique(y)) ** 2 if self.n_constraints is None else self.n_constraints
        with catch_warnings(action=None if self.verbose else "ignore", category=UserWarning):
            return Constraints(known_codes(y)).positive_negative_pairs(
                n, same_length=same_length, random_state=self.random_state
            )


class Descent(PointLearner):
    """Base: learners by L-BFGS from a map, of numbered classes or of a numeric target."""

    _solver: Any  # of `seraph.classic`

    def _learn(self, points: Array, y: Array) -> Self:
        classes = y if isinstance(self, LabeledLearner) else None
        first = first_map(self.init, points, classes, self.n_components, self.random_state)
        tol = SCIPY_TOL if self.tol is None else self.tol
        settings = self._settings("max_iter", n_components=len(first), init=first, tol=tol)
        return self._adopt_fit(self._solver(**settings), points, y)


class _PairsClassifierMixin(ClassifierMixin, BaseMetricLearner):
    """What learners of pairs can do: tell alike from different, by a threshold."""

    classes_ = np.array([-1, 1])
    _tuple_size = 2

    def predict(self, pairs: ArrayLike) -> Array:
        """Guess which pairs are alike: those no farther apart than the threshold."""
        check_is_fitted(self, "components_")
        if "threshold_" not in vars(self):
            raise AttributeError(
                f"This {type(self).__name__} has no threshold yet: call calibrate_threshold or "
                "set_threshold first."
            )
        return np.where(-self.decision_function(pairs) <= self.threshold_, 1, -1)

    def decision_function(self, pairs: ArrayLike) -> Array:
        """Return the negative distance of each pair."""
        return self.pair_score(pairs)

    def score(self, pairs: ArrayLike, y: ArrayLike) -> float:
        """Return how well distances tell alike pairs from others: the area under the ROC curve."""
        return float(roc_auc_score(y, self.decision_function(pairs)))

    def set_threshold(self, threshold: float) -> Self:
        """Set the distance up to which `predict` calls a pair alike."""
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
        """Choose the threshold of `predict` that serves best on some labeled pairs."""
        check_is_fitted(self, "components_")
        self._validate_calibration_params(strategy, min_rate, beta)
        pairs, y = self._tuples(pairs_valid, y_valid, size=2, reset=False)
        distances, place = np.unique(-self.decision_function(pairs), return_inverse=True)
        # Of the pairs up to no, the first, the second distance: how many are alike, how many not.
        alike, others = (
            np.append(0, np.cumsum(np.bincount(place[y == sign], minlength=len(distances))))
            for sign in (1, -1)
        )
        tpr = alike / max(1, alike[-1])
        tnr = (others[-1] - others) / max(1, others[-1])
        worth = {
            "accuracy": alike - others,
            "f_beta": alike / np.maximum(1.0, beta**2 * alike[-1] + alike + others),
            "max_tpr": np.where(tnr >= (min_rate or 0.0), tpr, -1.0),
            "max_tnr": np.where(tpr >= (min_rate or 0.0), tnr, -1.0),
        }[strategy]
        best = np.flatnonzero(worth == worth.max())
        # Of equals, metric-learn takes the largest threshold in two cases, and else the smallest.
        at = best[-1 if strategy in ("f_beta", "max_tnr") else 0]
        self.threshold_ = float(distances[at - 1] if at else distances[0] - 1.0)
        return self

    @staticmethod
    def _validate_calibration_params(
        strategy: str = "accuracy", min_rate: float | None = None, beta: float = 1.0
    ) -> None:
        check_choice("strategy", strategy, ("accuracy", "f_beta", "max_tpr", "max_tnr"))
        if strategy in ("max_tpr", "max_tnr"):
            check_number("min_rate", min_rate, low=0.0, high=1.0)
        if strategy == "f_beta":
            check_number("beta", beta)


class PairLearner(_PairsClassifierMixin, MahalanobisMixin):
    """Base: learners that are given pairs, and find a threshold."""

    _example = """
>>> pairs = [[[0.0, 1.0], [0.1, 5.0]], [[0.0, 1.0], [3.0, 1.2]],
...          [[3.0, 4.0], [3.2, 0.0]], [[0.1, 2.0], [2.9, 2.5]]]
>>> {name}({arguments}).fit(pairs, [1, -1, 1, -1]).predict(pairs).tolist()
[1, -1, 1, -1]"""

    def fit(self, pairs: Any, y: Any, calibration_params: Any = None) -> Self:
        """Learn the metric."""
        return self._fit_pairs(pairs, y, calibration_params)

    def _fit_pairs(self, pairs: Any, y: Any, calibration_params: Any, *more: Any) -> Self:
        if y is None:
            raise ValueError(
                "y must be passed: +1 for pairs that are alike and -1 for those that are not."
            )
        calibration = calibration_params or {}
        self._validate_calibration_params(**calibration)
        formed, labels = self._tuples(pairs, y, size=2)
        return self._learn(formed, labels, *more).calibrate_threshold(formed, y, **calibration)


class _ComparisonMixin(ClassifierMixin, BaseMetricLearner):
    """What learners of comparisons can do: tell which of two distances is the smaller."""

    classes_ = np.array([-1, 1])
    _tuple_size: int
    _far: tuple[int, int]  # which two points should be farther apart than the first two
    _equal: int  # what to predict where the distances are equal

    def predict(self, tuples: ArrayLike) -> Array:
        """Guess whether the first two points are closer than the others."""
        margins = self.decision_function(tuples)
        return np.where(margins == 0.0, self._equal, np.sign(margins)).astype(int)

    def decision_function(self, tuples: ArrayLike) -> Array:
        """Return how much farther apart the other points are than the first two."""
        check_is_fitted(self, "components_")
        points = self._tuples(tuples, size=self._tuple_size, reset=False)
        return self.pair_score(points[:, :2]) - self.pair_score(points[:, self._far])

    def score(self, tuples: ArrayLike) -> float:
        """Return the share of tuples whose first two points are closer than the others."""
        return float(np.mean(self.predict(tuples)) / 2.0 + 0.5)


class _TripletsClassifierMixin(_ComparisonMixin):
    """What learners of triplets can do: the first point is closer to the second."""

    _tuple_size, _far, _equal = 3, (0, 2), -1


class _QuadrupletsClassifierMixin(_ComparisonMixin):
    """What learners of quadruplets can do: the first two points are closer than the last two."""

    _tuple_size, _far, _equal = 4, (2, 3), 0


def marks_of(y: Array) -> Marks:
    """Return labels of pairs as marks of the rows (0, 1), (2, 3), and so on."""
    n = 2 * len(y)
    return Marks(np.arange(n).reshape(-1, 2), y, rows=n)
