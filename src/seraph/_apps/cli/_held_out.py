"""Does the learned distance help? Its errors on held-out labels or pairs, beside the Euclidean's.

Labels are judged by MetricClassifier, pairs by a threshold on their distance.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from ... import Marks, MetricClassifier
from ..._utils._folds import choose_shared_points, deal_classes
from ..._utils._threshold import choose_threshold
from ..._utils._typing import Array, BoolArray, IntArray

FOLDS = 5
# With fewer held-out rows, only an enormous difference would be significant.
_FEW_HELD_OUT = 30
_SIGNIFICANCE = 0.05
_MORE_LABELS = "more labels (seraph query says which pairs to ask about), "
_ADVICE = (
    "another --scale, --drop for columns that have nothing to do with the classes, or a larger "
    "--lam; if nothing helps, stay with the Euclidean distance."
)
# The folds, and the two classifiers of each, take no longer than three fits of all rows, or than a
# second ("Selection" in benchmarks/RESULTS.md). So more labels than _FEW_LABELS have fewer folds;
# held-out rows are not put back as unlabeled ones where most rows have labels; and of more rows
# than _FEW_ROWS, unlabeled ones are left out: all folds together have twice the rows of the table,
# unless more are labeled.
_FEW_LABELS, _FEWER_FOLDS, _FEW_ROWS, _FITS = 200, 2, 300, 2


@dataclass(frozen=True)
class HeldOutErrors:
    """Errors on held-out labels or pairs, by two distances.

    Parameters
    ----------
    n : int
        Number of rows held out, a fold at a time.
    wrong, wrong_euclidean : int
        How many of them each distance got wrong.
    p_value : float
        p-value of the exact sign test on the rows where the two distances disagree.
    n_folds : int
        Number of folds.
    name : str, default="SERAPH"
        Name of the learner.
    noun : {"labels", "pairs"}, default="labels"
        What was held out.
    all_labeled : bool, default=False
        Whether there is no row left to label.
    """

    n: int
    wrong: int
    wrong_euclidean: int
    p_value: float
    n_folds: int
    name: str = "SERAPH"
    noun: str = "labels"
    all_labeled: bool = False

    @property
    def title(self) -> str:
        """Title of the table."""
        if self.noun == "pairs":
            return "Error on held-out pairs: similar, or not, by a threshold on the distance"
        return "Error on held-out labels"

    @property
    def method(self) -> str:
        """How it was computed, in two sentences."""
        if self.noun == "pairs":
            return (
                f"Marked pairs were held out, a fold at a time ({self.n_folds} folds). Each time, "
                "the distance and a threshold were learned from the rest, and each held-out pair "
                "was called similar if it is closer than the threshold."
            )
        return (
            f"Labels were held out, a fold at a time ({self.n_folds} folds). Each time, the "
            "distance was learned from the rest (of many unlabeled rows, from some), and "
            "each held-out row got the class that is most probable by the labeled rows around it, "
            "as in seraph predict."
        )

    def values(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        return {
            "held_out": self.noun,
            "n": self.n,
            "wrong": self.wrong,
            "wrong_euclidean": self.wrong_euclidean,
            "p_value": self.p_value,
            "folds": self.n_folds,
            "verdict": self.verdict(),
        }

    def rows(self) -> list[list[str]]:
        """Return the comparison as a table, headings first."""
        return [
            ["distance", "wrong", "error"],
            *(
                [
                    name,
                    f"{wrong} of {self.n}",
                    f"{100 * wrong / self.n:.1f} ± {self._standard_error(wrong):.1f} %",
                ]
                for name, wrong in ((self.name, self.wrong), ("Euclidean", self.wrong_euclidean))
            ),
        ]

    def _standard_error(self, wrong: int) -> float:
        """Return the standard error in %.

        It counts one more right row and one more wrong row, or an error of 0 would look certain.
        """
        share = (wrong + 1) / (self.n + 2)
        return 100.0 * float(np.sqrt(share * (1.0 - share) / self.n))

    def verdict(self) -> str:
        """Say in a sentence or two what the errors mean."""
        few = self.n < _FEW_HELD_OUT
        too_few = f"{self.n} {self.noun} are too few to tell"
        if self.wrong == self.wrong_euclidean:
            rest = f", and {too_few} them apart" if few else ""
            return f"The learned distance is as good as the Euclidean one{rest}."
        test = f"(sign test, p = {self.p_value:.2g})"
        significant = self.p_value < _SIGNIFICANCE
        doubt = too_few if few else f"that may be chance {test}"
        if self.wrong < self.wrong_euclidean:
            if significant:
                return f"The learned distance is better than the Euclidean one {test}."
            return f"The learned distance looks better, but {doubt}."
        other = "The Euclidean distance of the scaled features"
        advice = f"Try {'' if self.all_labeled else _MORE_LABELS}{_ADVICE}"
        if significant:
            return f"{other} is better {test}. {advice}"
        return f"{other} looks better, though {doubt}. {advice}"


def held_out_errors(
    learner: Any,
    points: Any,
    codes: IntArray,
    marks: Marks,
    *,
    seed: int,
    after_fold: Callable[[], object],
) -> HeldOutErrors | None:
    """Hold out labels a fold at a time, learn from the rest, and classify by MetricClassifier.

    Held-out rows stay in the fit as unlabeled points, as they would in use, unless most rows have
    labels. Marked pairs that contain them are held out too, since a pair says something about the
    class of its rows.

    Parameters
    ----------
    learner : estimator
        Learner to judge; a copy is fitted for each fold.
    points : array-like of shape (n, m)
        All points, scaled.
    codes : ndarray of int of shape (n,)
        Class codes, -1 where unknown.
    marks : Marks
        Marked pairs.
    seed : int
        Seed of the shuffle.
    after_fold : callable
        Called after each fold.

    Returns
    -------
    HeldOutErrors or None
        None if no class has two labels, so that no neighbor could be right, or if nothing would
        be left to learn from.
    """
    points = np.asarray(points)
    results: list[BoolArray] = []
    for held in folds(codes, seed, n_folds(codes)):
        kept = codes.copy()
        kept[held] = -1
        if np.sum(kept >= 0) < 2 and not len(_without(held, marks).pairs):
            return None
        results.append(_classified(learner, points, codes, kept, held, marks))
        after_fold()
    if not results:
        return None
    return replace(_compared(results, learner, "labels"), all_labeled=bool(np.all(codes >= 0)))


def _classified(
    learner: Any, points: Array, codes: IntArray, kept: IntArray, held: IntArray, marks: Marks
) -> BoolArray:
    """Learn from the kept labels; return which held-out rows each distance classifies right."""
    known = _without(held, marks)
    rows = _rows_to_learn_from(codes, held, known.pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit on all labels has already warned
        learned = MetricClassifier(learner, rule="vote")
        learned.fit(points[rows], kept[rows], marks=known[rows])
    # By the vote alone: a linear rule would make up for features that a distance drowns in.
    euclidean = MetricClassifier(FunctionTransformer(), rule="vote").fit(points[rows], kept[rows])
    return np.array([c.predict(points[held]) == codes[held] for c in (learned, euclidean)])


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


def _compared(results: Sequence[BoolArray], learner: Any, noun: str) -> HeldOutErrors:
    """Count the errors of folds: which rows the learned and the Euclidean distance got right."""
    ours, theirs = np.hstack(results)
    better, worse = int(np.sum(ours & ~theirs)), int(np.sum(~ours & theirs))
    return HeldOutErrors(
        n=len(ours),
        wrong=int(np.sum(~ours)),
        wrong_euclidean=int(np.sum(~theirs)),
        p_value=float(binomtest(better, better + worse).pvalue) if better + worse else 1.0,
        n_folds=len(results),
        name=type(learner).__name__,
        noun=noun,
    )


def held_out_pair_errors(
    learner: Any, points: Any, marks: Marks, *, seed: int, after_fold: Callable[[], object]
) -> HeldOutErrors | None:
    """Hold out marked pairs a fold at a time, learn from the rest, and tell similar ones apart.

    The threshold is the one that errs least on the other pairs.

    Parameters
    ----------
    learner : estimator
        Learner to judge; a copy is fitted for each fold.
    points : array-like of shape (n, m)
        All points, scaled.
    marks : Marks
        Marked pairs.
    seed : int
        Seed of the shuffle.
    after_fold : callable
        Called after each fold.

    Returns
    -------
    HeldOutErrors or None
        None if there are not two similar and two dissimilar pairs.
    """
    points = np.asarray(points)
    pairs, similar = marks.pairs, marks.similar
    if min(similar.sum(), (~similar).sum()) < 2:
        return None
    euclidean = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
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
        right = [
            (distances[held] <= choose_threshold(distances[kept], similar[kept])) == similar[held]
            for distances in (learned.pair_distance(pairs, points), euclidean)
        ]
        results.append(np.array(right))
        after_fold()
    return _compared(results, learner, "pairs")


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
