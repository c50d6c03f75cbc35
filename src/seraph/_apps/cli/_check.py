"""Does learning help? Errors on held-out labels or pairs, by the rules in use.

Labels are judged by a `MetricClassifier`, as `seraph predict` decides; pairs by a
`PairClassifier`. Both stand beside the Euclidean distance alone and a guess that is always the
same. Two methods are compared by a sign test.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from ... import Marks, MarksKFold, MetricClassifier, PairClassifier
from ..._utils._typing import Array, BoolArray, FloatArray, IntArray
from ...classic import Euclidean
from ...tables._words import and_more
from ._console import working
from ._examples import Examples
from ._learners import learners, make_learner

SIGNIFICANCE = 0.05
# A fold of pairs takes three fits: one for the metric, two for the threshold.
_FOLDS, _PAIR_FOLDS, _INNER_FOLDS = 5, 3, 2
# Above this number of labels, two folds are enough.
_FEW_LABELS, _FEWER_FOLDS = 200, 2
# Unlabeled rows in a fit, unless more are labeled. More hardly change the errors.
_UNLABELED = 400
# The least power of probabilities: 0 would make all classes equally probable.
_LEAST = 0.05
# Methods to list by name; the rest are counted.
_LISTED = 5
# Rows to learn from, and held-out rows to judge by, of each fold.
Folds: TypeAlias = list[tuple[IntArray, IntArray]]


@dataclass(frozen=True)
class Score:
    """Which held-out rows a method gets wrong, and how many seconds a fit takes."""

    name: str
    wrong: BoolArray
    seconds: float = 0.0

    @property
    def n(self) -> int:
        """Number of held-out rows."""
        return len(self.wrong)

    @property
    def n_wrong(self) -> int:
        """Number of errors."""
        return int(self.wrong.sum())

    @property
    def standard_error(self) -> float:
        """Of the share of errors, with one more of each kind, or 0 would look certain."""
        share = (self.n_wrong + 1) / (self.n + 2)
        return sqrt(share * (1.0 - share) / self.n)

    def cells(self) -> list[str]:
        """Return the cells of a table of errors: the method, how many are wrong, the share."""
        share = f"{100 * self.n_wrong / self.n:.1f} ± {100 * self.standard_error:.1f} %"
        return [self.name, f"{self.n_wrong} of {self.n}", share]

    def values(self) -> dict[str, Any]:
        """Return the errors as plain values, for --json."""
        return {
            "method": self.name,
            "wrong": self.n_wrong,
            "n": self.n,
            "error": self.n_wrong / self.n,
            "standard_error": self.standard_error,
            "seconds_per_fit": self.seconds,
        }


def sign_test(first: Score, second: Score) -> float:
    """Return the exact p-value of a sign test, by the rows that only one method gets right."""
    better = int((~first.wrong & second.wrong).sum())
    n = better + int((first.wrong & ~second.wrong).sum())
    return float(binomtest(better, n).pvalue) if n else 1.0


@dataclass(frozen=True)
class Check:
    """Errors of a learner beside the Euclidean distance and a constant guess, in this order.

    `noun` is what was held out, "labels" or "pairs"; the held-out labels are most probable under
    the class probabilities to the power `sharpness`. `forest_share` is that of the forest.
    """

    scores: Sequence[Score]
    noun: str
    n_folds: int
    sharpness: float = 1.0
    forest_share: float = 0.0

    def verdict(self) -> str:
        """Say what the errors are, and whether they are fewer than those of others."""
        learned, euclidean, guess = self.scores
        compared, clear = [], []
        for other, name in ((euclidean, euclidean.name), (guess, "guessing")):
            p = sign_test(learned, other)
            clear.append(p < SIGNIFICANCE)
            word = "worse" if clear[-1] and other.n_wrong < learned.n_wrong else "better"
            compared.append(
                f"{'' if clear[-1] else 'not clearly '}{word} than {name} (p = {p:.2g})"
            )
        said = (
            f"{learned.n_wrong} of {learned.n} held-out {self.noun} wrong; {euclidean.name}: "
            f"{euclidean.n_wrong}; {guess.name}: {guess.n_wrong}. By a sign test, "
            f"{', '.join(compared)}."
        )
        if clear[0] and euclidean.n_wrong < learned.n_wrong:
            return f"{said} Stay with the Euclidean distance, or try another --scale or --drop."
        return said if clear[1] else f"{said} More labels (seraph ask) or other columns may help."

    def values(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        learned, euclidean, guess = self.scores
        return {
            "held_out": self.noun,
            "n": learned.n,
            "wrong": learned.n_wrong,
            "wrong_euclidean": euclidean.n_wrong,
            "wrong_guess": guess.n_wrong,
            "guess": guess.name,
            "p_value": sign_test(learned, euclidean),
            "p_guess": sign_test(learned, guess),
            "folds": self.n_folds,
            "sharpness": self.sharpness,
            "forest_share": self.forest_share,
            "verdict": self.verdict(),
            "title": f"Error on held-out {self.noun}",
            "rows": [["method", "wrong", "error"], *(score.cells() for score in self.scores)],
        }


def label_folds(codes: IntArray, marks: Marks, *, seed: int) -> Folds:
    """Return folds for `seraph fit` and `compare` alike: rows to learn from, and to judge by.

    There is none if the labels are too few: each fold must leave two classes to learn from.
    """
    folds = []
    n_folds = _FOLDS if np.sum(codes >= 0) <= _FEW_LABELS else _FEWER_FOLDS
    for train, test in _split(codes, marks, n_folds, seed):
        rows = _learn_from(train, codes, marks, seed)
        if len(np.unique(codes[rows][codes[rows] >= 0])) < 2:
            return []
        folds.append((rows, test[codes[test] >= 0]))
    return [fold for fold in folds if len(fold[1])]


def _split(
    codes: IntArray | None, marks: Marks, n: int, seed: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the rows to learn from and those to judge by; none if they cannot be split."""
    folds = MarksKFold(n, shuffle=True, random_state=seed)
    try:
        yield from folds.split(np.empty((len(marks), 1)), codes, marks=marks)
    except ValueError:  # too few labels
        return


def _learn_from(train: IntArray, codes: IntArray, marks: Marks, seed: int) -> IntArray:
    """Return the labeled and marked rows of a training set, and a sample of the others."""
    known = codes >= 0
    known[marks.pairs] = True
    chosen = known[train]
    others = np.flatnonzero(~chosen)
    n = min(len(others), max(_UNLABELED, int(chosen.sum())))
    chosen[np.random.default_rng(seed).choice(others, n, replace=False)] = True
    return train[chosen]


def refit(method: Any, X: Array, y: Any = None, **marks: Any) -> Any:
    """Fit a copy without warnings: the fit on everything has already warned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(method).fit(X, y, **marks)


def judge(
    name: str, method: Any, X: Array, codes: IntArray, folds: Folds, marks: Marks | None = None
) -> tuple[Score, list[Any]]:
    """Return the errors of a classifier on the held-out rows of folds, and its fits."""
    started, fits, wrong = time.perf_counter(), [], []
    for rows, held in folds:
        taught = {} if marks is None else {"marks": marks[rows]}
        fits.append(refit(method, X[rows], codes[rows], **taught))
        wrong.append(fits[-1].predict(X[held]) != codes[held])
    seconds = (time.perf_counter() - started) / len(folds)
    return Score(name, np.concatenate(wrong), seconds), fits


def guess_labels(codes: IntArray, folds: Folds, names: Sequence[str]) -> Score:
    """Return the errors of the most frequent class on held-out rows."""
    guess = int(np.bincount(codes[codes >= 0]).argmax())
    held = np.concatenate([held for _, held in folds])
    return Score(f"always guessing {names[guess]!r}", codes[held] != guess)


# With fewer trees, since trees take more time than the metric.
class _Quick(MetricClassifier):
    _n_trees = 25


class _QuickPairs(PairClassifier):
    _n_trees = 25


def classify(learner: Any, *, forest: bool) -> tuple[str, MetricClassifier]:
    """Return the classifier of `seraph predict`, and its name."""
    name = type(learner).__name__
    if not forest:
        return name, MetricClassifier(learner, rule="mean")
    return f"{name} and a forest", _Quick(learner, rule="all")


def check_labels(
    learner: Any,
    X: Array,
    codes: IntArray,
    marks: Marks,
    *,
    seed: int,
    names: Sequence[str],
    forest: bool,
) -> Check | None:
    """Hold out labels in folds, learn from the rest, and classify the held-out rows.

    `codes` are -1 where the class is unknown, and places in `names` elsewhere. None if the labels
    are too few.
    """
    folds = label_folds(codes, marks, seed=seed)
    if not folds:
        return None
    learned, fits = judge(*classify(learner, forest=forest), X, codes, folds, marks)
    euclidean, _ = judge(*classify(Euclidean(), forest=False), X, codes, folds, marks)
    logs = []
    for model, (_, held) in zip(fits, folds, strict=True):
        logs.append(np.full((len(held), len(names)), -np.inf))
        logs[-1][:, model.classes_] = np.log(model.predict_proba(X[held]))
    judged = codes[np.concatenate([held for _, held in folds])]
    scores = [learned, euclidean, guess_labels(codes, folds, names)]
    sharpness = fit_sharpness(np.vstack(logs), judged)
    return Check(scores, "labels", len(folds), sharpness, fits[0].forest_share_)


def fit_sharpness(logs: FloatArray, codes: IntArray) -> float:
    """Return the power of the class probabilities, 1 or less, that fits held-out rows best.

    A row of a class that its fold has never seen does not count: no power changes its 0.

    Examples
    --------
    >>> sure = np.log([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
    >>> round(fit_sharpness(sure, np.array([0, 0, 1, 1])), 2)
    1.0
    >>> round(fit_sharpness(sure, np.array([0, 1, 0, 1])), 2)
    0.05
    """
    places = np.flatnonzero(np.isfinite(logs[np.arange(len(codes)), codes]))

    def loss(power: float) -> float:
        fitted = log_softmax(power * logs[places], axis=1)
        return -float(fitted[np.arange(len(places)), codes[places]].sum())

    return float(minimize_scalar(loss, bounds=(_LEAST, 1.0), method="bounded").x)


def check_pairs(learner: Any, X: Array, marks: Marks, *, seed: int, forest: bool) -> Check | None:
    """Hold out marked pairs with their rows, learn from the rest, and decide the held-out pairs.

    None if the pairs are too few to learn and to judge a threshold by.
    """
    mostly = bool(2 * np.sum(marks.similar) >= len(marks.similar))
    ours = _QuickPairs(learner, cv=_INNER_FOLDS, forest=forest)
    methods = [ours, PairClassifier(Euclidean(), cv=_INNER_FOLDS, forest=False)]
    wrong = []
    for train, test in _split(None, marks, _PAIR_FOLDS, seed):
        rows, held = _learn_from(train, np.full(len(marks), -1), marks, seed), marks[test]
        try:
            fitted = [refit(method, X[rows], marks=marks[rows]) for method in methods]
        except ValueError:  # too few pairs
            return None
        said = [model.predict(held.pairs, X[test]) == 1 for model in fitted]
        said.append(np.full(len(held.pairs), mostly))
        wrong.append([answers != held.similar for answers in said])
    if not wrong:
        return None
    guess = "similar" if mostly else "dissimilar"
    name = classify(learner, forest=bool(fitted[0].forest_share_))[0]
    names = [name, "Euclidean", f"always guessing {guess!r}"]
    scores = [Score(*both) for both in zip(names, np.hstack(wrong), strict=True)]
    return Check(scores, "pairs", len(wrong))


def make_methods(names: Sequence[str] | None, *, forest: bool) -> dict[str, Any]:
    """Return the classifiers that `seraph compare` compares, by name, the simplest first."""
    chosen = [make_learner(name) for name in names or learners()]
    return {
        **dict([classify(Euclidean(), forest=False)]),
        # Without iterations, self-training is a fit on the labeled rows.
        "logistic regression": SelfTrainingClassifier(
            LogisticRegression(max_iter=1000), max_iter=0
        ),
        "label spreading": LabelSpreading(kernel="knn", n_neighbors=7, max_iter=200),
        "random forest": SelfTrainingClassifier(
            RandomForestClassifier(random_state=0), max_iter=0
        ),
        **dict(classify(learner, forest=forest) for learner in chosen),
    }


def compare_methods(
    methods: Mapping[str, Any], X: Array, examples: Examples, seed: int
) -> list[Score]:
    """Return the scores, best first; a method that fails has none, with a note."""
    folds = label_folds(examples.codes, examples.marks, seed=seed)
    if not folds:
        raise ValueError(
            "Too few labels to compare by: label at least four rows of each of two classes."
        )
    scores = [guess_labels(examples.codes, folds, examples.class_names)]
    with working("comparing") as status:
        for name, method in methods.items():
            status.update(name)
            try:
                scores.append(judge(name, method, X, examples.codes, folds)[0])
            except Exception as error:  # one method that cannot must not end the others
                warnings.warn(f"{name} is left out: {str(error)[:200]}", stacklevel=2)
    return sorted(scores, key=lambda score: score.n_wrong)


def say_best(scores: Sequence[Score], p_values: Sequence[float]) -> str:
    """Say which methods have the fewest errors, and which others may be as good."""
    best = scores[0]
    first = [score.name for score in scores if score.n_wrong == best.n_wrong]
    close = [
        f"{score.name} ({score.n_wrong})"
        for score, p in zip(scores, p_values, strict=True)
        if p >= SIGNIFICANCE and score.n_wrong > best.n_wrong
    ]
    said = (
        f"Fewest errors, {best.n_wrong} of {best.n} held-out labels: "
        f"{and_more(first[:_LISTED], len(first))}."
    )
    tests = f"sign tests, p times {len(scores) - 1}"
    if not close:
        return f"{said} Every other method is worse ({tests}, < {SIGNIFICANCE})."
    return f"{said} Not clearly worse: {and_more(close[:_LISTED], len(close))} ({tests})."
