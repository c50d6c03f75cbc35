"""Folds for cross-validation on pairs: points are split, so that none is on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from .._marks import Marks, PairLabels, is_frame
from .._utils._public import publish
from .._utils._typing import Array
from .._utils._validation import check_number, check_rows_by_number

# Marked pairs per fold from which on it may split points that are marked with each other.
_MARKS = 10


def assign_folds(
    labels: PairLabels, n_folds: int, rng: np.random.RandomState | None = None
) -> Array:
    """Assign the points of labeled pairs and triplets to folds.

    Points of a class are dealt out one by one, so that each fold gets its share of every
    class. Points that are only marked pairwise stay together with those they are marked with,
    as far as the folds stay even, and each fold gets its share of both kinds. A fold needs two
    points of a class for a similar pair, or ten marked pairs for each fold if their points cannot
    stay together, so there may be fewer than `n_folds`. `rng` shuffles the points first.

    Returns the fold of each point; -1 for points in no labeled pair or triplet.
    """
    order = np.arange(len(labels.codes)) if rng is None else rng.permutation(len(labels.codes))
    groups = _group_marked(labels, order)
    sizes = np.bincount(labels.codes[labels.codes >= 0], minlength=1)
    total = sum(map(len, groups))
    n_marks = len(labels.pairs) + len(labels.triplets)
    n_folds = max(1, min(n_folds, max(int(sizes.max()) // 2, len(groups), n_marks // _MARKS)))
    rows = order[np.argsort(labels.codes[order], kind="stable")]
    rows = rows[labels.codes[rows] >= 0]
    fold = np.full(len(order), -1)
    fold[rows] = np.arange(len(rows)) % n_folds
    filled = np.zeros(n_folds, dtype=int)
    kind = np.zeros(len(order))
    for column in labels.pairs.T:
        np.add.at(kind, column, np.where(labels.similar, 1.0, -1.0))
    # Groups of one size are dealt out kind by kind, so that each fold gets its share of both.
    for group in sorted(groups, key=lambda rows: (-len(rows), -kind[rows].sum())):
        # A group that is too large for a fold is cut between points that few marks connect.
        whole = len(group) * n_folds <= total + n_folds
        n_parts = 1 if whole else -(-len(group) * n_folds // total)
        for part in np.array_split(group, n_parts):
            emptiest = int(np.argmin(filled))
            fold[part] = emptiest
            filled[emptiest] += len(part)
    return fold


def order_by_name(X: Any, n: int) -> Array:
    """Return the `n` rows in the order of their names, if the table has an index of names.

    Folds that are made in this order do not change when the table is shuffled.
    """
    if not is_frame(X):
        return np.arange(n)
    names = list(X.index)
    order = sorted(range(n), key=lambda row: (type(names[row]).__name__, names[row]))
    return np.array(order, dtype=np.intp)


def _group_marked(labels: PairLabels, order: Array) -> list[Array]:
    """Group the points without a class that marks or triplets connect, directly or not."""
    joined_rows = np.vstack([labels.pairs, labels.triplets[:, :2], labels.triplets[:, ::2]])
    pairs = joined_rows[np.all(labels.codes[joined_rows] < 0, axis=1)]
    n = len(labels.codes)
    i, j = pairs.T.astype(np.int32)  # older versions of scipy need 32-bit indices
    joined = sparse.csr_matrix((np.ones(len(pairs)), (i, j)), shape=(n, n))
    group = connected_components(joined, directed=False)[1]
    marked = np.zeros(n, dtype=bool)
    marked[joined_rows] = True
    rows = order[(marked & (labels.codes < 0))[order]]
    # Neighbors in this order are likely to be marked with each other.
    close = reverse_cuthill_mckee(joined + joined.T, symmetric_mode=True)
    place = np.empty(n, dtype=np.intp)
    place[close] = np.arange(n)
    groups = [rows[group[rows] == g] for g in dict.fromkeys(group[rows].tolist())]
    return [members[np.argsort(place[members])] for members in groups]


class MarksKFold(BaseCrossValidator):
    """Split rows into folds so that marked pairs stay whole and only known rows are tested.

    Rows of a class are dealt out evenly. Marked rows stay together, as far as the folds stay even,
    and the folds get even shares of similar and dissimilar marks. A test set has the labeled and
    marked rows of one fold, the training set all other rows, also those without a label or mark.
    So every score of scikit-learn is right on partly labeled data:
    ``cross_val_score(classifier, X, y, cv=MarksKFold())``.

    Pass marks in the place of y: ``cross_validate(SERAPH(), X, marks, cv=MarksKFold())``. After
    ``sklearn.set_config(enable_metadata_routing=True)``, ``params={"marks": marks}`` does it, too.

    Parameters
    ----------
    n_splits : int, default=5
        Largest number of folds. Fewer are made if there are too few labels.
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
            Class labels, -1, NaN or None where :ref:`unknown <unlabeled>`; or marks.
        groups
            Not used; part of the signature of every splitter.
        marks : Marks, optional
            Marks of the rows.

        Yields
        ------
        train, test : ndarray of int
            Row numbers.
        """
        check_rows_by_number(X)
        rng = check_random_state(self.random_state) if self.shuffle else None
        labels = PairLabels.of(X, _num_samples(X), y, marks)
        order = order_by_name(X, len(labels.codes))
        ordered = labels.among(order)
        fold = np.empty(len(order), dtype=np.intp)
        fold[order] = assign_folds(ordered, self._count_folds(ordered), rng)
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
        """Return the number of folds of these data, or `n_splits` without data.

        Parameters
        ----------
        X, y, groups, marks
            What ``split`` is called with.
        """
        if X is None or (y is None and marks is None):
            return self.n_splits
        labels = PairLabels.of(X, _num_samples(X), y, marks)
        return self._count_folds(labels.among(order_by_name(X, len(labels.codes))))

    def _count_folds(self, labels: PairLabels) -> int:
        """Return the largest number of folds with pairs of both kinds in each, if there is one.

        It does not depend on the shuffle, so it is the same in every call.
        """
        for n in range(self.n_splits, 1, -1):
            fold = assign_folds(labels, n)
            parts = [labels.among(np.flatnonzero(fold == k)) for k in range(fold.max() + 1)]
            if all(part.n_similar and part.n_dissimilar for part in parts):
                return len(parts)
        return int(assign_folds(labels, self.n_splits).max()) + 1


publish(globals(), "seraph", ["MarksKFold"])
