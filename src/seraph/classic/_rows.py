"""The rows of labeled pairs, in an order that keeps each class together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .._marks import PairLabels
from .._utils._typing import Array

# Its multiples modulo 1 have the lowest discrepancy (Weyl's sequence of the golden ratio).
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)


@dataclass(frozen=True)
class PairedRows:
    """The rows of labeled pairs, and the labels by their position here."""

    rows: Array  # row numbers: those of known class first, then those in marked pairs only
    codes: Array  # class codes of the former
    pairs: Array  # (l, 2): marked pairs, as positions in `rows`

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

    def reordered(self, order: Array) -> PairedRows:
        """Put the rows of known class in another order."""
        if len(self.pairs) == 0:
            return PairedRows(self.rows[order], self.codes[order], self.pairs)
        position = np.arange(len(self.rows))
        position[order] = np.arange(len(order))
        rows = np.concatenate([self.rows[order], self.rows[len(order) :]])
        return PairedRows(rows, self.codes[order], position[self.pairs])


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


def spread_rows(n: int, most: int | None = None) -> Array:
    """Return a low-discrepancy order of `n` rows, or the first `most` of it.

    It is that of Weyl's sequence of the golden ratio. If the rows are sorted by class, every
    contiguous part of it is nearly stratified.

    Examples
    --------
    >>> spread_rows(8).tolist(), spread_rows(1000, 4).tolist()
    ([0, 5, 2, 7, 4, 1, 6, 3], [0, 618, 236, 854])
    """
    if most is None or n <= most:
        return np.argsort(np.arange(n) * _GOLDEN % 1.0)
    return (np.arange(most) * _GOLDEN % 1.0 * n).astype(np.intp)
