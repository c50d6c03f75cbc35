"""Folds for scikit-learn's cross-validation, where only some rows are labeled or marked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from .._marks import Marks, PairLabels
from .._utils._typing import Array
from .._utils._validation import check_flag, check_number, check_seed
from ._folds import assign_folds, restricted


class MarksKFold(BaseCrossValidator):
    """Split rows into folds so that marked pairs stay whole and only known rows are tested.

    Rows of a class are dealt out evenly. Rows that are marked stay together with those they are
    marked with, as far as the folds stay even, and the folds get even shares of similar and
    dissimilar marks. A test set has the labeled and marked rows of one fold; the training set has
    all other rows, with those that have no label or mark. So every score of scikit-learn is
    right on partly labeled data: ``cross_val_score(classifier, X, y, cv=MarksKFold())``.

    With scikit-learn's metadata routing, marks reach the splitter as ``params={"marks": marks}``.
    Without it, pass them in the place of y: ``cross_val_score(SERAPH(), X, marks,
    cv=MarksKFold())``.

    Parameters
    ----------
    n_splits : int, default=5
        Largest number of folds. Fewer are made if the labels do not suffice for so many.
    shuffle : bool, default=False
        Whether to shuffle the rows first.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import Marks, MarksKFold
    >>> marks = Marks([[0, 1], [2, 3], [4, 5], [6, 7]], [1, -1, 1, -1], rows=9)
    >>> splits = MarksKFold(2).split(np.zeros((9, 1)), marks=marks)
    >>> [test.tolist() for train, test in splits]
    [[0, 1, 2, 3], [4, 5, 6, 7]]
    """

    __metadata_request__split: ClassVar = {"marks": True}

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
        marks: Marks | None = None,
    ) -> Iterator[tuple[Array, Array]]:
        """Yield the row numbers of the training set and of the test set of each split.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All points.
        y : array-like of shape (n_samples,), optional
            Class labels, as in ``fit``; or marks.
        groups
            Not used; part of the signature of every splitter.
        marks : Marks, optional
            Marks of the rows.

        Yields
        ------
        train, test : ndarray of int
            Row numbers.
        """
        rng = check_random_state(self.random_state) if self.shuffle else None
        labels = PairLabels.of(X, _num_samples(X), y, marks)
        fold = assign_folds(labels, self._n_folds(labels), rng)
        if fold.max() < 1:
            raise ValueError(
                f"{labels.n_labeled} labeled pairs of {labels.n_labeled_rows} rows cannot be "
                "split: mark more pairs, or label more rows of each class."
            )
        for number in range(fold.max() + 1):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

    def get_n_splits(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        groups: None = None,
        *,
        marks: Marks | None = None,
    ) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups, marks
            What ``split`` is called with.

        Returns
        -------
        int
            The number of folds of these data; `n_splits` without data.
        """
        if X is None or (y is None and marks is None):
            return self.n_splits
        return self._n_folds(PairLabels.of(X, _num_samples(X), y, marks))

    def _n_folds(self, labels: PairLabels) -> int:
        """Return the largest number of folds with pairs of both kinds in each, if there is one.

        It is that of rows in their order, so it is the same whenever it is asked for.
        """
        for n in range(self.n_splits, 1, -1):
            fold = assign_folds(labels, n)
            parts = [restricted(labels, np.flatnonzero(fold == k)) for k in range(fold.max() + 1)]
            if all(part is not None and part.n_similar and part.n_dissimilar for part in parts):
                return len(parts)
        return int(assign_folds(labels, self.n_splits).max()) + 1
