"""What learners of points and of pairs do before they learn: check, number or sample labels."""

from __future__ import annotations

from typing import Any, Self
from warnings import catch_warnings

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets

from ..._marks import Marks
from ..._utils._typing import Array
from ._starts import SCIPY_TOL, first_map
from .base_metric import MahalanobisMixin, _PairsClassifierMixin
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


def marks_of(y: Array) -> Marks:
    """Return labels of pairs as marks of the rows (0, 1), (2, 3), and so on."""
    n = 2 * len(y)
    return Marks(np.arange(n).reshape(-1, 2), y, rows=n)
