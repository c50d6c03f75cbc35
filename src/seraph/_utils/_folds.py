"""Deal rows to folds."""

from __future__ import annotations

import numpy as np

from ._typing import Array


def deal_classes(codes: Array, n_folds: int, order: Array) -> Array:
    """Deal the rows of known class to folds one by one, class after class.

    Each fold gets its share of every class, and the sizes of two folds differ by at most one row.
    Rows of a class are dealt in this `order`. Rows of unknown class have the fold -1.

    Examples
    --------
    >>> deal_classes(np.array([0, 0, 0, -1, 1, 1]), 2, np.arange(6))
    array([ 0,  1,  0, -1,  1,  0])
    """
    rows = order[np.argsort(codes[order], kind="stable")]
    rows = rows[codes[rows] >= 0]
    fold = np.full(len(codes), -1)
    fold[rows] = np.arange(len(rows)) % n_folds
    return fold
