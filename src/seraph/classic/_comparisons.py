"""Learning from comparisons: triplets and quadruplets of rows, given or made from labels."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._base import Blend
from .._pairs import PairLabels, RowNames
from .._sweep import PointsInMemory, in_memory, one_blas_thread
from .._typing import Array
from ._learner import ClassicLearner


class ComparisonLearner(ClassicLearner):
    """Base of the learners of comparisons.

    A subclass implements `_learn_comparisons`, and `_comparisons` for classes and pairs.
    """

    def _fit_comparisons(
        self,
        X: ArrayLike,
        y: ArrayLike | None,
        pairs: ArrayLike | None,
        pair_labels: ArrayLike | None,
        ids: ArrayLike | None,
        given: tuple[str, ArrayLike | None, int],
    ) -> Self:
        """Fit from comparisons; `given` has their name, the comparisons and their length."""
        name, comparisons, length = given
        if comparisons is None:
            return super().fit(X, y, pairs=pairs, pair_labels=pair_labels, ids=ids)
        for other, value in (("y", y), ("pairs", pairs), ("pair_labels", pair_labels)):
            if value is not None:
                raise ValueError(
                    f"{other} was passed together with {name}: pass either {name}, or class "
                    "labels and pairs to make them from."
                )
        self._check_parameters()
        points = self._check_points(X)
        blend = Blend.of(self, points.shape[1])
        names = RowNames.of(X, ids, comparisons)
        found = names.rows(comparisons, name, length)[0]
        rows = _row_numbers(name, found, length, len(points))
        with one_blas_thread():
            components, attributes = self._learn_comparisons(points, rows)
            attributes["n_absent_pairs_"] = 0
            coordinates = None if blend.is_off else PointsInMemory(points).coordinates()
            return self._learned(
                X, components.astype(points.dtype), blend, coordinates, **attributes
            )

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        if labels.n_similar == 0 or labels.n_dissimilar == 0:
            raise ValueError(
                f"{type(self).__name__} needs similar and dissimilar pairs to compare; got "
                f"{labels.n_similar} similar and {labels.n_dissimilar} dissimilar pair(s). Label "
                "at least two rows of one class and one of another."
            )
        return self._learn_comparisons(points, self._comparisons(points, labels))

    @abstractmethod
    def _comparisons(self, points: Array, labels: PairLabels) -> Array:
        """Make comparisons, by row numbers, from labels of both kinds."""

    @abstractmethod
    def _learn_comparisons(self, points: Array, rows: Array) -> tuple[Array, dict[str, Any]]:
        """Return the factor of the metric and the other fitted attributes."""


def _row_numbers(name: str, comparisons: ArrayLike, length: int, n: int) -> Array:
    rows = np.asarray(in_memory(comparisons))
    if rows.ndim != 2 or rows.shape[1] != length or len(rows) == 0:
        raise ValueError(
            f"{name} must have shape (n_{name}, {length}), {length} row numbers of X each, and "
            f"hold at least one; got shape {rows.shape}."
        )
    if rows.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold row numbers of X, whole numbers; got {rows.dtype}.")
    outside = ((rows < 0) | (rows >= n)).any(axis=1)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        raise ValueError(
            f"{name}[{at}] is {tuple(rows[at].tolist())}, but X has rows 0 to {n - 1}."
        )
    return rows.astype(np.intp)


def listed_pairs(labels: PairLabels) -> tuple[Array, Array]:
    """List the similar and the dissimilar pairs, those that follow from classes included.

    Examples
    --------
    >>> similar, dissimilar = listed_pairs(PairLabels.make(3, y=[0, 0, 1]))
    >>> similar.tolist(), dissimilar.tolist()
    ([[0, 1]], [[0, 2], [1, 2]])
    """
    rows = np.flatnonzero(labels.codes >= 0)
    i, j = np.triu_indices(len(rows), 1)
    implied = np.column_stack([rows[i], rows[j]])
    alike = labels.codes[implied[:, 0]] == labels.codes[implied[:, 1]]
    pairs = np.vstack([implied, labels.pairs])
    similar = np.concatenate([alike, labels.similar])
    return pairs[similar], pairs[~similar]
