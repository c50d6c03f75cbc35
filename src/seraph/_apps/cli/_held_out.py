"""Does the learned distance help? Errors on held-out labels or pairs, by the rules in use.

Labels are judged by a `MetricClassifier`, as `seraph predict` decides; pairs by a
`PairClassifier`; and both beside a guess that is always the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.base import clone

from ... import Marks, MarksKFold, MetricClassifier, PairClassifier
from ...classic import Euclidean
from ..ask._arrays import Array, FloatArray, IntArray
from ._errors import Check, Score

# A fold of pairs takes three fits: one for the metric, two for the threshold.
_FOLDS, _PAIR_FOLDS, _INNER_FOLDS = 5, 3, 2
# Above this number of labels, two folds are enough.
_FEW_LABELS, _FEWER_FOLDS = 200, 2
# Unlabeled rows in a fit, unless more are labeled. More hardly change the errors.
_UNLABELED = 400
# The least power of probabilities: 0 would make all classes equally probable.
_LEAST = 0.05


def label_folds(codes: IntArray, marks: Marks, *, seed: int) -> list[tuple[IntArray, IntArray]]:
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


def guess_labels(codes: IntArray, held: IntArray, names: Sequence[str]) -> Score:
    """Return the errors of the most frequent class on held-out rows."""
    guess = int(np.bincount(codes[codes >= 0]).argmax())
    return Score(f"always {names[guess]!r}", codes[held] != guess)


def check_labels(
    learner: Any, X: Array, codes: IntArray, marks: Marks, *, seed: int, names: Sequence[str]
) -> Check | None:
    """Hold out labels in folds, learn from the rest, and classify the held-out rows.

    `codes` are -1 where the class is unknown, and places in `names` elsewhere. None if the labels
    are too few.
    """
    folds = label_folds(codes, marks, seed=seed)
    if not folds:
        return None
    methods = [MetricClassifier(learner), MetricClassifier(Euclidean())]
    wrong, logs = [], []
    for rows, held in folds:
        fitted = [refit(method, X[rows], codes[rows], marks=marks[rows]) for method in methods]
        wrong.append([model.predict(X[held]) != codes[held] for model in fitted])
        logs.append(np.full((len(held), len(names)), -np.inf))
        logs[-1][:, fitted[0].classes_] = np.log(fitted[0].predict_proba(X[held]))
    judged = np.concatenate([held for _, held in folds])
    both = zip((type(learner).__name__, "Euclidean"), np.hstack(wrong), strict=True)
    scores = [*(Score(*each) for each in both), guess_labels(codes, judged, names)]
    return Check(scores, "labels", len(folds), fit_sharpness(np.vstack(logs), codes[judged]))


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


def check_pairs(learner: Any, X: Array, marks: Marks, *, seed: int) -> Check | None:
    """Hold out marked pairs with their rows, learn from the rest, and decide the held-out pairs.

    None if the pairs are too few to learn and to judge a threshold by.
    """
    mostly = bool(2 * np.sum(marks.similar) >= len(marks.similar))
    methods = [PairClassifier(one, cv=_INNER_FOLDS) for one in (learner, Euclidean())]
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
    names = [type(learner).__name__, "Euclidean", f"always {guess!r}"]
    scores = [Score(*both) for both in zip(names, np.hstack(wrong), strict=True)]
    return Check(scores, "pairs", len(wrong))
