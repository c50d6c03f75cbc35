"""The rows of labeled pairs, in an order that keeps each class together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .._pairs import PairLabels
from .._typing import Array


@dataclass(frozen=True)
class PairedRows:
    """The rows of labeled pairs, and the labels by their position here.

    Parameters
    ----------
    rows : ndarray of int of shape (k,)
        Numbers of these rows: those of known class first, by class, then those that are in
        marked pairs only.
    codes : ndarray of int of shape (c,)
        Class codes of the first c of them.
    pairs : ndarray of int of shape (l, 2)
        Marked pairs, as positions in `rows`.
    """

    rows: Array
    codes: Array
    pairs: Array

    @classmethod
    def of(cls, labels: PairLabels) -> PairedRows:
        """Find and order the rows that `labels` says something about."""
        by_class = labels.rows_by_class
        if len(labels.pairs) == 0:
            return cls(by_class, labels.codes[by_class], labels.pairs)
        rows = np.concatenate([by_class, np.setdiff1d(labels.pairs, by_class)])
        position = np.zeros(len(labels.codes), dtype=np.intp)
        position[rows] = np.arange(len(rows))
        return cls(rows, labels.codes[by_class], position[labels.pairs])


def class_ranges(codes: Array) -> list[tuple[int, int]]:
    """Return where each class begins and ends in the ordered `codes`.

    Examples
    --------
    >>> import numpy as np
    >>> class_ranges(np.array([0, 0, 0, 1, 2, 2]))
    [(0, 3), (3, 4), (4, 6)]
    """
    changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    return list(pairwise([0, *changes.tolist(), len(codes)])) if len(codes) else []
