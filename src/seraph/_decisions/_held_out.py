"""Distances of labeled pairs whose points the metric has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._pairs import PairLabels, RowNames
from .._typing import Array
from ._folds import assign_folds, restricted

# More pairs than these, of points of known class, are sampled.
_MOST_PAIRS = 20_000
# Pairs of each kind that a choice needs.
_FEWEST = 2


@dataclass(frozen=True)
class HeldOut:
    """Distances of labeled pairs, with what is needed to choose by them and to judge the choice.

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
    """

    distances: Array
    similar: Array
    rows: Array
    fold: Array

    def weights(self, base_rate: float | None) -> Array:
        """Weight the pairs so that the share of similar ones is `base_rate`; the mean is 1."""
        if base_rate is None:
            return np.ones(len(self.similar))
        share = self.similar.mean()
        return np.where(self.similar, base_rate / share, (1.0 - base_rate) / (1.0 - share))

    def only(self, which: Array) -> HeldOut:
        """Return some of the pairs."""
        return HeldOut(
            self.distances[which], self.similar[which], self.rows[which], self.fold[which]
        )

    @property
    def has_both_kinds(self) -> bool:
        """Whether there are similar and dissimilar pairs."""
        return bool(self.similar.any() and not self.similar.all())


def held_out(
    learner: Any,
    X: Any,
    y: ArrayLike | None,
    pairs: ArrayLike | None,
    pair_labels: ArrayLike | None,
    ids: ArrayLike | None,
    cv: int | str,
) -> HeldOut:
    """Compute distances of the labeled pairs by metrics that have not seen their points.

    The labeled points are assigned to folds. For each fold a clone of the learner is fitted
    without its points, and measures the pairs within it. Metrics of different fits may differ in
    scale; each is given the mean squared distance on `X` of the learner's own.

    Parameters
    ----------
    learner : fitted learner
        Learner of the metric.
    X, y, pairs, pair_labels, ids
        The data it was fitted with; with ``cv="prefit"``, data that it has not seen.
    cv : int or "prefit"
        Largest number of folds; or "prefit" to use the learner's own metric.
    """
    names = None if pairs is None else RowNames.of(X, ids, pairs, "drop")
    n = len(learner.transform(X))
    labels = PairLabels.make(n, y, pairs, pair_labels, names=names)
    prefit = cv == "prefit"
    folds = assign_folds(labels, 5 if prefit else int(cv), np.random.RandomState(0))
    spread = _spread(learner, X)
    parts = []
    for number in range(folds.max() + 1):
        inside, outside = np.flatnonzero(folds == number), np.flatnonzero(folds != number)
        test = restricted(labels, inside)
        if test is None:
            continue
        metric, factor = learner, 1.0
        if not prefit:
            train = restricted(labels, outside)
            if train is None or not (train.n_similar and train.n_dissimilar):
                continue
            metric = _refitted(learner, _safe_indexing(X, outside), train)
            factor = np.sqrt(spread / (_spread(metric, X) or spread or 1.0))
        rows, similar = _pairs_within(test, _MOST_PAIRS // (folds.max() + 1))
        if len(rows) == 0:
            continue
        part = _safe_indexing(X, inside)
        d = factor * metric.pair_distance(rows, X=part, ids=np.arange(len(inside)))
        parts.append(HeldOut(d, similar, inside[rows], np.full(len(rows), number)))
    if prefit:
        parts += _between_folds(learner, X, labels, folds)
    return _joined(parts, labels)


def _refitted(learner: Any, X: Any, labels: PairLabels) -> Any:
    clean = {"checkpoint": None, "callback": None, "warm_start": False}
    other = clone(learner)
    known = other.get_params()
    other.set_params(
        **{
            name: value
            for name in known
            for key, value in clean.items()
            if name == key or name.endswith(f"__{key}")
        }
    )
    return other.fit(
        X,
        labels.codes if (labels.codes >= 0).any() else None,
        pairs=labels.pairs,
        pair_labels=labels.similar,
        ids=np.arange(len(labels.codes)),
    )


def _between_folds(learner: Any, X: Any, labels: PairLabels, folds: Array) -> list[HeldOut]:
    """Measure the marked pairs across folds, which a metric that has seen neither may as well."""
    across = folds[labels.pairs[:, 0]] != folds[labels.pairs[:, 1]]
    rows = labels.pairs[across]
    if len(rows) == 0:
        return []
    d = learner.pair_distance(rows, X=X, ids=np.arange(len(folds)))
    return [HeldOut(d, labels.similar[across], rows, folds[rows[:, 0]])]


def _spread(learner: Any, X: Any) -> float:
    return float(np.asarray(learner.transform(X), dtype=np.float64).var(axis=0).sum())


def _pairs_within(labels: PairLabels, most: int) -> tuple[Array, Array]:
    """List the labeled pairs, or a sample of them; marked pairs are always in it."""
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
    return np.concatenate([implied, labels.pairs]), np.concatenate([same, labels.similar])


def _joined(parts: list[HeldOut], labels: PairLabels) -> HeldOut:
    fields = ("distances", "similar", "rows", "fold")
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in fields if parts
    }
    similar = joined.get("similar", np.empty(0, dtype=bool))
    if similar.sum() < _FEWEST or (~similar).sum() < _FEWEST:
        raise ValueError(
            f"A decision needs at least {_FEWEST} held-out pairs of each kind; got "
            f"{similar.sum()} similar and {(~similar).sum()} dissimilar ones, of "
            f"{labels.n_similar} and {labels.n_dissimilar} labeled pairs. (A pair is held out "
            "together with its points.) Mark more pairs, or label more rows of each class."
        )
    return HeldOut(**joined)
