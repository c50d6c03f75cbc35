"""Judge a learned distance by the screens it learned from: no answer is spent on a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.metrics.pairwise import paired_distances
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_array

from .._marks import (
    Marks,
    Rows,
    answers_of_first,
    check_chances,
    contradictory_screens,
    pairs_within,
)
from .._utils._public import publish
from .._utils._typing import Array, Interval
from ._models import check_learner, fit_model, from_device, or_default, transformed
from ._pair_classifier import PairClassifier
from ._screen_auc import ScreenAUC, intervals

_FOLDS = 5
# Rows that are on no screen, for each fit to learn from.
_UNLABELED = 400
# Screens, and answers of each kind, that a judgment needs.
_FEWEST, _FEWEST_OF_KIND = 5, 3
# Rows whose pairs stand for all, and about how many of their pairs.
_ROWS, _PAIRS = 2000, 10_000
# Two distances are about as good if their AUCs differ by no more, with 95 % confidence.
_CLOSE = 0.1
# An answer that the other screens give a smaller chance is doubtful.
_DOUBTFUL = 0.05


@dataclass(frozen=True)
class ScreenJudgment:
    """What screens say about a learned distance: see `judge_screens`.

    Parameters
    ----------
    learned, before, difference : tuple of float
        AUC of the learned distance, AUC of the distance before learning, and how much larger the
        first is: (value, low, high), with a 95 % interval.
    verdict : str
        "better" or "worse" than before learning, if the interval of the difference excludes 0;
        "about as good", if it is within 0.1 of 0; or "open".
    more : int or None
        About how many more screens could settle an open verdict; None if no number of screens
        of these rows could. 0 if it is settled.
    likelihood : ndarray of shape (n_screens, size - 1)
        The chance that the other screens give to each answer about the first row; NaN where the
        person was unsure.
    doubtful : ndarray of int
        Numbers of the screens to look at again, the most doubtful first: those with an answer
        of a likelihood below 0.05, or a pair that another screen answers differently.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import ScreenJudgment
    >>> likely = np.array([[0.9, 0.02]])
    >>> found = ScreenJudgment(
    ...     (0.9, 0.8, 0.95), (0.7, 0.6, 0.8), (0.2, 0.1, 0.3), "better", 0, likely, np.array([0])
    ... )
    >>> found.verdict, found.doubtful.tolist()
    ('better', [0])
    """

    learned: Interval
    before: Interval
    difference: Interval
    verdict: str
    more: int | None
    likelihood: Array
    doubtful: Array


def judge_screens(
    model: Any, X: Any, screens: Any, answers: ArrayLike, chances: ArrayLike
) -> ScreenJudgment:
    """Judge the distance that a model learns from screens, by the same screens.

    The model is fitted to four fifths of the screens, without the rows of the rest, which judge
    it; so each screen is judged by a fit that has not seen its rows. The AUC is the probability
    that a random similar pair of rows like these is nearer than a random dissimilar one.

    Parameters
    ----------
    model : estimator
        A learner of a metric, a pipeline that ends in one, or a :class:`seraph.PairClassifier`.
        It is cloned. Before learning, there is the Euclidean distance of what the learner sees.
    X : array-like of shape (n_samples, n_features)
        The table that the screens are from.
    screens : array-like of shape (n_screens, size)
        Rows of each screen, as :func:`seraph.query_screens` returned them.
    answers : array-like of shape (n_screens, size) or (n_screens, size - 1)
        As for :meth:`seraph.Marks.from_screens`.
    chances : array-like of shape (n_screens, size - 1)
        As :func:`seraph.query_screens` returned them.

    Returns
    -------
    ScreenJudgment
        The AUCs with 95 % intervals, a verdict, and the answers that contradict the others.

    Examples
    --------
    A session of four times five screens. (``species`` stands for the person.)

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from seraph import Marks, judge_screens, query_screens
    >>> from seraph.classic import GMML
    >>> X, species = load_iris(return_X_y=True)
    >>> model, rows, chances = None, np.empty((0, 8), int), np.empty((0, 7))
    >>> for turn in range(4):
    ...     screens, more = query_screens(model, X, n=5, random_state=turn)
    ...     rows, chances = np.vstack([rows, screens]), np.vstack([chances, more])
    ...     answers = species[rows]
    ...     marks = Marks.from_screens(rows, answers, rows=X, chances=chances)
    ...     model = GMML().fit(X, marks=marks)
    >>> judgment = judge_screens(model, X, rows, answers, chances)
    >>> auc, low, high = judgment.learned
    >>> bool(0.8 < low < auc < high)
    True
    """
    model, X = or_default(model), from_device(X)
    if not isinstance(model, PairClassifier):
        check_learner(model)
    rows = Rows.of(X).require(screens, "screens", np.shape(screens)[-1])
    same, known = answers_of_first(answers, rows.shape)
    chances = check_chances(chances, rows.shape)
    n_screens, n_same = known.any(axis=1).sum(), (same & known).sum()
    n_other = known.sum() - n_same
    if n_screens < _FEWEST or min(n_same, n_other) < _FEWEST_OF_KIND:
        raise ValueError(
            f"A judgment needs at least {_FEWEST} answered screens, with {_FEWEST_OF_KIND} rows "
            f"like the first ones and as many that are not; got {n_screens} screens, with "
            f"{n_same} and {n_other}. Answer more screens."
        )
    n = _num_samples(X)
    # The rows of the screens and of pairs that stand for all are enough of the table.
    sample = np.random.default_rng(0).permutation(n)[:_ROWS]
    every = np.zeros(len(sample), dtype=np.intp)
    pairs = sample[pairs_within(every, -(-_PAIRS // len(sample)))]  # each row is in as many
    used, places = np.unique(np.concatenate([rows.ravel(), pairs.ravel()]), return_inverse=True)
    X = X if len(used) == n else _safe_indexing(X, used)
    shown, pairs = places[: rows.size].reshape(rows.shape), places[rows.size :].reshape(-1, 2)
    ranks, everywhere = _held_out_ranks(model, X, shown, np.asarray(answers), chances, pairs)
    judge = ScreenAUC(same, known, chances, ranks, pairs, everywhere)
    found = judge.estimate(np.arange(len(rows)))
    without, likelihood = judge.leave_out(found)
    by_screens, by_rows = judge.variances(found, without, n)
    learned, before, difference = intervals(found, by_screens + by_rows, len(without))
    least = np.fmin.reduce(likelihood, axis=1, initial=1.0)
    least[contradictory_screens(rows, answers)] = 0.0
    order = np.argsort(least, kind="stable")
    return ScreenJudgment(
        learned,
        before,
        difference,
        _verdict(difference),
        _more(difference, by_screens[2], by_rows[2], len(without)),
        likelihood,
        order[least[order] < _DOUBTFUL],
    )


def _held_out_ranks(
    model: Any, X: Any, rows: Array, answers: Array, chances: Array, pairs: Array
) -> tuple[Array, Array]:
    """Return ranks of screens and of `pairs`, learned without the screens' rows and before.

    They have the shapes (n_screens, size - 1, 2) and (folds, pairs, 2).
    """
    points = _unlearned(model.estimator if isinstance(model, PairClassifier) else model, X)
    before, before_all = _ranks(None, points, rows, pairs)
    ranks = np.stack([before, before], axis=-1)
    everywhere = np.tile(np.stack([before_all, before_all], axis=-1), (_FOLDS, 1, 1))
    others = np.setdiff1d(np.arange(_num_samples(X)), rows)
    some = np.random.default_rng(0).permutation(others)[:_UNLABELED]
    for fold in range(_FOLDS):
        own = np.arange(len(rows)) % _FOLDS == fold
        left = np.setdiff1d(np.append(rows, some), rows[own])
        told = rows[~own], answers[~own]
        marks = Marks.from_screens(*told, rows=_num_samples(X), chances=chances[~own])[left]
        if 0 < marks.similar.sum() < len(marks.pairs):  # else nothing is learned
            fitted = _fit(model, _safe_indexing(X, left), marks)
            ranks[own, :, 0], everywhere[fold, :, 0] = _ranks(fitted, X, rows[own], pairs)
    return ranks, everywhere


def _fit(model: Any, X: Any, marks: Marks) -> Any:
    if isinstance(model, PairClassifier):
        try:
            with catch_warnings(action="ignore", category=UserWarning):  # of few pairs
                return clone(model).fit(X, marks=marks)
        except ValueError:  # too few pairs for a decision can do for a distance
            model = or_default(model.estimator)
    return fit_model(clone(model), X, None, marks)


def _unlearned(model: Any, X: Any) -> Any:
    """Return rows as the learner at the end of a pipeline sees them."""
    model = or_default(model)
    while isinstance(model, Pipeline):
        steps, model = model[:-1], model.steps[-1][1]
        X = clone(steps).fit_transform(X) if len(steps) else X
    return X


def _ranks(model: Any, X: Any, rows: Array, pairs: Array) -> tuple[Array, Array]:
    """Return the ranks of each screen's first row with the others among `pairs`, and of those."""
    firsts = np.repeat(rows[:, :1], rows.shape[1] - 1, axis=1)
    both = np.concatenate([pairs, np.column_stack([firsts.ravel(), rows[:, 1:].ravel()])])
    if isinstance(model, PairClassifier):
        d = model.pair_distance(Rows.of(X).name_rows(both), X)
    else:
        Z = check_array(X, accept_sparse="csr") if model is None else transformed(model, X)
        d = paired_distances(Z[both[:, 0]], Z[both[:, 1]])
    ordered = np.sort(d[: len(pairs)])
    nearer, at_most = (np.searchsorted(ordered, d, side) for side in ("left", "right"))
    ranks = 0.5 * (nearer + at_most) / len(ordered)
    return ranks[len(pairs) :].reshape(firsts.shape), ranks[: len(pairs)]


def _verdict(difference: Interval) -> str:
    _, low, high = difference
    if low > 0.0:
        return "better"
    if high < 0.0:
        return "worse"
    return "about as good" if max(-low, high) <= _CLOSE else "open"


def _more(difference: Interval, by_screens: float, by_rows: float, n: int) -> int | None:
    """Return how many screens more could settle it; None if the rows are too few for that."""
    if _verdict(difference) != "open":
        return 0
    d = abs(difference[0])
    room = (max(d, _CLOSE - d) / student.ppf(0.975, n - 2)) ** 2 - by_rows
    return max(1, int(np.ceil(by_screens / room * n)) - n) if room > 0.0 else None


publish(globals(), "seraph", ["ScreenJudgment", "judge_screens"])
