"""Learning beside the questions: refits, the test, and the picture of the points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import orthogonal_procrustes

from ..._estimators._seraph import SERAPH
from ..._marks import Marks
from ..._utils._typing import Array, BoolArray, IntArray
from ._answers import Answer, ClassAnswer, PairAnswer
from ._judge import WINDOW, Judgment, judge, steadiness
from ._questions import distances_of
from ._records import Records

# Rows that a refit learns from, beside those asked about. The final fit learns from all.
_ROWS = 800
# Points in the picture, beside those asked about.
_POINTS = 700
# Pairs whose distances tell how much a refit changed.
_WATCHED = 2000


@dataclass(frozen=True)
class Labels:
    """What the answers say, as arguments of ``fit`` after X.

    Parameters
    ----------
    pairs, same : ndarray
        Answered pairs, and which are the same.
    codes : dict of int to int
        Class code of each named row.
    """

    pairs: IntArray
    same: BoolArray
    codes: dict[int, int]

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> Labels:
        """Collect the answers that are not "unsure"."""
        marked = [a for a in answers if isinstance(a, PairAnswer) and a.same is not None]
        named = [a for a in answers if isinstance(a, ClassAnswer) and a.name is not None]
        names = sorted({a.name for a in named if a.name is not None})
        return cls(
            np.array([a.rows for a in marked], dtype=np.intp).reshape(-1, 2),
            np.array([a.same for a in marked], dtype=bool),
            {a.i: names.index(a.name) for a in named if a.name is not None},
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
    def enough(self) -> bool:
        """Whether there are pairs of both kinds."""
        same = self.all_pairs()[1]
        return bool(same.any() and not same.all())


@dataclass
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
    """

    X: Array
    seed: int = 0
    records: Records | None = None
    learner: Any = None
    judgments: list[Judgment] = field(default_factory=list)
    change: float | None = None

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        n = len(self.X)
        order = rng.permutation(n)
        self._rows = np.sort(order[:_ROWS])
        self._points = np.sort(order[:_POINTS])
        first = rng.integers(n, size=_WATCHED)
        second = (first + rng.integers(1, n, size=_WATCHED)) % n
        self._watched = np.column_stack([first, second])
        if self.records is not None:  # other pairs are hardly ever compared
            some = rng.permutation(len(self.records.pairs))[:_WATCHED]
            self._watched = self.records.pairs[some]
        self._warm: Any = SERAPH(max_iter=60, tol=5e-3, warm_start=True)
        self._past: list[tuple[int, Array]] = []
        self._frame: tuple[Array, Array] | None = None

    def refit(self, answers: Sequence[Answer]) -> bool:
        """Learn from the answers that are not in the test; return whether that was possible."""
        labels = Labels.of([a for a in answers if a.weight is None])
        if not labels.enough:
            return False
        if self.records is not None:
            self.learner = self.records.learned(labels.pairs, labels.same)
            self._note(answers)
            return True
        rows = np.union1d(self._rows, labels.rows)
        learner = self._warm
        if labels.codes:
            y = np.full(len(rows), -1)
            y[np.searchsorted(rows, list(labels.codes))] = list(labels.codes.values())
            learner.fit(self.X[rows], y)
        else:
            pairs = np.searchsorted(rows, labels.pairs)
            marks = Marks(pairs, labels.same, rows=len(rows))
            learner.fit(self.X[rows], marks=marks)
        if len(learner.learned_components_) == 0:  # the trace costs more than the answers gain
            return False
        self.learner = learner
        self._note(answers)
        return True

    def _note(self, answers: Sequence[Answer]) -> None:
        """Judge the new metric by the test, and by how much it differs from earlier ones."""
        n = sum(not _is_unsure(answer) for answer in answers)
        distances = self._distances(self._watched)[0]
        self._past = [(count, d) for count, d in self._past if count < n]
        self._past.append((n, distances))
        self._compare()
        self.judgments = [past for past in self.judgments if past.answers < n]
        tested = [a for a in answers if a.weight is not None]
        labels = Labels.of(tested)
        pairs, same = labels.all_pairs()
        if len(pairs) == 0:
            return
        weights = np.ones(len(pairs))
        most = np.inf
        if labels.codes:  # pairs of k rows tell no more than k / 2 separate pairs
            most = max(1.0, len(labels.codes) / 2)
        else:
            weights = np.array([a.weight for a in tested if not _is_unsure(a)], dtype=np.float64)
        learned, euclidean = (judge(d, same, weights, most) for d in self._distances(pairs))
        if learned is not None and euclidean is not None:
            self.judgments.append(Judgment(n, learned, euclidean))

    def _compare(self) -> None:
        """Note how alike the distances of today and of `WINDOW` answers ago are."""
        n, distances = self._past[-1]
        earlier = [d for count, d in self._past if count <= n - WINDOW]
        self.change = steadiness(earlier[-1], distances) if earlier else None

    def remember(self, earlier: Learning) -> None:
        """Put what another model of these rows has noted after fewer answers before our own."""
        if not self._past:
            return
        first = self._past[0][0]
        self._past = [past for past in earlier._past if past[0] < first] + self._past
        self.judgments = [j for j in earlier.judgments if j.answers < first] + self.judgments
        self._compare()

    def _distances(self, pairs: IntArray) -> tuple[Array, Array]:
        """Return the learned and the Euclidean distances of pairs of rows."""
        if self.records is not None:
            return self.records.distances(self.learner, pairs)
        rows, places = np.unique(pairs, return_inverse=True)
        places = places.reshape(-1, 2)
        X = self.X[rows]
        return distances_of(self.learner.transform(X), places), distances_of(X, places)

    def picture(self, answers: Sequence[Answer]) -> dict[str, Any]:
        """Return the points in the plane before and after, for JSON.

        Both show the two leading principal components, turned so that points move as little as
        possible from the one to the other, and scaled to the size of the picture.
        """
        pairs, same = Labels.of(answers).all_pairs()
        rows = np.union1d(self._points, pairs.ravel()).astype(np.intp)
        before = self._before(self.X[rows])
        after = before
        if self.learner is not None and self.records is None:  # records have no other map
            after = _flat(self.learner.transform(self.X[rows]))
            after = _scaled(after @ orthogonal_procrustes(after, before)[0])
        places = np.searchsorted(rows, pairs[:400])
        return {
            "rows": rows.tolist(),
            "before": np.round(before, 3).tolist(),
            "after": np.round(after, 3).tolist(),
            "pairs": [[*p, int(s)] for p, s in zip(places.tolist(), same.tolist(), strict=False)],
            "learned": self.learner is not None,
        }

    def _before(self, X: Array) -> Array:
        """Map points to the two leading principal components of the sample of rows."""
        if self._frame is None:
            sample = self.X[self._points].astype(np.float64)
            center = sample.mean(axis=0)
            directions = np.linalg.svd(sample - center, full_matrices=False)[2][:2]
            self._frame = center, directions
        center, directions = self._frame
        flat = (X - center) @ directions.T
        return _scaled(np.pad(flat, [(0, 0), (0, 2 - len(directions))]))


def _is_unsure(answer: Answer) -> bool:
    value = answer.same if isinstance(answer, PairAnswer) else answer.name
    return value is None


def _flat(Z: Array) -> Array:
    """Return the two leading principal components; zeros for a second that does not exist."""
    centered = np.asarray(Z, dtype=np.float64) - Z.mean(axis=0)
    directions = np.linalg.svd(centered, full_matrices=False)[2][:2]
    return np.pad(centered @ directions.T, [(0, 0), (0, 2 - len(directions))])


def _scaled(flat: Array) -> Array:
    """Center, and scale all but the outermost points to [-1, 1]."""
    low, high = np.quantile(flat, [0.01, 0.99], axis=0)
    return (flat - 0.5 * (low + high)) / (0.5 * float(np.max(high - low)) or 1.0)
