"""Does the learned distance help? Its 1-NN error on held-out labels, beside the Euclidean one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

FOLDS = 5
# With fewer held-out rows a difference would have to be enormous to show.
_FEW = 30
_LEVEL = 0.05


@dataclass(frozen=True)
class Check:
    """What was found on the rows that could be held out.

    Parameters
    ----------
    n : int
        Number of rows that were held out, in turn.
    wrong, wrong_euclidean : int
        How many of them the nearest labelled neighbour got wrong, by either distance.
    p_value : float
        Of the exact sign test on the rows that the two distances disagree about.
    n_folds : int
        Number of parts they were held out in.
    """

    n: int
    wrong: int
    wrong_euclidean: int
    p_value: float
    n_folds: int

    def rows(self) -> list[list[str]]:
        """The comparison as a table, the headings first."""
        found = [("SERAPH", self.wrong), ("Euclidean", self.wrong_euclidean)]
        return [
            ["distance", "wrong", "error"],
            *(
                [
                    name,
                    f"{wrong} of {self.n}",
                    f"{100 * wrong / self.n:.1f} ± {self._spread(wrong):.1f} %",
                ]
                for name, wrong in found
            ),
        ]

    def _spread(self, wrong: int) -> float:
        """Standard error in %; of one row more of each kind, or none wrong would be certain."""
        share = (wrong + 1) / (self.n + 2)
        return 100.0 * float(np.sqrt(share * (1.0 - share) / self.n))

    def verdict(self) -> str:
        """What that says, in a sentence or two."""
        n, p = self.n, f"sign test, p = {self.p_value:.2g}"
        sure = self.p_value < _LEVEL
        if self.wrong < self.wrong_euclidean:
            if sure:
                return f"The learned distance is better than the Euclidean one ({p})."
            if n < _FEW:
                return f"The learned distance looks better, but {n} labels are too few to tell."
            return f"The learned distance looks better, but that may be chance ({p})."
        if self.wrong > self.wrong_euclidean:
            if sure:
                return f"The Euclidean distance of the scaled features is better ({p}). {_TRY}"
            start = "The Euclidean distance of the scaled features looks better"
            if n < _FEW:
                return f"{start}, though {n} labels are too few to tell. {_TRY}"
            return f"{start}, though that may be chance ({p}). {_TRY}"
        few = f", and {n} labels are too few to tell them apart" if n < _FEW else ""
        return f"The learned distance is as good as the Euclidean one{few}."


_TRY = (
    "Try more labels (seraph query says which pairs to ask about), another --scale, --drop for "
    "columns that have nothing to do with the classes, or a larger --lam; if nothing helps, stay "
    "with the Euclidean distance."
)


def check(
    learner: Any,
    points: Any,
    codes: NDArray,
    pairs: NDArray,
    similar: NDArray,
    *,
    seed: int,
    watch: Callable[[], object],
) -> Check | None:
    """Hold out labels in turn, learn from the rest, and ask the nearest labelled neighbour.

    The held-out rows stay as unlabelled points, as in use. Marked pairs that they stand in are
    held out with them, since those tell of their classes.

    Parameters
    ----------
    learner : estimator
        The learner; a copy is fitted for each part.
    points : array-like of shape (n, m)
        All points, scaled.
    codes : ndarray of int of shape (n,)
        Class codes, -1 where unknown.
    pairs : ndarray of int of shape (l, 2)
        Marked pairs.
    similar : ndarray of bool of shape (l,)
        Which are alike.
    seed : int
        Of the shuffle.
    watch : callable
        Called after each part.

    Returns
    -------
    Check or None
        None where no class has two labels, and a neighbour could never be right; or where
        nothing would be left to learn from.
    """
    points = np.asarray(points)
    folds = deal(codes, seed)
    right: list[NDArray] = []
    right_euclidean: list[NDArray] = []
    for number in range(folds.max() + 1):
        held = folds == number
        kept = np.where(held, -1, codes)
        apart = ~held[pairs].any(axis=1)
        if np.sum(kept >= 0) < 2 and not apart.any():
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on all labels has said what there is to say
            fitted = clone(learner).fit(
                points, kept, pairs=pairs[apart], pair_labels=similar[apart]
            )
        known = kept >= 0
        mapped = fitted.transform(points)
        if mapped.shape[1] == 0:
            mapped = np.zeros((len(points), 1))
        for space, results in ((mapped, right), (points, right_euclidean)):
            nearest = KNeighborsClassifier(1).fit(space[known], codes[known])
            results.append(nearest.predict(space[held]) == codes[held])
        watch()
    if not right:
        return None
    ours, euclidean = np.concatenate(right), np.concatenate(right_euclidean)
    better, worse = int(np.sum(ours & ~euclidean)), int(np.sum(~ours & euclidean))
    return Check(
        n=len(ours),
        wrong=int(np.sum(~ours)),
        wrong_euclidean=int(np.sum(~euclidean)),
        p_value=float(binomtest(better, better + worse).pvalue) if better + worse else 1.0,
        n_folds=len(right),
    )


def deal(codes: NDArray, seed: int, n_folds: int = FOLDS) -> NDArray:
    """Deal the labelled rows to folds, each its share of every class; -1 for the others.

    A row that is alone in its class is not dealt: no neighbour could have its class.

    Examples
    --------
    >>> deal(np.array([0, 0, 1, 1, 1, 2, -1]), seed=0, n_folds=2).tolist()
    [0, 1, 0, 0, 1, -1, -1]
    """
    order = np.random.default_rng(seed).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    sizes = np.bincount(codes[codes >= 0], minlength=1)
    dealt = order[(codes[order] >= 0) & (sizes[codes[order]] > 1)]
    folds = np.full(len(codes), -1)
    folds[dealt] = np.arange(len(dealt)) % min(n_folds, max(1, len(dealt)))
    return folds
