"""Does the learned distance help? Its errors on held-out labels or pairs, beside the Euclidean's.

Labels are judged by a vote of the labeled rows, pairs by a threshold on their distance, and both
beside a guess that is always the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from ... import Marks, MetricClassifier
from ..._utils._folds import choose_shared_points, deal_classes
from ..._utils._threshold import choose_threshold
from ..._utils._typing import Array, BoolArray, IntArray
from ._errors import HeldOutErrors, sign_test

FOLDS = 5
# The folds, and the two classifiers of each, take no longer than three fits of all rows, or than a
# second. So more labels than _FEW_LABELS have fewer folds; held-out rows are not put back as
# unlabeled ones where most rows have labels; and of more rows than _FEW_ROWS, unlabeled ones are
# left out: all folds together have twice the rows of the table, unless more are labeled.
_FEW_LABELS, _FEWER_FOLDS, _FEW_ROWS, _FITS = 200, 2, 300, 2


@dataclass(frozen=True)
class Fold:
    """Labels to hold out, and what to learn from instead.

    Parameters
    ----------
    held : ndarray of int
        Rows whose labels are held out.
    rows : ndarray of int
        Rows to learn from.
    kept : ndarray of int
        Class codes of all rows, -1 where unknown or held out.
    marks : Marks
        Marked pairs of all rows, without those of held-out ones.
    """

    held: IntArray
    rows: IntArray
    kept: IntArray
    marks: Marks

    @property
    def teaches(self) -> bool:
        """Whether there is something to learn from."""
        return int(np.sum(self.kept >= 0)) >= 2 or len(self.marks.pairs) > 0

    def wrong(self, method: Any, points: Array, codes: IntArray) -> BoolArray:
        """Fit a copy of a classifier; return which held-out rows it gets wrong."""
        marks = {"marks": self.marks[self.rows]} if _takes_marks(method) else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on all labels has already warned
            fitted = clone(method).fit(points[self.rows], self.kept[self.rows], **marks)
            found: BoolArray = fitted.predict(points[self.held]) != codes[self.held]
        return found


def by_vote(learner: Any = None) -> MetricClassifier:
    """Return what judges a distance: a vote of the labeled rows, by default in their own space.

    A linear rule would make up for features that a distance drowns in.
    """
    return MetricClassifier(FunctionTransformer() if learner is None else learner, rule="vote")


def _takes_marks(method: Any) -> bool:
    return isinstance(method, MetricClassifier) and not isinstance(
        method.estimator, FunctionTransformer
    )


def label_folds(codes: IntArray, marks: Marks, *, seed: int) -> list[Fold]:
    """Deal the labels to folds, for `seraph fit` and `seraph compare` alike.

    Held-out rows stay in the fit as unlabeled points, as they would in use, unless most rows have
    labels. Marked pairs that contain them are held out too, since a pair says something about the
    class of its rows. There is no fold if no class has two labels, so that no neighbor could be
    right, or if nothing would be left to learn from.
    """
    dealt = []
    for held in folds(codes, seed, n_folds(codes)):
        kept = codes.copy()
        kept[held] = -1
        known = _without(held, marks)
        dealt.append(Fold(held, _rows_to_learn_from(codes, held, known.pairs), kept, known))
    return dealt if all(fold.teaches for fold in dealt) else []


def most_frequent(codes: IntArray) -> int:
    """Return the code of the most frequent class."""
    return int(np.bincount(codes[codes >= 0]).argmax())


def held_out_errors(
    learner: Any,
    points: Any,
    codes: IntArray,
    marks: Marks,
    *,
    seed: int,
    after_fold: Callable[[], object],
    names: Sequence[str] | None = None,
) -> HeldOutErrors | None:
    """Hold out labels a fold at a time, learn from the rest, and classify by a vote.

    A copy of the learner is fitted for each fold. `codes` are -1 where the class is unknown;
    `names` has the names of the classes, in the order of their codes. None if no label can be held
    out.
    """
    points = np.asarray(points)
    guess = most_frequent(codes)
    results = []
    for fold in label_folds(codes, marks, seed=seed):
        wrong = [fold.wrong(by_vote(one), points, codes) for one in (learner, None)]
        results.append(np.array([*wrong, codes[fold.held] != guess]))
        after_fold()
    if not results:
        return None
    found = _compared(results, learner, "labels", str(guess) if names is None else names[guess])
    n_labels = int(np.sum(codes >= 0))
    return replace(found, alone=n_labels - found.n, all_labeled=n_labels == len(codes))


def _without(held: IntArray, marks: Marks) -> Marks:
    """Return the marks of pairs without a held-out row."""
    left = ~np.isin(marks.pairs, held).any(axis=1)
    return Marks(
        marks.pairs[left], marks.labels[left], weights=marks.weights[left], rows=len(marks)
    )


def n_folds(codes: IntArray) -> int:
    """Return how many folds the labels of a check are dealt to, at most."""
    return FOLDS if np.sum(codes >= 0) <= _FEW_LABELS else _FEWER_FOLDS


def _rows_to_learn_from(codes: IntArray, held: IntArray, pairs: IntArray) -> IntArray:
    """Return the rows of a fold, few enough for all folds to take no longer than three fits."""
    known = codes >= 0
    mostly = np.mean(known) > 0.5
    known[pairs] = True
    most = max(_FEW_ROWS, _FITS * len(codes) // n_folds(codes))
    rows = choose_shared_points(np.where(known, 0, -1), most)
    return np.setdiff1d(rows, held) if mostly else rows


def _compared(results: Sequence[BoolArray], learner: Any, noun: str, guess: str) -> HeldOutErrors:
    """Count what the learned distance, the Euclidean one and a guess got wrong in the folds."""
    ours, theirs, guessed = np.hstack(results)
    return HeldOutErrors(
        n=len(ours),
        wrong=int(ours.sum()),
        wrong_euclidean=int(theirs.sum()),
        p_value=sign_test(ours, theirs),
        n_folds=len(results),
        guess=guess,
        wrong_guess=int(guessed.sum()),
        p_guess=sign_test(ours, guessed),
        name=type(learner).__name__,
        noun=noun,
    )


def held_out_pair_errors(
    learner: Any, points: Any, marks: Marks, *, seed: int, after_fold: Callable[[], object]
) -> HeldOutErrors | None:
    """Hold out marked pairs a fold at a time, learn from the rest, and tell similar ones apart.

    The threshold is the one that errs least on the other pairs. None if there are not two similar
    and two dissimilar pairs.
    """
    points = np.asarray(points)
    pairs, similar = marks.pairs, marks.similar
    if min(similar.sum(), (~similar).sum()) < 2:
        return None
    euclidean = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    mostly_similar = bool(2 * similar.sum() >= len(similar))
    results: list[BoolArray] = []
    no_labels = np.full(len(points), -1)
    rows = _rows_to_learn_from(no_labels, no_labels[:0], pairs)
    for held in folds(similar.astype(np.intp), seed):
        kept = np.setdiff1d(np.arange(len(pairs)), held)
        if similar[kept].all() or not similar[kept].any():
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on all pairs has already warned
            known = Marks(pairs[kept], similar[kept], rows=len(points))[rows]
            learned = clone(learner).fit(points[rows], marks=known)
        wrong = [
            (distances[held] <= choose_threshold(distances[kept], similar[kept])) != similar[held]
            for distances in (learned.pair_distance(pairs, points), euclidean)
        ]
        results.append(np.array([*wrong, similar[held] != mostly_similar]))
        after_fold()
    return _compared(results, learner, "pairs", "similar" if mostly_similar else "dissimilar")


def folds(codes: IntArray, seed: int, n: int = FOLDS) -> list[IntArray]:
    """Deal the labeled rows to folds, so that each has its share of every class.

    A row that is alone in its class is left out: no neighbor could have its class. scikit-learn's
    StratifiedKFold allows no more folds than the largest class has rows; with two labels of each
    class it would hold out half of them.

    Examples
    --------
    >>> [fold.tolist() for fold in folds(np.array([0, 0, 1, 1, 1, 2, -1]), seed=0, n=2)]
    [[0, 2, 3], [1, 4]]
    """
    sizes = np.bincount(codes[codes >= 0], minlength=1)
    in_company = np.where((codes >= 0) & (sizes[codes] > 1), codes, -1)
    fold = deal_classes(in_company, n, np.random.default_rng(seed).permutation(len(codes)))
    return [np.flatnonzero(fold == k) for k in range(fold.max(initial=-1) + 1)]
