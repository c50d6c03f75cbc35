"""The bases of learners of pairs, and of those that sample pairs from classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self
from warnings import catch_warnings

import numpy as np

from ..._marks import Marks
from ..._utils._typing import Array
from ._base_metric import MahalanobisMixin, PointLearner
from ._guesses import _PairsClassifierMixin
from .constraints import Constraints, known_codes, wrap_pairs


class PairLearner(_PairsClassifierMixin, MahalanobisMixin):
    """Base: learners that are given pairs, and find a threshold."""

    _learn: Callable[..., Any]  # from pairs of points, their labels, and more

    def fit(self, pairs: Any, y: Any, calibration_params: Any = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2)
            Pairs of points, or of indicators.
        y : array-like of shape (n_pairs,)
            +1 for pairs that are alike, -1 for the others.
        calibration_params : dict, optional
            Arguments of `calibrate_threshold`, which is called on the same pairs.
        """
        return self._fit_pairs(pairs, y, calibration_params)

    def _fit_pairs(self, pairs: Any, y: Any, calibration_params: Any, *more: Any) -> Self:
        if y is None:
            raise ValueError(
                "y must be passed: +1 for pairs that are alike and -1 for those that are not."
            )
        calibration = calibration_params or {}
        self._validate_calibration_params(**calibration)
        formed, labels = self._tuples(pairs, y, size=2)
        self._learn(formed, labels, *more)
        return self.calibrate_threshold(formed, y, **calibration)


class SamplingLearner(PointLearner):
    """Base: learners that sample pairs of points of one class, and pairs of two."""

    _learn: Callable[..., Self]
    n_constraints: int | None
    verbose: bool
    random_state: Any

    def _learn_labels(self, points: Array, y: Array, *more: Any) -> Self:
        return self._learn(*wrap_pairs(points, self._sampled(y)), *more)

    def _sampled(self, y: Array, *, same_length: bool = False) -> tuple[Array, ...]:
        """Return the rows of sampled pairs, as `Constraints` does."""
        n = 20 * len(np.unique(y)) ** 2 if self.n_constraints is None else self.n_constraints
        with catch_warnings(action=None if self.verbose else "ignore", category=UserWarning):
            return Constraints(known_codes(y)).positive_negative_pairs(
                n, same_length=same_length, random_state=self.random_state
            )


def marks_of(y: Array) -> Marks:
    """Return labels of pairs as marks of the rows (0, 1), (2, 3), and so on."""
    n = 2 * len(y)
    return Marks(np.arange(n).reshape(-1, 2), y, rows=n)
