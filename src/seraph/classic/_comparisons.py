"""Learning from comparisons: triplets and quadruplets of rows, given or made from labels."""

from __future__ import annotations

import inspect
import textwrap
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.neighbors import NearestNeighbors

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
        with one_blas_thread(), np.errstate(under="ignore"):
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


def pairs_by_number(labels: PairLabels, numbers: Array, *, similar: bool) -> Array:
    """Return some of the similar pairs, or of the dissimilar ones, by their numbers.

    Pairs that follow from classes come first, then the marked ones. None are listed but those
    asked for, so millions of rows do.

    Examples
    --------
    >>> labels = PairLabels.make(4, y=[0, 1, 0, -1], pairs=[[0, 3]], pair_labels=[1])
    >>> pairs_by_number(labels, np.arange(labels.n_similar), similar=True).tolist()
    [[0, 2], [0, 3]]
    >>> pairs_by_number(labels, np.array([1]), similar=False).tolist()
    [[2, 1]]
    """
    rows = labels.rows_by_class
    place = np.arange(len(rows))
    after_class = np.searchsorted(labels.codes[rows], labels.codes[rows], side="right")
    # A row's partners of a kind are neighbors in this order.
    first = place + 1 if similar else after_class
    ends = np.cumsum((after_class if similar else len(rows)) - first)
    n_implied = int(ends[-1]) if len(ends) else 0
    follows = numbers < n_implied
    left = np.searchsorted(ends, numbers[follows], side="right")
    right = (after_class[left] if similar else len(rows)) - (ends[left] - numbers[follows])
    pairs = np.empty((len(numbers), 2), dtype=np.intp)
    pairs[follows] = np.column_stack([rows[left], rows[right]])
    pairs[~follows] = labels.pairs[labels.similar == similar][numbers[~follows] - n_implied]
    return pairs


def nearest_by_class(
    X: Array, codes: Array, n_alike: int, n_unlike: int
) -> Iterator[tuple[int, Array, Array, Array]]:
    """Yield each class, its rows, and each row's nearest rows of its own and of other classes.

    Rows with a negative code are left out. Where there are fewer rows than asked for, all are
    neighbors.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> for code, rows, alike, unlike in nearest_by_class(X, np.array([0, 0, 0, 1]), 1, 1):
    ...     print(code, rows.tolist(), alike.tolist(), unlike.tolist())
    0 [0, 1, 2] [[1], [0], [1]] [[3], [3], [3]]
    1 [3] [[]] [[2]]
    """
    known = codes >= 0
    for code in np.unique(codes[known]):
        own, others = np.flatnonzero(codes == code), np.flatnonzero(known & (codes != code))
        alike = unlike = np.empty((len(own), 0), dtype=np.intp)
        if k := min(n_alike, len(own) - 1):
            nearest = NearestNeighbors(n_neighbors=k).fit(X[own])
            alike = own[nearest.kneighbors(return_distance=False)]
        if k := min(n_unlike, len(others)):
            nearest = NearestNeighbors(n_neighbors=k).fit(X[others])
            unlike = others[nearest.kneighbors(X[own], return_distance=False)]
        yield int(code), own, alike, unlike


Fit = TypeVar("Fit", bound=Callable[..., Any])


def learns_from(name: str, meaning: str, length: int) -> Callable[[Fit], Fit]:
    """Give a `fit` that takes comparisons too the docstring of all others, and a parameter."""
    # Some Pythons keep the indentation of a docstring, others do not.
    document = inspect.cleandoc(ClassicLearner.fit.__doc__ or "")
    before, returns, after = document.rpartition("Returns\n---")
    text = textwrap.wrap(
        f"{meaning} Labels and pairs cannot be passed with them.",
        92,
        initial_indent=4 * " ",
        subsequent_indent=4 * " ",
    )
    parameter = [f"{name} : array-like of shape (n_{name}, {length}), optional", *text]

    def decorate(fit: Fit) -> Fit:
        summary = before.replace("metric from class", f"metric from {name}, class", 1)
        fit.__doc__ = summary + "\n".join(parameter) + "\n\n" + returns + after
        return fit

    return decorate
