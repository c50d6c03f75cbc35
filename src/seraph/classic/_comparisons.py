"""Learning from comparisons: triplets and quadruplets of rows, given or made from labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from .._marks import PairLabels
from .._pairs import class_pairs
from .._utils._typing import Array
from ._learner import ClassicLearner


class ComparisonLearner(ClassicLearner):
    """Base of the learners of comparisons.

    A subclass implements `_learn_comparisons`, and `_comparisons` for classes and pairs.
    """

    _uses_triplets = True
    _in_triplet: tuple[int, ...] = (0, 1, 2)  # where a triplet has the rows of a comparison

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        if len(labels.triplets):
            if labels.n_labeled:
                raise ValueError(
                    f"{type(self).__name__} learns from triplets, or makes comparisons from "
                    f"labeled pairs; got {len(labels.triplets)} triplets and {labels.n_labeled} "
                    "labeled pairs. Pass one of the two."
                )
            return self._learn_comparisons(points, labels.triplets[:, self._in_triplet])
        self._check_both_kinds(labels)
        return self._learn_comparisons(points, self._comparisons(points, labels))

    @abstractmethod
    def _comparisons(self, points: Array, labels: PairLabels) -> Array:
        """Make comparisons, by row numbers, from labels of both kinds."""

    @abstractmethod
    def _learn_comparisons(self, points: Array, rows: Array) -> tuple[Array, dict[str, Any]]:
        """Return the factor of the metric and the other fitted attributes."""


def smoothed_hinge(margins: Array, width: float) -> tuple[float, float, Array]:
    """Sum the hinge ``[u]_+`` of the margins, and its smoothed form; return also its slopes.

    A parabola replaces the kink within ``width / 2`` of 0: its slope ``u / width + 1/2`` rises
    from 0 to 1.
    """
    slopes = np.clip(margins / width + 0.5, 0.0, 1.0)
    exact = float(np.maximum(margins, 0.0).sum())
    return exact, float(np.vdot(slopes, margins + 0.5 * width * (1.0 - slopes))), slopes


def pairs_by_number(labels: PairLabels, numbers: Array, *, similar: bool) -> Array:
    """Return some of the similar pairs, or of the dissimilar ones, by their numbers.

    Pairs that follow from classes come first, then the marked ones. Only those asked for are
    listed, so there may be millions of rows.
    """
    n_implied = labels.implied[0 if similar else 1]
    follows = numbers < n_implied
    pairs = np.empty((len(numbers), 2), dtype=np.intp)
    pairs[follows] = class_pairs(labels.codes, numbers[follows], similar=similar)
    pairs[~follows] = labels.pairs[labels.similar == similar][numbers[~follows] - n_implied]
    return pairs


def nearest_by_class(
    X: Array, codes: Array, n_alike: int, n_unlike: int
) -> Iterator[tuple[int, Array, Array, Array]]:
    """Yield each class, its rows, and each row's nearest rows of its own and of other classes.

    Rows with a negative code are left out. Where there are fewer rows than asked for, all are
    neighbors.
    """
    known = codes >= 0
    for code in np.unique(codes[known]):
        rows, others = np.flatnonzero(codes == code), np.flatnonzero(known & (codes != code))
        alike = unlike = np.empty((len(rows), 0), dtype=np.intp)
        if k := min(n_alike, len(rows) - 1):
            nearest = NearestNeighbors(n_neighbors=k).fit(X[rows])
            alike = rows[nearest.kneighbors(return_distance=False)]
        if k := min(n_unlike, len(others)):
            nearest = NearestNeighbors(n_neighbors=k).fit(X[others])
            unlike = others[nearest.kneighbors(X[rows], return_distance=False)]
        yield int(code), rows, alike, unlike
