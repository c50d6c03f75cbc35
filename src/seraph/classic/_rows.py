"""Orders of rows: the rows of labeled pairs, class by class, or rows evenly spread."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .._marks import PairLabels
from .._utils._typing import Array

# Its multiples modulo 1 have the lowest discrepancy (Weyl's sequence of the golden ratio).
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)


def paired_rows(labels: PairLabels, known: Array) -> tuple[Array, Array]:
    """Return the rows of labeled pairs, and the marked pairs by their positions among them.

    The rows of known class come first, in the order of `known`.

    Examples
    --------
    >>> from seraph import Marks
    >>> labels = PairLabels.make(4, [-1, 0, -1, 1], Marks([[0, 1]], [1], rows=4))
    >>> rows, pairs = paired_rows(labels, labels.rows_by_class)
    >>> rows.tolist(), pairs.tolist()
    ([1, 3, 0], [[2, 0]])
    """
    is_marked = np.zeros(len(labels.codes), dtype=bool)
    is_marked[labels.pairs] = True
    is_marked[known] = False
    rows = np.concatenate([known, np.flatnonzero(is_marked)])
    position = np.zeros(len(labels.codes), dtype=np.intp)
    position[rows] = np.arange(len(rows))
    return rows, position[labels.pairs]


def class_ranges(codes: Array) -> list[tuple[int, int]]:
    """Return where each class begins and ends in the ordered `codes`.

    Examples
    --------
    >>> import numpy as np
    >>> class_ranges(np.array([0, 0, 0, 1, 2, 2]))
    [(0, 3), (3, 4), (4, 6)]
    """
    changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    return list(pairwise([0, *changes.tolist(), len(codes)]))


def spread_rows(n: int, most: int | None = None) -> Array:
    """Return a low-discrepancy order of `n` rows, or the first `most` of it.

    The order is Weyl's sequence of the golden ratio. If the rows are sorted by class, every
    contiguous part of it is nearly stratified.

    Examples
    --------
    >>> spread_rows(8).tolist(), spread_rows(1000, 4).tolist()
    ([0, 5, 2, 7, 4, 1, 6, 3], [0, 618, 236, 854])
    """
    if most is None or n <= most:
        return np.argsort(np.arange(n) * _GOLDEN % 1.0)
    return (np.arange(most) * _GOLDEN % 1.0 * n).astype(np.intp)
