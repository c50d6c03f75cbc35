"""Learning beside the questions: refits, the test, and the picture of the points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import orthogonal_procrustes
from sklearn.decomposition import PCA
from sklearn.metrics import roc_curve

from ... import Marks, MeanMetric
from ..._utils._typing import Array, BoolArray, IntArray
from ._answers import Answer
from ._judge import WINDOW, Advice, Comparison, advice, compare, steadiness

# Rows that a refit learns from and that the map shows, beside those asked about. The final fit
# learns from all.
_ROWS = 800
# Answers of each kind without which none is called odd: fewer would say little.
_FEWEST = 8
# An answer is odd if so large a share of the other kind is on the wrong side of it: two rows that
# are called the same, and are farther apart than half of those that are called different.
_ODD = 0.5
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


class Moment(NamedTuple):
    """What is kept of a model after a refit."""

    answers: int  # by then, without the unsure ones
    distances: Array  # of the watched pairs
    comparison: Comparison | None  # by the test, if it had enough answers


class Learning:
    """The model of a session, refitted as answers come in; `X` are all points, scaled.

    The `learner` is None before anything was learned.
    """

    def __init__(self, X: Array, seed: int = 0) -> None:
        self.X = X
        self.learner: Any = None
        rng = np.random.default_rng(seed)
        n = len(X)
        self._rows = np.sort(rng.permutation(n)[:_ROWS])
        self._plane = _plane(X[self._rows])
        first = rng.integers(n, size=_WATCHED)
        second = (first + rng.integers(1, n, size=_WATCHED)) % n
        self._watched = np.column_stack([first, second])
        self._past: list[Moment] = []

    @property
    def judgments(self) -> list[dict[str, Any]]:
        """Both AUCs after how many answers, oldest first, for JSON."""
        return [
            {"answers": m.answers, "figures": [asdict(m.comparison.learned),
                                               asdict(m.comparison.euclidean)]}
            for m in self._past if m.comparison is not None
        ]  # fmt: skip

    @property
    def comparison(self) -> Comparison | None:
        """The last judgment of the test, if it has enough answers."""
        return next((m.comparison for m in reversed(self._past) if m.comparison), None)

    @property
    def verdict(self) -> str:
        """Which distance is better; empty if the test has too few answers."""
        return self.comparison.sentence() if self.comparison else ""

    def values(self) -> dict[str, Any]:
        """Return the verdict as plain values."""
        now = self.comparison
        return {
            "better": now.better or None if now else None,
            "test": asdict(now) if now else None,
        }

    def advice(self, answers: Sequence[Answer], *, left: bool) -> Advice:
        """Say which distance is better, and whether to go on."""
        past = self._past
        earlier = [m for m in past if m.answers <= past[-1].answers - WINDOW]
        return advice(
            self.comparison,
            steadiness(earlier[-1].distances, past[-1].distances) if earlier else None,
            tests=Labels.of([a for a in answers if a.weight is not None]).kinds,
            kinds=Labels.of(answers).kinds,
            left=left,
        )

    def refit(self, answers: Sequence[Answer]) -> bool:
        """Learn from the answers that are not in the test; return whether that was possible.

        The first time, the model of `WINDOW` answers ago is judged as well, to know what the last
        answers have changed.
        """
        if not self._past and len(answers) > WINDOW:
            self._learn(answers[:-WINDOW])
        return self._learn(answers)

    def _learn(self, answers: Sequence[Answer]) -> bool:
        labels = Labels.of([a for a in answers if a.weight is None])
        if not all(labels.kinds):
            return False
        learner = self._fit(labels)
        if len(learner.components_) == 0:
            return False
        self.learner = learner
        n = sum(answer.value is not None for answer in answers)
        watched = self.distances(self._watched)
        moment = Moment(n, watched[0], self._compared(answers, watched))
        self._past = [*(past for past in self._past if past.answers < n), moment]
        return True

    def _fit(self, labels: Labels) -> MeanMetric:
        asked = [*labels.pairs.ravel().tolist(), *labels.codes]
        rows = np.union1d(self._rows, np.array(asked, dtype=np.intp))
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
        weights, n = np.array([a.weight for a in tests], dtype=np.float64), None
        if labels.codes:
            weights, n = np.ones(len(pairs)), len(tests)
        return compare(*self.distances(pairs), same, weights, watched, n)

    def odd(self, answers: Sequence[Answer]) -> list[tuple[int, ...]]:
        """Return the rows of answers that are unlike the others, the oddest first.

        Only answers that the model learned from count. To correct those of the test where it
        disagrees with them would make it look better than it is.
        """
        labels = Labels.of([answer for answer in answers if answer.weight is None])
        if min(labels.same.sum(), (~labels.same).sum()) < _FEWEST:
            return []
        distances = self.distances(labels.pairs)[0]
        near, far = np.sort(distances[labels.same]), np.sort(distances[~labels.same])
        wrong = np.where(
            labels.same,
            np.searchsorted(far, distances) / len(far),
            1.0 - np.searchsorted(near, distances, "right") / len(near),
        )
        order = np.argsort(-wrong, kind="stable")
        return [tuple(pair) for pair in labels.pairs[order[wrong[order] >= _ODD]].tolist()]

    def distances(self, pairs: IntArray) -> tuple[Array, Array]:
        """Return the learned and the Euclidean distances of pairs of rows.

        Before anything was learned, both are the Euclidean ones.
        """
        rows, places = np.unique(pairs, return_inverse=True)
        places = places.reshape(-1, 2)
        X = self.X[rows]
        Z = X if self.learner is None else self.learner.transform(X)
        return distances_of(Z, places), distances_of(X, places)

    def picture(self, answers: Sequence[Answer]) -> dict[str, Any]:
        """Return the points in the plane before and after, for JSON.

        Both show the two leading principal components, turned so that points move as little as
        possible from the one to the other, and scaled to the size of the picture.
        """
        pairs, same = Labels.of(answers).all_pairs()
        rows = np.union1d(self._rows, pairs.ravel()).astype(np.intp)
        before = _scaled(_flat(self._plane, self.X[rows]))
        after, groups = before, [-1] * len(rows)
        if self.learner is not None:
            Z = self.learner.transform(self.X[rows])
            after = _flat(_plane(Z), Z)
            after = _scaled(after @ orthogonal_procrustes(after, before)[0])
            groups = _groups(Z, np.searchsorted(rows, pairs), same)
        return {
            "groups": groups,
            "rows": rows.tolist(),
            "before": np.round(before, 3).tolist(),
            "after": np.round(after, 3).tolist(),
            "asked": np.isin(rows, pairs).tolist(),
            "learned": self.learner is not None,
        }


def distances_of(Z: Array, pairs: Array) -> Array:
    """Return the Euclidean distances of pairs of rows of `Z`."""
    return np.linalg.norm(Z[pairs[:, 0]] - Z[pairs[:, 1]], axis=1).astype(np.float64)


def _groups(Z: Array, pairs: IntArray, same: BoolArray) -> list[int]:
    """Return a group for each point, the largest first from 0, by their distances.

    Average linkage joins points up to the threshold that decides most answers rightly.
    """
    false, true, thresholds = roc_curve(same, -distances_of(Z, pairs), drop_intermediate=False)
    best = np.argmax(true * same.sum() - false * (~same).sum())
    codes = fcluster(linkage(Z, "average"), max(-thresholds[best], 0.0), "distance")
    place = {code: k for k, (code, _) in enumerate(Counter(codes.tolist()).most_common())}
    return [place[code] for code in codes.tolist()]


def _plane(Z: Array) -> PCA:
    return PCA(min(2, *Z.shape), svd_solver="full").fit(Z)


def _flat(plane: PCA, Z: Array) -> Array:
    """Return points in the plane of two leading principal components, zero for a missing one."""
    flat = plane.transform(Z)
    return np.pad(flat, [(0, 0), (0, 2 - flat.shape[1])])


def _scaled(flat: Array) -> Array:
    """Center, and scale all but the outermost points to [-1, 1]."""
    low, high = np.quantile(flat, [0.01, 0.99], axis=0)
    return (flat - 0.5 * (low + high)) / (0.5 * float(np.max(high - low)) or 1.0)
