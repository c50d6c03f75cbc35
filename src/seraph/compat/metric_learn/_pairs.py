"""The bases of the learners of pairs: ITML, MMC and SDML."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from ..._marks import Marks
from ..._utils._typing import Array
from ._base_metric import MahalanobisMixin
from ._constraints import Constraints, default_number, known_codes, wrap_pairs
from ._guesses import _PairsClassifierMixin
from ._quiet import quiet


class PairsFromClasses(MahalanobisMixin):
    """Base: learners that know pairs of points, and sample them from classes."""

    _tuple_size = 2

    @abstractmethod
    def _learn(self, pairs: Array, y: Array, *bounds: Any) -> Self:
        """Learn from pairs of points."""

    def _sampled(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Return pairs of the points of the same and of different classes, and their labels."""
        points, y = self._points(X, y)
        n_constraints: int | None = vars(self)["n_constraints"]
        if n_constraints is None:
            n_constraints = default_number(y)
        constraints = Constraints(known_codes(y))
        with quiet(UserWarning, unless=vars(self)["verbose"]):
            chosen = constraints.positive_negative_pairs(
                n_constraints, random_state=vars(self)["random_state"]
            )
        return wrap_pairs(points, chosen)


class PairLearner(_PairsClassifierMixin, PairsFromClasses):
    """Base: the same, which are given the pairs, and find a threshold."""

    def _fit_pairs(self, pairs: Any, y: Any, calibration: Any, *bounds: Any) -> Self:
        if y is None:
            raise ValueError(
                "y must be passed: +1 for pairs that are alike and -1 for those that are not."
            )
        calibration = calibration or {}
        self._validate_calibration_params(**calibration)
        formed, labels = self._tuples(pairs, y, size=2)
        self._learn(formed, labels, *bounds)
        return self.calibrate_threshold(formed, y, **calibration)


def as_rows(pairs: Array, y: Array) -> dict[str, Any]:
    """Return arguments of `fit` of seraph's learners: every pair has two rows of its own."""
    rows = np.arange(2 * len(pairs)).reshape(-1, 2)
    points = pairs.reshape(-1, pairs.shape[2])
    return {"X": points, "marks": Marks(rows, y, rows=len(points))}
