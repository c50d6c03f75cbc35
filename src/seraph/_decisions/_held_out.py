"""Distances of labeled pairs whose points the metric has not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, get_tags

from .._marks import PairLabels
from .._utils._folds import choose_shared_points
from .._utils._typing import Array
from ._folds import assign_folds

# Larger numbers of pairs of points of known class are sampled.
_MOST_PAIRS = 20_000
# Pairs of each kind that a choice needs.
_FEWEST = 2


@dataclass(frozen=True)
class HeldOut:
    """Distances of labeled pairs, to choose a threshold by and to judge the choice.

    Parameters
    ----------
    distances : ndarray of shape (k,)
        Distances.
    similar : ndarray of bool of shape (k,)
        Which pairs are similar.
    rows : ndarray of int of shape (k, 2)
        Their rows.
    fold : ndarray of int of shape (k,)
        The fold of each pair; no point is in two folds.
    counts : ndarray of shape (k,)
        How much each of them counts, as the user weighted the marks.
    """

    distances: Array
    similar: Array
    rows: Array
    fold: Array
    counts: Array

    @classmethod
    def of_marks(
        cls, distances: Array, likeness: Array, weights: Array, rows: Array, fold: Array
    ) -> HeldOut:
        """Count a mark of likeness q as a similar pair of weight q and a dissimilar one of 1 - q.

        Examples
        --------
        >>> rows, zeros = np.array([[0, 1], [2, 3]]), np.zeros(2, dtype=int)
        >>> d, q, w = np.array([1.0, 2.0]), np.array([1.0, 0.25]), np.array([1.0, 2.0])
        >>> held = HeldOut.of_marks(d, q, w, rows, zeros)
        >>> held.distances, held.similar, held.counts
        (array([1., 2., 2.]), array([ True,  True, False]), array([1. , 0.5, 1.5]))
        """
        place = np.tile(np.arange(len(distances)), 2)
        similar = np.repeat([True, False], len(distances))
        counts = np.concatenate([weights * likeness, weights * (1.0 - likeness)])
        kept = counts > 0.0
        place, similar, counts = place[kept], similar[kept], counts[kept]
        return cls(distances[place], similar, rows[place], fold[place], counts)

    def share(self, base_rate: float | None) -> float:
        """Return the share of similar pairs: `base_rate`, or the share among these pairs."""
        if base_rate is not None:
            return base_rate
        return float(np.average(self.similar, weights=self.counts))

    def weights(self, base_rate: float | None) -> Array:
        """Weight the pairs so that the share of similar ones is `base_rate`; the mean is 1."""
        weights = self.counts / self.counts.mean()
        if base_rate is None:
            return weights
        share = self.share(None)
        return weights * np.where(
            self.similar, base_rate / share, (1.0 - base_rate) / (1.0 - share)
        )

    def only(self, which: Array) -> HeldOut:
        """Return some of the pairs."""
        return HeldOut(*(getattr(self, field.name)[which] for field in fields(self)))

    def by_fold(self) -> Iterator[tuple[Array, HeldOut]]:
        """Yield which pairs are in each fold, and the pairs of the other folds."""
        for number in np.unique(self.fold):
            inside = self.fold == number
            yield inside, self.only(~inside)

    @property
    def has_both_kinds(self) -> bool:
        """Whether there are similar and dissimilar pairs."""
        return bool(self.similar.any() and not self.similar.all())


def row_distances(model: Any, X: Any, rows: Array) -> Array:
    """Compute the learned distances of pairs of rows of `X`, by number."""
    first, second = _map_pairs(model.transform, X, rows)
    return np.linalg.norm(first - second, axis=1)


def class_distances(model: Any, X: Any, rows: Array) -> Array:
    """Compute the probability that the two rows of each pair are of different classes.

    The classes of two rows count as independent.
    """
    agree = np.einsum("ij,ij->i", *_map_pairs(model.predict_proba, X, rows))
    return np.clip(1.0 - agree, 0.0, 1.0)


def _map_pairs(mapping: Callable[[Any], Any], X: Any, rows: Array) -> tuple[Array, Array]:
    """Map the first and the second rows of pairs, each row of `X` once."""
    some, places = np.unique(rows, return_inverse=True)
    Z = np.asarray(mapping(_safe_indexing(X, some)), dtype=np.float64)
    first, second = places.reshape(-1, 2).T
    return Z[first], Z[second]


def measure_held_out(
    model: Any,
    X: Any,
    labels: PairLabels,
    cv: int | str,
    refit: Callable[[Any, PairLabels, Array], Any],
    measure: Callable[[Any, Any, Array], Array] = row_distances,
    *,
    from_all: bool = False,
) -> HeldOut:
    """Compute distances of the labeled pairs by metrics that have not seen their points.

    The labeled points are assigned to folds. For each fold a metric is learned without its
    points, from the other labeled points and some unlabeled ones, and measures the pairs within
    it. Metrics of different fits may differ in scale: where `row_distances` measures, each gets
    the mean squared distance on `X` of the model's own.

    Parameters
    ----------
    model : fitted learner or pipeline
        The metric, as ``transform`` maps points.
    X : array-like
        The points it was fitted with; with ``cv="prefit"``, points that it has not seen.
    labels : PairLabels
        Labels of their pairs.
    cv : int or "prefit"
        Largest number of folds; or "prefit" to use the model's own metric.
    refit : callable
        Fits another such model to some points, given their labels and row numbers.
    measure : callable, default=row_distances
        Computes distances of pairs of rows from a fitted model, points and row numbers.
    from_all : bool, default=False
        Learn from all unlabeled points, instead of some.
    """
    prefit = cv == "prefit"
    folds = assign_folds(labels, 5 if prefit else int(cv), np.random.RandomState(0))
    most = _MOST_PAIRS // (folds.max() + 1)
    if prefit:
        return _join(_measure_prefit(model, X, labels, folds, most, measure), labels)
    is_scaled = measure is row_distances
    spread = _spread(model, X) if is_scaled else 0.0
    kernel_values = get_tags(model).input_tags.pairwise
    shared = np.arange(len(folds)) if from_all else choose_shared_points(folds)
    parts = []
    for number in range(folds.max() + 1):
        inside, outside = np.flatnonzero(folds == number), shared[folds[shared] != number]
        test, train = labels.among(inside), labels.among(outside)
        if test is None or train is None or not (train.similar_weight and train.dissimilar_weight):
            continue
        rows, likeness, weights = _pairs_within(test, most)
        if len(rows) == 0:
            continue
        # With kernel values for X, the columns stand for the points that a fit has seen.
        seen = _safe_indexing(X, outside, axis=1) if kernel_values else X
        metric = refit(_safe_indexing(seen, outside), train, outside)
        d = measure(metric, _safe_indexing(seen, inside), rows)
        if is_scaled:
            d = d * np.sqrt(spread / (_spread(metric, seen) or spread or 1.0))
        fold = np.full(len(rows), number)
        parts.append(HeldOut.of_marks(d, likeness, weights, inside[rows], fold))
    return _join(parts, labels)


def _measure_prefit(
    model: Any,
    X: Any,
    labels: PairLabels,
    folds: Array,
    most: int,
    measure: Callable[[Any, Any, Array], Array],
) -> list[HeldOut]:
    """Measure all labeled pairs within folds, and the marked ones across them.

    The model has seen none of them; folds only keep those apart that share points.
    """
    parts = []
    for number in range(folds.max() + 1):
        inside = np.flatnonzero(folds == number)
        test = labels.among(inside)
        if test is not None:
            within, likeness, weights = _pairs_within(test, most)
            parts.append((inside[within], likeness, weights))
    across = folds[labels.pairs[:, 0]] != folds[labels.pairs[:, 1]]
    parts.append((labels.pairs[across], labels.likeness[across], labels.weights[across]))
    return [
        HeldOut.of_marks(measure(model, X, rows), likeness, weights, rows, folds[rows[:, 0]])
        for rows, likeness, weights in parts
        if len(rows)
    ]


def _spread(learner: Any, X: Any) -> float:
    return float(np.asarray(learner.transform(X), dtype=np.float64).var(axis=0).sum())


def _pairs_within(labels: PairLabels, most: int) -> tuple[Array, Array, Array]:
    """List the marked pairs and all or some pairs of classes, with likeness and weight."""
    rows = np.flatnonzero(labels.codes >= 0)
    n = len(rows)
    if n * (n - 1) // 2 <= most:
        i, j = np.triu_indices(n, k=1)
    else:
        rng = np.random.default_rng(0)
        i, j = rng.integers(n, size=most), rng.integers(n - 1, size=most)
        j += j >= i
    implied = np.column_stack([rows[i], rows[j]])
    same = labels.codes[implied[:, 0]] == labels.codes[implied[:, 1]]
    return (
        np.concatenate([implied, labels.pairs]),
        np.concatenate([same, labels.likeness]),
        np.concatenate([np.ones(len(implied)), labels.weights]),
    )


def _join(parts: list[HeldOut], labels: PairLabels) -> HeldOut:
    n_similar = sum(int(part.similar.sum()) for part in parts)
    n_dissimilar = sum(int((~part.similar).sum()) for part in parts)
    if min(n_similar, n_dissimilar) < _FEWEST:
        raise ValueError(
            f"A decision needs at least {_FEWEST} held-out pairs of each kind; got "
            f"{n_similar} similar and {n_dissimilar} dissimilar ones, of "
            f"{labels.n_similar} and {labels.n_dissimilar} labeled pairs. (A pair is held out "
            "together with its points.) Mark more pairs, or label more rows of each class."
        )
    columns = ([getattr(part, field.name) for part in parts] for field in fields(HeldOut))
    return HeldOut(*map(np.concatenate, columns))
