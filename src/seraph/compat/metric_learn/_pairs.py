"""The bases of learners that are given pairs, and of those that make tuples from classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self
from warnings import catch_warnings

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags

from ..._marks import Marks
from ..._utils._typing import Array
from ._base_metric import MahalanobisMixin
from ._guesses import _PairsClassifierMixin
from ._keywords import renamed
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

        Returns
        -------
        self
            The fitted learner.
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


class ClassLearner(TransformerMixin, MahalanobisMixin):
    """Base: learners of points, the classes of some of which are known."""

    _learn_classes: Callable[..., Self]  # from points, and their classes as the user names them

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples,) with a preprocessor
            Points or indicators.
        y : array-like of shape (n_samples,)
            Class of each point; negative where it is unknown.

        Returns
        -------
        self
            The fitted learner.
        """
        return self._learn_classes(*self._points(X, y))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class SamplingLearner(ClassLearner):
    """Base: learners that sample pairs of points of one class, and pairs of two."""

    _learn: Callable[..., Self]
    n_constraints: int | None
    verbose: bool
    random_state: Any

    def _set_number(self, n_constraints: Any, num_constraints: Any) -> None:
        """Set how many pairs of either kind to sample, by its new or its old name."""
        self.n_constraints, self.num_constraints = renamed(
            "num_constraints", num_constraints, "n_constraints", n_constraints
        )

    def _learn_classes(self, points: Array, y: Array, *more: Any) -> Self:
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
