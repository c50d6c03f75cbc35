"""Distances of labeled pairs whose points the metric has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags

from .._pairs import PairLabels, RowNames
from .._typing import Array
from ._folds import assign_folds, restricted

# More pairs than these, of points of known class, are sampled.
_MOST_PAIRS = 20_000
# Pairs of each kind that a choice needs.
_FEWEST = 2


@dataclass(frozen=True)
class Given:
    """What a learner was fitted with besides X, as the user gave it.

    Parameters
    ----------
    y, pairs, pair_labels, pair_weights, triplets, ids : array-like or None
        Classes and marks, as in ``fit``.
    graph : sparse matrix or array-like of shape (n, n) or None
        Graph of the points, as in ``fit``.
    """

    y: ArrayLike | None = None
    pairs: ArrayLike | None = None
    pair_labels: ArrayLike | None = None
    pair_weights: ArrayLike | None = None
    triplets: ArrayLike | None = None
    ids: ArrayLike | None = None
    graph: Any = None

    def labels(self, X: Any, n: int) -> PairLabels:
        """Check and merge the classes and marks of the `n` rows of `X`."""
        marks = self.triplets if self.pairs is None else self.pairs
        names = None if marks is None else RowNames.of(X, self.ids, marks, "drop")
        told = self.y, self.pairs, self.pair_labels, self.pair_weights, self.triplets
        return PairLabels.make(n, *told, names=names)

    def graph_of(self, rows: Array, n: int) -> Any:
        """Return the part of the graph between some of the `n` rows; None without a graph."""
        if self.graph is None:
            return None
        if np.shape(self.graph) != (n, n):
            raise ValueError(
                f"graph must have one row and one column per row of X, shape ({n}, {n}); got "
                f"{np.shape(self.graph)}."
            )
        return sparse.csr_array(self.graph)[rows][:, rows]


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
        """Return the share of similar pairs: the given one, or that among these."""
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
        parts = self.distances, self.similar, self.rows, self.fold, self.counts
        return HeldOut(*(part[which] for part in parts))

    @property
    def has_both_kinds(self) -> bool:
        """Whether there are similar and dissimilar pairs."""
        return bool(self.similar.any() and not self.similar.all())


def effective_number(weights: Array) -> float:
    """Return Kish's number of equally weighted pairs that would tell as much, at least 1.

    Examples
    --------
    >>> effective_number(np.array([2.0, 2.0])), effective_number(np.array([3.0, 1.0]))
    (2.0, 1.6)
    """
    return float(weights.sum() ** 2 / (weights @ weights)) if len(weights) else 1.0


def held_out(learner: Any, X: Any, given: Given, cv: int | str) -> HeldOut:
    """Compute distances of the labeled pairs by metrics that have not seen their points.

    The labeled points are assigned to folds. For each fold a clone of the learner is fitted
    without its points, and measures the pairs within it. Metrics of different fits may differ in
    scale; each is given the mean squared distance on `X` of the learner's own.

    Parameters
    ----------
    learner : fitted learner
        Learner of the metric.
    X : array-like
        The points it was fitted with; with ``cv="prefit"``, points that it has not seen.
    given : Given
        What is known about them.
    cv : int or "prefit"
        Largest number of folds; or "prefit" to use the learner's own metric.
    """
    n = len(learner.transform(X))
    labels = given.labels(X, n)
    prefit = cv == "prefit"
    folds = assign_folds(labels, 5 if prefit else int(cv), np.random.RandomState(0))
    if prefit:
        return _joined(_by_the_metric_there_is(learner, X, labels, folds), labels)
    spread = _spread(learner, X)
    kernel_values = get_tags(learner).input_tags.pairwise
    parts = []
    for number in range(folds.max() + 1):
        inside, outside = np.flatnonzero(folds == number), np.flatnonzero(folds != number)
        test, train = restricted(labels, inside), restricted(labels, outside)
        if test is None or train is None or not (train.similar_weight and train.dissimilar_weight):
            continue
        # With kernel values for X, the columns stand for the points that a fit has seen.
        seen = _safe_indexing(X, outside, axis=1) if kernel_values else X
        metric = _refitted(
            learner, _safe_indexing(seen, outside), train, given.graph_of(outside, n)
        )
        factor = np.sqrt(spread / (_spread(metric, seen) or spread or 1.0))
        rows, likeness, weights = _pairs_within(test, _MOST_PAIRS // (folds.max() + 1))
        if len(rows) == 0:
            continue
        part = _safe_indexing(seen, inside)
        d = factor * metric.pair_distance(rows, X=part, ids=np.arange(len(inside)))
        fold = np.full(len(rows), number)
        parts.append(HeldOut.of_marks(d, likeness, weights, inside[rows], fold))
    return _joined(parts, labels)


def _refitted(learner: Any, X: Any, labels: PairLabels, graph: Any) -> Any:
    """Fit a clone of the learner; pass on only what is known, since not all learners take all."""
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
    sure = bool(np.all((labels.likeness == 0.0) | (labels.likeness == 1.0)))
    told: dict[str, Any] = {
        "pairs": labels.pairs,
        "pair_labels": labels.similar if sure else labels.likeness,
        "ids": np.arange(len(labels.codes)),
    }
    if np.any(labels.weights != 1.0):
        told["pair_weights"] = labels.weights
    if len(labels.triplets):
        told["triplets"] = labels.triplets
    if graph is not None:
        told["graph"] = graph
    return other.fit(X, labels.codes if (labels.codes >= 0).any() else None, **told)


def _by_the_metric_there_is(
    learner: Any, X: Any, labels: PairLabels, folds: Array
) -> list[HeldOut]:
    """Measure all labeled pairs within folds, and the marked ones across them.

    The learner has seen none of them; folds only keep those apart that share points.
    """
    names = np.arange(len(folds))
    parts = []
    for number in range(folds.max() + 1):
        inside = np.flatnonzero(folds == number)
        test = restricted(labels, inside)
        if test is not None:
            within, likeness, weights = _pairs_within(test, _MOST_PAIRS // (folds.max() + 1))
            parts.append((inside[within], likeness, weights))
    across = folds[labels.pairs[:, 0]] != folds[labels.pairs[:, 1]]
    parts.append((labels.pairs[across], labels.likeness[across], labels.weights[across]))
    return [
        HeldOut.of_marks(
            learner.pair_distance(rows, X=X, ids=names), likeness, weights, rows, folds[rows[:, 0]]
        )
        for rows, likeness, weights in parts
        if len(rows)
    ]


def _spread(learner: Any, X: Any) -> float:
    return float(np.asarray(learner.transform(X), dtype=np.float64).var(axis=0).sum())


def _pairs_within(labels: PairLabels, most: int) -> tuple[Array, Array, Array]:
    """List all marked pairs and those of classes, or a sample, with likeness and weight."""
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


def _joined(parts: list[HeldOut], labels: PairLabels) -> HeldOut:
    fields = ("distances", "similar", "rows", "fold", "counts")
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
