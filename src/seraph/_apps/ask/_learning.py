"""Learning beside the questions: refits, the test, and the picture of the points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import orthogonal_procrustes
from sklearn.decomposition import PCA
from sklearn.metrics import roc_curve

from ... import Marks, MeanMetric, ScreenJudgment, judge_screens
from ..._utils._typing import Array, BoolArray, IntArray
from ._answers import Answer, Place
from ._screens import answered

# Rows that a refit learns from and that the map shows, beside those asked about. The final fit
# learns from all.
_ROWS = 800
# It is time to finish when the AUC has risen by no more than this in the last screens.
WINDOW, _LITTLE = 10, 0.01
# What the page calls the verdict of `judge_screens`.
_SAID = {
    "better": "The learned distance is better than the Euclidean one",
    "worse": "The Euclidean distance is better than the learned one",
    "about as good": "The two distances are about as good as each other",
    "open": "It is open which distance is better",
}


@dataclass(frozen=True)
class Labels:
    """What the answers say, as arguments of ``fit`` after X: pairs, or class codes of rows.

    A pair that was answered several times is what most of its answers say; a tie says nothing.
    """

    pairs: IntArray
    same: BoolArray
    codes: dict[int, int]

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> Labels:
        """Collect the answers that are not "unsure"."""
        votes: Counter[tuple[int, ...]] = Counter()
        for answer in answers:
            if isinstance(answer.value, bool):
                votes[tuple(sorted(answer.rows))] += 1 if answer.value else -1
        marked = [pair for pair, vote in votes.items() if vote]
        named = {a.rows[0]: a.value for a in answers if isinstance(a.value, str)}
        names = sorted(set(named.values()))
        return cls(
            np.array(marked, dtype=np.intp).reshape(-1, 2),
            np.array([votes[pair] > 0 for pair in marked], dtype=bool),
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


class Screened(NamedTuple):
    """Answered screens of one size, as `judge_screens` takes them."""

    places: list[Place]
    rows: Array
    said: Array
    chances: Array

    @classmethod
    def of(cls, answers: Sequence[Answer], *, sort: bool) -> Screened:
        """Collect the screens of the most usual size."""
        asked = [screen for screen in answered(answers, sort=sort) if screen.chances]
        size = Counter(len(screen.rows) for screen in asked).most_common(1)
        asked = [screen for screen in asked if len(screen.rows) == size[0][0]]
        said: list[list[Any]] = [list(screen.given) for screen in asked]
        if any(isinstance(value, bool) for values in said for value in values):
            said = [[-1 if v is None else int(v in (True, "A")) for v in s[1:]] for s in said]
        else:  # a row that is unlike all others is a group of its own
            said = [[str(k) if v == "" else v for k, v in enumerate(values)] for values in said]
        return cls(
            [screen.place for screen in asked],
            np.array([screen.rows for screen in asked], dtype=np.intp),
            np.array(said, dtype=object),
            np.array([screen.chances for screen in asked], dtype=np.float64),
        )


@dataclass(frozen=True)
class Advice:
    """What to do next; `stop` is whether this is a good moment to stop."""

    text: str
    stop: bool = False


class Learning:
    """The model of a session, refitted as answers come in; `X` are all points, scaled.

    The `learner` is None before anything was learned.
    """

    def __init__(self, X: Array, seed: int = 0, *, sort: bool = False) -> None:
        self.X = X
        self._sort = sort
        self.learner: Any = None
        rng = np.random.default_rng(seed)
        n = len(X)
        self._rows = np.sort(rng.permutation(n)[:_ROWS])
        self._plane = _plane(X[self._rows])
        self._past: list[tuple[int, ScreenJudgment]] = []  # after how many screens
        self._places: list[Place] = []  # of the judged screens

    @property
    def judgments(self) -> list[dict[str, Any]]:
        """Both AUCs after how many screens, oldest first, for JSON."""
        return [
            {"answers": n, "figures": [interval_of(judged.learned), interval_of(judged.before)]}
            for n, judged in self._past
        ]

    @property
    def verdict(self) -> str:
        """Which distance is better; empty if there are too few answers."""
        if not self._past:
            return ""
        last = self._past[-1][1]
        aucs = f"AUC {last.learned[0]:.2f} against {last.before[0]:.2f}"
        low, high = last.difference[1:]
        interval = f"95 % interval of the difference {low:+z.2f} to {high:+z.2f}"
        return f"{_SAID[last.verdict]} ({aucs}; {interval})."

    def values(self) -> dict[str, Any]:
        """Return the verdict as plain values."""
        if not self._past:
            return {"better": None}
        last = self._past[-1][1]
        return {
            "better": {"better": "learned", "worse": "euclidean"}.get(last.verdict),
            "learned": interval_of(last.learned),
            "euclidean": interval_of(last.before),
            "difference": interval_of(last.difference),
            "more_screens": last.more,
        }

    def advice(self, answers: Sequence[Answer], *, left: bool) -> Advice:
        """Say which distance is better, and whether to go on."""
        kinds = Labels.of(answers).kinds
        if not left:
            return Advice(f"There is nothing left to ask. {self.verdict}", stop=True)
        if kinds == (0, 0):
            return Advice("The first distance is learned from the first screen.")
        if 0 in kinds:
            missing = "the same" if kinds[0] == 0 else "different"
            return Advice(f"Learning starts once two rows are called {missing}.")
        if not self._past:
            return Advice("After a few more screens the page says how good the distance is.")
        n, last = self._past[-1]
        earlier = [judged for k, judged in self._past if k <= n - WINDOW]
        settled = last.verdict in ("better", "about as good")
        if settled and earlier and last.learned[0] - earlier[-1].learned[0] <= _LITTLE:
            rest = f"The last {WINDOW} screens changed little: a good moment to finish."
            return Advice(f"{self.verdict} {rest}", stop=True)
        return Advice(f"{self.verdict} {_outlook(last)}")

    def refit(self, answers: Sequence[Answer]) -> bool:
        """Learn from the answers and judge by them; return whether that was possible.

        The first time, the judgments of earlier moments are made as well, to draw the curve.
        """
        labels = Labels.of(answers)
        if not all(labels.kinds):
            return False
        learner = self._fit(labels)
        if len(learner.components_) == 0:
            return False
        self.learner = learner
        screens = Screened.of(answers, sort=self._sort)
        n = len(screens.rows)
        first = [n * k // 4 for k in (1, 2, 3)] if not self._past else []
        for k in dict.fromkeys([*first, n]):
            judged = self._judged(screens, k)
            if judged is not None:
                self._past = [*(past for past in self._past if past[0] < k), (k, judged)]
        self._places = screens.places
        return True

    def _judged(self, screens: Screened, n: int) -> ScreenJudgment | None:
        """Judge by the first n screens; None if they are too few."""
        said = screens.rows[:n], screens.said[:n], screens.chances[:n]
        try:
            return judge_screens(MeanMetric(), self.X, *said)
        except ValueError:
            return None

    def _fit(self, labels: Labels) -> MeanMetric:
        asked = [*labels.pairs.ravel().tolist(), *labels.codes]
        rows = np.union1d(self._rows, np.array(asked, dtype=np.intp))
        if labels.codes:
            y = np.full(len(rows), -1)
            y[np.searchsorted(rows, list(labels.codes))] = list(labels.codes.values())
            return MeanMetric().fit(self.X[rows], y)
        pairs = np.searchsorted(rows, labels.pairs)
        return MeanMetric().fit(self.X[rows], marks=Marks(pairs, labels.same, rows=len(rows)))

    def odd(self) -> list[Place]:
        """Return the screens whose answers contradict the others, the most doubtful first."""
        doubtful = self._past[-1][1].doubtful if self._past else ()
        return [self._places[k] for k in doubtful if k < len(self._places)]

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


def interval_of(values: tuple[float, float, float]) -> dict[str, float]:
    """Return a value and the ends of its interval, for JSON."""
    return dict(zip(("value", "low", "high"), map(float, values), strict=True))


def _outlook(judged: ScreenJudgment) -> str:
    """Say what more screens could bring."""
    if judged.verdict != "open":
        return "More screens still improve the learned one."
    if judged.more is None:
        return "These rows are too few to settle it, but more screens may improve the learned one."
    return f"About {judged.more} more screen{'s' if judged.more != 1 else ''} could settle it."


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
