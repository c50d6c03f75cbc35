"""Learning beside the questions: refits, the test, and the picture of the points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import orthogonal_procrustes

from ..._decisions import choose_threshold
from ..._estimators._seraph import SERAPH
from ..._marks import Marks
from ..._utils._typing import Array, BoolArray, IntArray
from ._answers import Answer, ClassAnswer, PairAnswer
from ._judge import WINDOW, Judgment, compare, steadiness
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
        n = sum(not is_unsure(answer) for answer in answers)
        distances = self.distances(self._watched)[0]
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
        if not labels.codes:
            weights = np.array([a.weight for a in tested if not is_unsure(a)], dtype=np.float64)
        learned, euclidean = self.distances(pairs)
        found = compare(learned, euclidean, same, weights, pairs if labels.codes else None)
        if found is not None:
            self.judgments.append(Judgment(**vars(found), answers=n))

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

    def distances(self, pairs: IntArray) -> tuple[Array, Array]:
        """Return the learned and the Euclidean distances of pairs of rows."""
        if self.records is not None:
            return self.records.distances(self.learner, pairs)
        rows, places = np.unique(pairs, return_inverse=True)
        places = places.reshape(-1, 2)
        X = self.X[rows]
        return distances_of(self.learner.transform(X), places), distances_of(X, places)

    def neighbors(self, row: int) -> dict[str, list[int]]:
        """Return the nearest rows among those of the map, by both distances."""
        others = self._points[self._points != row]
        pairs = np.column_stack([np.full(len(others), row), others])
        if self.learner is None:
            after = before = distances_of(self.X, pairs)
        else:
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
        before = self._before(self.X[rows])
        after, places, groups = before, np.searchsorted(rows, pairs[:_LINES]), [-1] * len(rows)
        if self.learner is not None and self.records is None:  # records have no other map
            Z = self.learner.transform(self.X[rows])
            after = _flat(Z)
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


def _groups(Z: Array, pairs: IntArray, same: BoolArray) -> list[int]:
    """Return a group for each point, the largest first from 0, by their distances.

    Average linkage joins points up to the threshold that the answers suggest.
    """
    threshold = choose_threshold(distances_of(Z, pairs), same)
    found = fcluster(linkage(Z, "average"), threshold, "distance")
    place = {code: k for k, (code, _) in enumerate(Counter(found.tolist()).most_common())}
    return [place[code] for code in found.tolist()]


def is_unsure(answer: Answer) -> bool:
    """Return whether an answer says nothing."""
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
