"""Features of labeled pairs whose points no model has seen: their distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing, gen_batches, get_tags

from .._forest import Forest, grow_pair_forest, log_odds, similar_shares
from .._marks import PairLabels
from .._utils._typing import Array
from ._classifier import MetricClassifier
from ._folds import assign_folds
from ._models import forest_points, transformed

# Larger numbers of pairs of points of known class are sampled.
_MOST_PAIRS = 20_000
# Pairs of each kind that a choice needs.
_FEWEST = 2
# Pairs that are measured at a time.
_AT_ONCE = 10_000
# Unlabeled points to learn from in each fold, unless more are labeled. More change neither the
# choice nor the judgment, and take longer.
_UNLABELED = 400


@dataclass(frozen=True)
class HeldOut:
    """Labeled pairs, as models see them that know none of their points."""

    features: Array  # (n_pairs, n_features): what is measured of each pair, see `View`
    similar: Array  # the truth
    rows: Array  # (n_pairs, 2): the two rows of each pair
    fold: Array  # that each pair was held out with; no row is in two of them
    counts: Array  # how much each pair counts, above 0: its weight
    represents: Array  # how many random pairs it stands for, in what is reported

    @property
    def share(self) -> float:
        """The share of similar pairs among these pairs."""
        return float(np.average(self.similar, weights=self.counts))

    def weights(self, base_rate: float | None) -> Array:
        """Weight the pairs so that the share of similar ones is `base_rate`; the mean is 1."""
        weights = self.counts / self.counts.mean()
        if base_rate is None:
            return weights
        factors = base_rate / self.share, (1.0 - base_rate) / (1.0 - self.share)
        return weights * np.where(self.similar, *factors)

    def as_random(self) -> HeldOut:
        """Return the pairs that represent random pairs, which count as many; all if none do."""
        stands = self.represents > 0.0
        if len(set(self.similar[stands].tolist())) < 2:
            return self
        return replace(self, counts=self.counts * self.represents).only(stands)

    def only(self, which: Array) -> HeldOut:
        """Return some of the pairs."""
        return HeldOut(*(getattr(self, field.name)[which] for field in fields(self)))


class View(NamedTuple):
    """Rows as a fitted model sees them, to measure pairs of.

    `Z` are their coordinates, or the class probabilities of a `MetricClassifier`; `F` are their
    features before learning, for a forest, if there is one.
    """

    Z: Array
    by_classes: bool
    forest: Forest | None
    F: Array | None

    @classmethod
    def of(cls, model: Any, X: Any, forest: Forest | None = None, name: str = "X") -> View:
        """View rows `X`, which messages call `name`."""
        by_classes = isinstance(model, MetricClassifier)
        Z = model.predict_proba(X) if by_classes else transformed(model, X, name)
        F = forest_points(model, X) if forest else None
        return cls(np.asarray(Z, dtype=np.float64), by_classes, forest, F)

    def measure(self, pairs: Array) -> Array:
        """Measure pairs of rows, by number: their distance and, in a second column, log-odds.

        For a `MetricClassifier` the distance is the probability that the classes of the two rows
        differ, which count as independent; 0 for identical rows. The log-odds are the forest's.
        """
        d = np.empty(len(pairs))
        for part in gen_batches(len(pairs), _AT_ONCE):
            first, second = self.Z[pairs[part, 0]], self.Z[pairs[part, 1]]
            if self.by_classes:
                differ = np.clip(1.0 - np.einsum("ij,ij->i", first, second), 0.0, 1.0)
                d[part] = np.where((first == second).all(axis=1), 0.0, differ)
            else:
                d[part] = np.linalg.norm(first - second, axis=1)
        if self.forest is None or self.F is None:
            return d[:, np.newaxis]
        return np.column_stack([d, log_odds(similar_shares(self.forest, self.F, pairs))])


def grow_on(F: Array | None, labels: PairLabels, n_trees: int) -> Forest | None:
    """Grow a forest on the labeled pairs of these features, if there are any."""
    if F is None:
        return None
    return grow_pair_forest(F, *labels.listed(_MOST_PAIRS), n_trees=n_trees, leaf=2, seed=0)


def measure_held_out(
    model: Any,
    X: Any,
    labels: PairLabels,
    cv: int,
    refit: Callable[[Any, PairLabels], Any],
    *,
    n_trees: int = 0,
) -> HeldOut:
    """Measure the labeled pairs by models that have not seen their points.

    The labeled points are assigned to folds. For each fold a model is fitted without its points,
    to the other labeled points and some unlabeled ones, and measures the pairs within it. Metrics
    of different fits may differ in scale: each gets the mean squared distance on `X` of the
    model's own (not so probabilities).

    `cv` is the largest number of folds. `refit` fits another such model to points and labels. With
    `n_trees`, a forest of as many is grown beside each.
    """
    folds = assign_folds(labels, int(cv), np.random.RandomState(0))
    n_folds = int(folds.max()) + 1
    is_scaled = not isinstance(model, MetricClassifier)
    spread = _spread(model, X) if is_scaled else 0.0
    kernel_values = get_tags(model).input_tags.pairwise
    shared = np.arange(len(folds)) if _depends_on_size(model) else _shared_points(folds)
    parts = []
    for number in range(n_folds):
        inside, outside = np.flatnonzero(folds == number), shared[folds[shared] != number]
        test, train = labels.among(inside), labels.among(outside)
        if not (test.n_labeled and train.similar_weight and train.dissimilar_weight):
            continue
        if n_trees and not (train.n_similar and train.n_dissimilar):  # triplets alone
            continue
        rows, likeness, weights = test.listed(_MOST_PAIRS // n_folds)
        represents = np.ones(len(rows))
        represents[len(rows) - len(test.pairs) :] = test.represents
        # With kernel values for X, the columns are the points that a fit has seen.
        seen = _safe_indexing(X, outside, axis=1) if kernel_values else X
        known = _safe_indexing(seen, outside)
        metric = refit(known, train)
        forest = grow_on(forest_points(metric, known) if n_trees else None, train, n_trees)
        features = View.of(metric, _safe_indexing(seen, inside), forest).measure(rows)
        if is_scaled:
            features[:, 0] *= np.sqrt(spread / (_spread(metric, seen) or spread or 1.0))
        # A mark of likeness q is a similar pair that counts as q and a dissimilar one of 1 - q.
        fold = np.full(len(rows), number)
        for similar, counts in ((True, weights * likeness), (False, weights * (1.0 - likeness))):
            kind = np.full(len(rows), similar)
            pairs = HeldOut(features, kind, inside[rows], fold, counts, represents)
            parts.append(pairs.only(counts > 0.0))
    return _join(parts, labels)


def _shared_points(folds: Array) -> Array:
    """Choose points for the fits of all folds: those in a fold, and as many or 400 others."""
    others = np.flatnonzero(folds < 0)
    n_others = min(len(others), max(_UNLABELED, len(folds) - len(others)))
    chosen = np.random.default_rng(0).choice(others, n_others, replace=False)
    return np.sort(np.concatenate([np.flatnonzero(folds >= 0), chosen]))


def _depends_on_size(model: Any) -> bool:
    """Whether a weight of the model, for pairs or for edges, counts by the number of points."""
    automatic = {"mu": "auto", "manifold": 0.0}
    values = [(name.rpartition("__")[2], value) for name, value in model.get_params().items()]
    return any(value != automatic[name] for name, value in values if name in automatic)


def _spread(learner: Any, X: Any) -> float:
    return float(np.asarray(learner.transform(X), dtype=np.float64).var(axis=0).sum())


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
