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
from ._classifier import MetricClassifier
from ._folds import assign_folds

# Larger numbers of pairs of points of known class are sampled.
_MOST_PAIRS = 20_000
# Pairs of each kind that a choice needs.
_FEWEST = 2


@dataclass(frozen=True)
class HeldOut:
    """Distances of labeled pairs, to choose a threshold by and to judge the choice.

    Each has a distance, `similar`, two rows, a fold (no point is in two folds) and a count: how
    much the user's weight makes it count.
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


def pair_distances(model: Any, X: Any, rows: Array) -> Array:
    """Compute the learned distances of pairs of rows of `X`, by number.

    For a `MetricClassifier` they are the probabilities that the classes of the two rows differ,
    which count as independent.
    """
    by_classes = isinstance(model, MetricClassifier)
    numbers, places = np.unique(rows, return_inverse=True)
    mapping = model.predict_proba if by_classes else model.transform
    Z = np.asarray(mapping(_safe_indexing(X, numbers)), dtype=np.float64)
    first, second = places.reshape(-1, 2).T
    if by_classes:
        return np.clip(1.0 - np.einsum("ij,ij->i", Z[first], Z[second]), 0.0, 1.0)
    return np.linalg.norm(Z[first] - Z[second], axis=1)


def measure_held_out(
    model: Any,
    X: Any,
    labels: PairLabels,
    cv: int | str,
    refit: Callable[[Any, PairLabels], Any],
    *,
    from_all: bool = False,
) -> HeldOut:
    """Compute distances of the labeled pairs by metrics that have not seen their points.

    The labeled points are assigned to folds. For each fold a metric is learned without its
    points, from the other labeled points and some unlabeled ones, and measures the pairs within
    it. Metrics of different fits may differ in scale: each gets the mean squared distance on `X`
    of the model's own (not so probabilities).

    `cv` is the largest number of folds, or "prefit" for points that `model` has not seen, which
    then measures them itself. `refit` fits another such model to some points and their labels;
    `from_all` says that it needs all unlabeled points, instead of some.
    """
    folds = assign_folds(labels, 5 if cv == "prefit" else int(cv), np.random.RandomState(0))
    if cv == "prefit":
        return _measure_prefit(model, X, labels, folds)
    is_scaled = not isinstance(model, MetricClassifier)
    spread = _spread(model, X) if is_scaled else 0.0
    kernel_values = get_tags(model).input_tags.pairwise
    shared = np.arange(len(folds)) if from_all else choose_shared_points(folds)
    parts = []
    for number, inside, (rows, likeness, weights) in _pairs_by_fold(labels, folds):
        outside = shared[folds[shared] != number]
        train = labels.among(outside)
        if train is None or not (train.similar_weight and train.dissimilar_weight):
            continue
        # With kernel values for X, the columns are the points that a fit has seen.
        seen = _safe_indexing(X, outside, axis=1) if kernel_values else X
        metric = refit(_safe_indexing(seen, outside), train)
        d = pair_distances(metric, _safe_indexing(seen, inside), rows)
        if is_scaled:
            d = d * np.sqrt(spread / (_spread(metric, seen) or spread or 1.0))
        fold = np.full(len(rows), number)
        parts.append(HeldOut.of_marks(d, likeness, weights, inside[rows], fold))
    return _join(parts, labels)


def _measure_prefit(model: Any, X: Any, labels: PairLabels, folds: Array) -> HeldOut:
    """Measure all labeled pairs within folds, and the marked ones across them.

    The model has seen none of them; folds only keep those apart that share points.
    """
    across = folds[labels.pairs[:, 0]] != folds[labels.pairs[:, 1]]
    known = [(labels.pairs[across], labels.likeness[across], labels.weights[across])]
    for _, inside, (within, likeness, weights) in _pairs_by_fold(labels, folds):
        known.append((inside[within], likeness, weights))
    parts = [
        HeldOut.of_marks(pair_distances(model, X, rows), q, weights, rows, folds[rows[:, 0]])
        for rows, q, weights in known
        if len(rows)
    ]
    return _join(parts, labels)


def _pairs_by_fold(
    labels: PairLabels, folds: Array
) -> Iterator[tuple[int, Array, tuple[Array, Array, Array]]]:
    """Yield the number and the rows of each fold, and the labeled pairs of these rows."""
    n_folds = folds.max() + 1
    for number in range(n_folds):
        inside = np.flatnonzero(folds == number)
        test = labels.among(inside)
        if test is not None and test.n_labeled:
            yield number, inside, _list_pairs(test, _MOST_PAIRS // n_folds)


def _spread(learner: Any, X: Any) -> float:
    return float(np.asarray(learner.transform(X), dtype=np.float64).var(axis=0).sum())


def _list_pairs(labels: PairLabels, most: int) -> tuple[Array, Array, Array]:
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
