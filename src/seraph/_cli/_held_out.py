"""Does the learned distance help? Its 1-NN error on held-out labels, beside the Euclidean one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.preprocessing import FunctionTransformer

from .._estimators._neighbors import MetricNeighborsClassifier
from .._typing import BoolArray, IntArray

FOLDS = 5
# With fewer held-out rows, only an enormous difference would be significant.
_FEW_ROWS = 30
_SIGNIFICANCE = 0.05
_ADVICE = (
    "Try more labels (seraph query says which pairs to ask about), another --scale, --drop for "
    "columns that have nothing to do with the classes, or a larger --lam; if nothing helps, stay "
    "with the Euclidean distance."
)


@dataclass(frozen=True)
class HeldOutErrors:
    """Errors of the nearest labeled neighbor on held-out rows, by two distances.

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
    """

    n: int
    wrong: int
    wrong_euclidean: int
    p_value: float
    n_folds: int

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
                for name, wrong in (("SERAPH", self.wrong), ("Euclidean", self.wrong_euclidean))
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
        few = self.n < _FEW_ROWS
        too_few = f"{self.n} labels are too few to tell"
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
        if significant:
            return f"{other} is better {test}. {_ADVICE}"
        return f"{other} looks better, though {doubt}. {_ADVICE}"


def held_out_errors(
    learner: Any,
    points: Any,
    codes: IntArray,
    pairs: IntArray,
    similar: BoolArray,
    *,
    seed: int,
    after_fold: Callable[[], object],
) -> HeldOutErrors | None:
    """Hold out labels a fold at a time, learn from the rest, and classify by 1-NN.

    Held-out rows stay in the fit as unlabeled points, as they would in use. Marked pairs that
    contain them are held out too, since a pair says something about the class of its rows.

    Parameters
    ----------
    learner : estimator
        Learner to judge; a copy is fitted for each fold.
    points : array-like of shape (n, m)
        All points, scaled.
    codes : ndarray of int of shape (n,)
        Class codes, -1 where unknown.
    pairs : ndarray of int of shape (l, 2)
        Marked pairs.
    similar : ndarray of bool of shape (l,)
        Which of them are similar.
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
    right: list[BoolArray] = []
    right_euclidean: list[BoolArray] = []
    for held in folds(codes, seed):
        kept = codes.copy()
        kept[held] = -1
        allowed = ~np.isin(pairs, held).any(axis=1)
        if np.sum(kept >= 0) < 2 and not allowed.any():
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on all labels has already warned
            learned = MetricNeighborsClassifier(learner).fit(
                points, kept, pairs=pairs[allowed], pair_labels=similar[allowed]
            )
        euclidean = MetricNeighborsClassifier(FunctionTransformer()).fit(points, kept)
        right.append(learned.predict(points[held]) == codes[held])
        right_euclidean.append(euclidean.predict(points[held]) == codes[held])
        after_fold()
    if not right:
        return None
    ours, theirs = np.concatenate(right), np.concatenate(right_euclidean)
    better, worse = int(np.sum(ours & ~theirs)), int(np.sum(~ours & theirs))
    return HeldOutErrors(
        n=len(ours),
        wrong=int(np.sum(~ours)),
        wrong_euclidean=int(np.sum(~theirs)),
        p_value=float(binomtest(better, better + worse).pvalue) if better + worse else 1.0,
        n_folds=len(right),
    )


def folds(codes: IntArray, seed: int, n_folds: int = FOLDS) -> list[IntArray]:
    """Deal the labeled rows to folds, so that each has its share of every class.

    A row that is alone in its class is left out: no neighbor could have its class. scikit-learn's
    StratifiedKFold allows no more folds than the largest class has rows; with two labels of each
    class it would hold out half of them.

    Examples
    --------
    >>> [fold.tolist() for fold in folds(np.array([0, 0, 1, 1, 1, 2, -1]), seed=0, n_folds=2)]
    [[0, 2, 3], [1, 4]]
    """
    order = np.random.default_rng(seed).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    sizes = np.bincount(codes[codes >= 0], minlength=1)
    dealt = order[(codes[order] >= 0) & (sizes[codes[order]] > 1)]
    return [np.sort(dealt[k::n_folds]) for k in range(min(n_folds, len(dealt)))]
