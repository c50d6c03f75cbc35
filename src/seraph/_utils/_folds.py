"""Deal rows to folds, and choose the rows that all folds learn from."""

from __future__ import annotations

import numpy as np

from ._typing import Array

# Unlabeled points to learn from in each fold, unless more are labeled. More change neither the
# choice nor the judgment, and take longer.
_UNLABELED = 400


def deal_classes(codes: Array, n_folds: int, order: Array) -> Array:
    """Deal the rows of known class to folds one by one, class after class.

    Each fold gets its share of every class, and the sizes of two folds differ by at most one row.
    Rows of a class are dealt in the given order. Rows of unknown class have the fold -1.

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


def choose_shared_points(fold: Array, most: int | None = None) -> Array:
    """Choose points for the fits of all folds: the labeled ones, and some unlabeled ones.

    There are at most `most`, unless more are labeled. `fold` is -1 for unlabeled points.

    Examples
    --------
    >>> choose_shared_points(np.array([0, 1, -1, -1, -1]), most=4).tolist()
    [0, 1, 3, 4]
    """
    others = np.flatnonzero(fold < 0)
    n_labeled = len(fold) - len(others)
    n_others = min(len(others), max(_UNLABELED, n_labeled))
    if most is not None:
        n_others = min(n_others, max(0, most - n_labeled))
    some = np.random.default_rng(0).choice(others, n_others, replace=False)
    return np.sort(np.concatenate([np.flatnonzero(fold >= 0), some]))
