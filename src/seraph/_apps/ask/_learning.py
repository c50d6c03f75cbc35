"""Learning beside the questions: refits, the test, and the picture of the points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import orthogonal_procrustes

from ... import Marks, MeanMetric
from ..._utils._eigen import svd
from ..._utils._threshold import choose_threshold
from ..._utils._typing import Array, BoolArray, IntArray, computed_once
from ._answers import Answer
from ._doubts import unlikely
from ._judge import WINDOW, Comparison, compare, steadiness
from ._questions import distances_of
from ._records import Records

# Rows that a refit learns from, beside those asked about. The final fit learns from all.
_ROWS = 800
# Points in the picture, beside those asked about.
_POINTS = 700
# Answers that the map shows.
_LINES = 400
# Nearest rows that the page shows for a row.
_NEIGHBORS = 5
# Answers of each kind without which none is called odd: fewer would say little. For records, the
# model knows itself how little it knows.
_FEWEST, _FEWEST_OF_RECORDS = 8, 2
# Pairs whose distances tell how much a refit changed.
_WATCHED = 2000


@dataclass(frozen=True)
class Labels:
    """What the answers say, as arguments of ``fit`` after X: pairs, or class codes of rows."""

    pairs: IntArray
    same: BoolArray
    codes: dict[int, int]

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> Labels:
        """Collect the answers that are not "unsure"."""
        marked = [a for a in answers if isinstance(a.value, bool)]
        named = {a.rows[0]: a.value for a in answers if isinstance(a.value, str)}
        names = sorted(set(named.values()))
        return cls(
            np.array([a.rows for a in marked], dtype=np.intp).reshape(-1, 2),
            np.array([a.value for a in marked], dtype=bool),
            {row: names.index(name) for row, name in named.items()},
        )

    @property
    def rows(self) -> IntArray:
        """Rows that the answers are about."""
        return np.unique(np.r_[self.pairs.ravel(), np.array(list(self.codes), dtype=np.intp)])

    def all_pairs(self) -> tuple[IntArray, BoolArray]:
        """Return the marked pairs, and those that the classes imply."""
        rows = np.array(list(self.codes), dtype=np.intp)
        codes = np.array(list(self.codes.values()))
        i, j = np.triu_indices(len(rows), 1)
        pairs = np.column_stack([rows[i], rows[j]])
        return (
            np.concatenate([self.pairs, np.sort(pairs, axis=1)]),
            np.concatenate([self.same, codes[i] == codes[j]]).astype(bool),
        )

    @property
    def kinds(self) -> tuple[int, int]:
        """Numbers of pairs that are the same, and that are different."""
        same = self.all_pairs()[1]
        return int(same.sum()), int((~same).sum())

    @property
    def enough(self) -> bool:
        """Whether there are pairs of both kinds."""
        return all(self.kinds)


class Moment(NamedTuple):
    """What is kept of a model after a refit."""

    answers: int  # by then, without the unsure ones
    distances: Array  # of the watched pairs
    comparison: Comparison | None  # by the test, if it had enough answers


class Learning:
    """The model of a session, refitted as answers come in.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        All points, scaled.
    seed : int, default=0
        Seed of the samples.
    records : Records, optional
        Their neighbors and how to compare them, if the rows are records.

    Attributes
    ----------
    learner : estimator or None
        The fitted model; None before anything was learned.
    """

    def __init__(self, X: Array, seed: int = 0, records: Records | None = None) -> None:
        self.X = X
        self.records = records
        self.learner: Any = None
        rng = np.random.default_rng(seed)
        n = len(X)
        order = rng.permutation(n)
        self._rows = np.sort(order[:_ROWS])
        self._points = np.sort(order[:_POINTS])
        first = rng.integers(n, size=_WATCHED)
        second = (first + rng.integers(1, n, size=_WATCHED)) % n
        self._watched = np.column_stack([first, second])
        if records is not None:  # other pairs are hardly ever compared
            some = rng.permutation(len(records.pairs))[:_WATCHED]
            self._watched = records.pairs[some]
        self._past: list[Moment] = []

    @property
    def judgments(self) -> list[tuple[int, Comparison]]:
        """What the test said after how many answers, oldest first."""
        return [(m.answers, m.comparison) for m in self._past if m.comparison is not None]

    @property
    def change(self) -> float | None:
        """Rank correlation of the last distances with those of `WINDOW` answers before."""
        past = self._past
        earlier = [m for m in past if m.answers <= past[-1].answers - WINDOW]
        return steadiness(earlier[-1].distances, past[-1].distances) if earlier else None

    def refit(self, answers: Sequence[Answer]) -> bool:
        """Learn from the answers that are not in the test; return whether that was possible."""
        labels = Labels.of([a for a in answers if a.weight is None])
        if not labels.enough:
            return False
        if self.records is not None:
            self.learner = self.records.learned(labels.pairs, labels.same)
        else:
            learner = self._fit(labels)
            if len(learner.components_) == 0:
                return False
            self.learner = learner
        n = sum(answer.value is not None for answer in answers)
        watched = self.distances(self._watched)
        moment = Moment(n, watched[0], self._compared(answers, watched))
        self._past = [*(past for past in self._past if past.answers < n), moment]
        return True

    def odd(self, answers: Sequence[Answer]) -> list[tuple[int, ...]]:
        """Return the rows of answers that are unlike the others, the oddest first.

        Only answers that the model learned from count. To correct those of the test where it
        disagrees with them would make it look better than it is.
        """
        labels = Labels.of([answer for answer in answers if answer.weight is None])
        fewest = _FEWEST if self.records is None else _FEWEST_OF_RECORDS
        if min(labels.same.sum(), (~labels.same).sum()) < fewest:
            return []
        if self.records is not None:
            found = self.records.suspicious(labels.pairs, labels.same)
        else:
            found = labels.pairs[unlikely(self.distances(labels.pairs)[0], labels.same)]
        return [tuple(pair) for pair in found.tolist()]

    def _fit(self, labels: Labels) -> MeanMetric:
        rows = np.union1d(self._rows, labels.rows)
        if labels.codes:
            y = np.full(len(rows), -1)
            y[np.searchsorted(rows, list(labels.codes))] = list(labels.codes.values())
            return MeanMetric().fit(self.X[rows], y)
        pairs = np.searchsorted(rows, labels.pairs)
        return MeanMetric().fit(self.X[rows], marks=Marks(pairs, labels.same, rows=len(rows)))

    def _compared(
        self, answers: Sequence[Answer], watched: tuple[Array, Array]
    ) -> Comparison | None:
        """Judge the model by the answers of the test; None if they are too few."""
        tests = [a for a in answers if a.weight is not None and a.value is not None]
        labels = Labels.of(tests)
        pairs, same = labels.all_pairs()
        if len(pairs) == 0:
            return None
        weights, units = np.array([a.weight for a in tests], dtype=np.float64), None
        if labels.codes:
            weights, units = np.ones(len(pairs)), pairs
        return compare(*self.distances(pairs), same, weights, units, watched)

    def distances(self, pairs: IntArray) -> tuple[Array, Array]:
        """Return the learned and the Euclidean distances of pairs of rows.

        Before anything was learned, both are the Euclidean ones.
        """
        learner = self.learner
        if learner is not None and self.records is not None:
            return self.records.distances(learner, pairs)
        rows, places = np.unique(pairs, return_inverse=True)
        places = places.reshape(-1, 2)
        X = self.X[rows]
        Z = X if learner is None else learner.transform(X)
        return distances_of(Z, places), distances_of(X, places)

    def neighbors(self, row: int) -> dict[str, list[int]]:
        """Return the nearest rows among those of the map, by both distances."""
        others = self._points[self._points != row]
        pairs = np.column_stack([np.full(len(others), row), others])
        after, before = self.distances(pairs)
        return {
            name: others[np.argsort(d, kind="stable")[:_NEIGHBORS]].tolist()
            for name, d in (("before", before), ("after", after))
        }

    def picture(self, answers: Sequence[Answer]) -> dict[str, Any]:
        """Return the points in the plane before and after, for JSON.

        Both show the two leading principal components, turned so that points move as little as
        possible from the one to the other, and scaled to the size of the picture.
        """
        pairs, same = Labels.of(answers).all_pairs()
        rows = np.union1d(self._points, pairs.ravel()).astype(np.intp)
        before = _scaled(_flat(self.X[rows], *self._plane))
        after, places, groups = before, np.searchsorted(rows, pairs[:_LINES]), [-1] * len(rows)
        if self.learner is not None and self.records is None:  # records have no other map
            Z = self.learner.transform(self.X[rows])
            after = _flat(Z, *_principal_plane(Z))
            after = _scaled(after @ orthogonal_procrustes(after, before)[0])
            groups = _groups(Z, places, same[:_LINES])
        return {
            "groups": groups,
            "rows": rows.tolist(),
            "before": np.round(before, 3).tolist(),
            "after": np.round(after, 3).tolist(),
            "pairs": [[*p, int(s)] for p, s in zip(places.tolist(), same.tolist(), strict=False)],
            "learned": self.learner is not None,
        }

    @computed_once
    def _plane(self) -> tuple[Array, Array]:
        return _principal_plane(self.X[self._points])


def _groups(Z: Array, pairs: IntArray, same: BoolArray) -> list[int]:
    """Return a group for each point, the largest first from 0, by their distances.

    Average linkage joins points up to the threshold that the answers suggest.
    """
    threshold = choose_threshold(distances_of(Z, pairs), same)
    found = fcluster(linkage(Z, "average"), threshold, "distance")
    place = {code: k for k, (code, _) in enumerate(Counter(found.tolist()).most_common())}
    return [place[code] for code in found.tolist()]


def _principal_plane(Z: Array) -> tuple[Array, Array]:
    """Return the center and the two leading principal directions, zeros for a missing second."""
    center = Z.mean(axis=0, dtype=np.float64)
    directions = svd(Z - center)[2][:2]
    return center, np.pad(directions, [(0, 2 - len(directions)), (0, 0)])


def _flat(Z: Array, center: Array, directions: Array) -> Array:
    return (Z - center) @ directions.T


def _scaled(flat: Array) -> Array:
    """Center, and scale all but the outermost points to [-1, 1]."""
    low, high = np.quantile(flat, [0.01, 0.99], axis=0)
    return (flat - 0.5 * (low + high)) / (0.5 * float(np.max(high - low)) or 1.0)
