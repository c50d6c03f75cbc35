"""What is asked about points, and what the answers teach: screens, judgments, and a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import orthogonal_procrustes
from sklearn.decomposition import PCA
from sklearn.metrics import roc_curve

from ... import Marks, MeanMetric, PairClassifier, ScreenJudgment, judge_screens, query_screens
from ..._utils._typing import Array, BoolArray, IntArray
from ._answers import Answer, Place
from ._screens import Asked, Question, answered

# Rows that a refit learns from and that the map shows, beside those asked about. The final fit
# learns from all.
_ROWS = 800
# Rows of a screen, how many of them are near the first one, and the rows that they are drawn from,
# so that it takes milliseconds, however many there are.
SIZE, _NEAR, _DRAWN = 8, 4, 4000
# Screens that are drawn until one has a pair that has no answer yet.
_TRIES = 20
# It is time to finish when the AUC has risen by no more than this in the last screens.
WINDOW, _LITTLE = 10, 0.01
# What the page calls the verdict of `judge_screens`.
_SAID = {
    "better": "The learned distance is better than the Euclidean one",
    "worse": "The Euclidean distance is better than the learned one",
    "about as good": "The two distances are about as good as each other",
    "open": "It is open which distance is better",
}


class Known(NamedTuple):
    """What the answers say: pairs, which of them are the same, and class names of rows.

    A pair that was answered several times is what most of its answers say; a tie says nothing.
    Of named rows, there are all pairs.
    """

    pairs: IntArray
    same: BoolArray
    names: dict[int, str]

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> Known:
        """Collect the answers that are not "unsure"."""
        names = {a.rows[0]: a.value for a in answers if isinstance(a.value, str)}
        if names:
            rows = np.array(sorted(names))
            said = np.array([names[row] for row in rows.tolist()])
            i, j = np.triu_indices(len(rows), 1)
            return cls(np.column_stack([rows[i], rows[j]]), said[i] == said[j], names)
        votes: Counter[tuple[int, ...]] = Counter()
        for answer in answers:
            if isinstance(answer.value, bool):
                votes[tuple(sorted(answer.rows))] += 1 if answer.value else -1
        told = {pair: vote > 0 for pair, vote in votes.items() if vote}
        pairs = np.array([*told], dtype=np.intp).reshape(-1, 2)
        return cls(pairs, np.array([*told.values()], dtype=bool), names)

    @property
    def kinds(self) -> tuple[int, int]:
        """Numbers of pairs that are the same, and that are different."""
        return int(self.same.sum()), int((~self.same).sum())


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


class Advice(NamedTuple):
    """What to do next; `stop` is whether this is a good moment to stop."""

    text: str
    stop: bool = False


class Learning:
    """The model of a session, refitted as answers come in; `X` are all points, scaled.

    It asks about those `rows` that can be shown; with `names`, about those without a name. The
    `learner` is None before anything was learned. The verdict is about the distance that ``seraph
    fit`` gives at the end: for pairs, that of a `PairClassifier` with its forest. Near rows are
    near by the metric alone, which is learned several times as fast.
    """

    def __init__(
        self,
        X: Array,
        rows: Array | None = None,
        seed: int = 0,
        *,
        sort: bool = False,
        names: bool = False,
        asked: int = 0,
    ) -> None:
        self.X = X
        self._sort, self._names = sort, names
        self._shown = np.arange(len(X)) if rows is None else rows
        self._rng = np.random.default_rng([seed, asked])
        self.learner: Any = None
        self._rows = np.sort(np.random.default_rng(seed).permutation(len(X))[:_ROWS])
        self._plane = _plane(X[self._rows])
        self._kinds = (0, 0)
        self._past: list[tuple[int, ScreenJudgment]] = []  # after how many screens
        self._places: list[Place] = []  # of the judged screens

    def question(self, known: Asked) -> Question | None:
        """Return a screen with something that is not `known`; None if nothing is left."""
        if self._names:
            asked = [row for rows in known for row in rows]
            free = np.setdiff1d(self._shown, np.array(asked, dtype=np.intp))
            return self._drawn(free) if len(free) else None
        drawn = (self._drawn(self._shown) for _ in range(_TRIES))
        return next((screen for screen in drawn if screen.is_new(known)), None)

    def _drawn(self, rows: Array) -> Question:
        rows = self._rng.choice(rows, min(_DRAWN, len(rows)), replace=False)
        size = min(SIZE, len(rows))
        if size == 1:
            return Question((int(rows[0]),))
        places, chances = query_screens(
            self.learner,
            self.X[rows],
            size=size,
            near=min(_NEAR, size - 2),
            random_state=int(self._rng.integers(2**31)),
        )
        # As the file keeps them.
        kept = tuple(float(f"{chance:.6g}") for chance in chances[0])
        return Question(tuple(rows[places[0]].tolist()), kept)

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

    def advice(self, *, left: bool) -> Advice:
        """Say which distance is better, and whether to go on."""
        kinds = self._kinds
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
        """Learn the metric; return whether that was possible."""
        known = Known.of(answers)
        self._kinds = known.kinds
        if not all(known.kinds):
            return False
        rows = np.union1d(self._rows, known.pairs.ravel())
        if known.names:
            y = np.full(len(rows), -1)
            codes = np.unique([*known.names.values()], return_inverse=True)[1]
            y[np.searchsorted(rows, [*known.names])] = codes
            learner = MeanMetric().fit(self.X[rows], y)
        else:
            marks = Marks(np.searchsorted(rows, known.pairs), known.same, rows=len(rows))
            learner = MeanMetric().fit(self.X[rows], marks=marks)
        if len(learner.components_):
            self.learner = learner
        return len(learner.components_) > 0

    def judge(self, answers: Sequence[Answer]) -> None:
        """Judge by the answers; the first time, also at half of them, to draw the curve."""
        screens = Screened.of(answers, sort=self._sort)
        n = len(screens.rows)
        model = MeanMetric() if self._names else PairClassifier()
        for k in (n,) if self._past else (n // 2, n):
            told = screens.rows[:k], screens.said[:k], screens.chances[:k]
            with suppress(ValueError):  # they are too few
                judged = judge_screens(model, self.X, *told)
                self._past = [*(past for past in self._past if past[0] < k), (k, judged)]
        self._places = screens.places

    def odd(self) -> list[Place]:
        """Return the screens whose answers contradict the others, the most doubtful first."""
        doubtful = self._past[-1][1].doubtful if self._past else ()
        return [self._places[k] for k in doubtful if k < len(self._places)]

    def picture(self, answers: Sequence[Answer]) -> dict[str, Any]:
        """Return the points in the plane before and after, for JSON.

        Both show the two leading principal components, turned so that points move as little as
        possible from the one to the other, and scaled to the size of the picture.
        """
        pairs, same, _ = Known.of(answers)
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
