"""Cross-validation on marked pairs, for scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from .._pairs import PairLabels, RowNames
from .._typing import Array
from .._validation import check_choice, check_flag, check_number, check_seed
from ..metrics import equal_error_rate, pair_auc
from ._folds import assign_folds


class PairKFold(BaseCrossValidator):
    """Split points into folds so that marked pairs stay whole and no point is on both sides.

    Points of a class are dealt out evenly. Points that are marked pairwise stay together with
    those they are marked with, as far as the folds stay even, and the folds get even shares of
    similar and dissimilar marks. A test set holds the labeled and marked points of one fold; the
    training set holds all other points, with those that have no label or mark.

    With scikit-learn's metadata routing, ``cross_val_score(SERAPH(), X, params={"pairs": ...,
    "pair_labels": ...}, cv=PairKFold())`` passes the pairs to the splitter, the learner and its
    ``score``. Without it, pass ``cv=list(PairKFold().split(X, pairs=..., pair_labels=...))``.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds. Fewer are made if the labels do not suffice for so many.
    shuffle : bool, default=False
        Whether to shuffle the points first.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import PairKFold
    >>> X, pairs = np.zeros((9, 1)), [[0, 1], [2, 3], [4, 5], [6, 7]]
    >>> splits = PairKFold(2).split(X, pairs=pairs, pair_labels=[1, -1, 1, -1])
    >>> [test.tolist() for train, test in splits]
    [[0, 1, 2, 3], [4, 5, 6, 7]]
    """

    __metadata_request__split: ClassVar = {"pairs": True, "pair_labels": True, "ids": True}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        check_number("n_splits", n_splits, low=2, integer=True)
        check_flag("shuffle", shuffle)
        check_seed(random_state)
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def split(
        self,
        X: Any,
        y: ArrayLike | None = None,
        groups: None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
        ids: ArrayLike | None = None,
    ) -> Iterator[tuple[Array, Array]]:
        """Yield the row numbers of the training set and of the test set of each split.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All points.
        y : array-like of shape (n_samples,), optional
            Class labels, as in ``fit``.
        groups
            Not used; part of the signature of every splitter.
        pairs, pair_labels, ids : array-like, optional
            Marked pairs, as in ``fit``.

        Yields
        ------
        train, test : ndarray of int
            Row numbers.
        """
        names = None if pairs is None else RowNames.of(X, ids, pairs)
        labels = PairLabels.make(_num_samples(X), y, pairs, pair_labels, names=names)
        rng = check_random_state(self.random_state) if self.shuffle else None
        fold = assign_folds(labels, self.n_splits, rng)
        if fold.max() < 1:
            raise ValueError(
                f"{labels.n_labeled} labeled pairs of {labels.n_labeled_rows} points cannot be "
                "split: mark more pairs, or label more rows of each class."
            )
        for number in range(fold.max() + 1):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

    def get_n_splits(self, X: Any = None, y: ArrayLike | None = None, groups: None = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups
            Not used; part of the signature of every splitter.

        Returns
        -------
        int
            `n_splits`.
        """
        return self.n_splits


@dataclass(frozen=True)
class PairScorer:
    """Score a learner on the marked pairs whose rows are in the test set, for ``scoring=``.

    For cross-validation without metadata routing, where a learner's own ``score`` is not told of
    the pairs. X must be a DataFrame, whose index names the rows.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2)
        Marked pairs: labels of the index of X.
    pair_labels : array-like of shape (n_pairs,)
        +1 or True for pairs that are alike, -1 or False for pairs that are not.
    figure : {"auc", "equal_error_rate"}, default="auc"
        What to compute. The error rate is negative, so that higher is better.

    Examples
    --------
    >>> import pandas as pd
    >>> from seraph import PairScorer
    >>> from seraph.classic import Euclidean
    >>> X = pd.DataFrame({"x": [0.0, 1.0, 5.0]}, index=["a", "b", "c"])
    >>> score = PairScorer([["a", "b"], ["c", "b"], ["a", "z"]], [1, -1, -1])
    >>> score(Euclidean().fit(X), X)
    1.0
    """

    pairs: ArrayLike
    pair_labels: ArrayLike
    figure: Literal["auc", "equal_error_rate"] = "auc"

    def __call__(self, estimator: Any, X: Any, y: ArrayLike | None = None) -> float:
        """Score the marked pairs of the rows of `X`; `y` is not used."""
        names = RowNames.of(X, None, self.pairs, "drop")
        if names.row_of is None:
            raise ValueError(
                "PairScorer finds the rows of pairs by the index of a DataFrame, and X is a "
                f"{type(X).__name__}: pass X as a DataFrame, or use metadata routing with ids."
            )
        n = _num_samples(X)
        labels = PairLabels.make(n, None, self.pairs, self.pair_labels, names=names)
        figures = {"auc": pair_auc, "equal_error_rate": equal_error_rate}
        check_choice("figure", self.figure, tuple(figures))
        value = figures[self.figure](
            np.asarray(estimator.transform(X)), pairs=labels.pairs, pair_labels=labels.similar
        )
        return value if self.figure == "auc" else -value
