"""Merge the marks of each pair, and cut marks to some of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils._typing import Array
from .._utils._validation import shown
from ._rows import Rows


def merge_marks(
    pairs: Array, likeness: Array, weights: Array, represents: Array, rows: Rows
) -> tuple[Array, Array, Array, Array]:
    """Add up the marks of each pair, ordered by pairs, and refuse contradictions.

    ``w ln p(y)`` is linear in the weight and in the likeness, so marks of one pair are together
    one mark: with the sum of their weights and the weighted means of their likeness and of the
    random pairs they represent. A sure mark, similar or dissimilar, overrides the uncertain marks
    of its pair.

    Examples
    --------
    >>> pairs = np.array([[0, 1], [0, 1], [0, 2]])
    >>> likeness, weights = np.array([0.9, 0.5, 0.0]), np.array([1.0, 3.0, 1.0])
    >>> merge_marks(pairs, likeness, weights, np.ones(3), Rows(3))[1:]
    (array([0.6, 0. ]), array([4., 1.]), array([1., 1.]))
    """
    is_first = np.ones(len(pairs), dtype=bool)
    is_first[1:] = np.any(pairs[1:] != pairs[:-1], axis=1)
    if is_first.all():
        return pairs, likeness, weights, represents
    first, place = np.flatnonzero(is_first), np.cumsum(is_first) - 1
    sure = (likeness == 0.0) | (likeness == 1.0)
    counts = sure | ~np.logical_or.reduceat(sure, first)[place]
    low = np.minimum.reduceat(np.where(counts, likeness, 1.0), first)
    high = np.maximum.reduceat(np.where(counts, likeness, 0.0), first)
    clash = np.flatnonzero((low == 0.0) & (high == 1.0))
    if len(clash):
        raise ValueError(
            f"The pair {tuple(rows.name_rows(pairs[first[clash[0]]]).tolist())} is marked both "
            "similar and dissimilar: keep one mark, or give how likely the pair is similar, from "
            "0 to 1, as its label."
        )
    counted = np.where(counts, weights, 0.0)
    total = np.add.reduceat(counted, first)
    mean, stands_for = (
        np.add.reduceat(counted * values, first) / total for values in (likeness, represents)
    )
    return pairs[first], np.clip(mean, low, high), total, stands_for


def cut(marked: Array, rows: Array, n: int) -> tuple[Array, Array]:
    """Return marks among some of `n` rows, numbered as these, and which marks they are.

    Examples
    --------
    >>> marks, which = cut(np.array([[0, 1], [0, 2]]), np.array([2, 0, 0]), 3)
    >>> marks.tolist(), which.tolist()
    ([[1, 0], [2, 0]], [1, 1])
    """
    places = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[places], np.arange(n))
    copies = np.bincount(rows, minlength=n)[marked]  # how often each row of a mark was taken
    times = copies.prod(axis=1)
    which = np.repeat(np.arange(len(marked)), times)
    # A mark whose rows were taken 2 and 3 times becomes 6 marks, numbered from 0 to 5. The digits
    # of a number, of base 2 and then 3, say which copy of either row it is about: 5 = 1 + 2 * 2 is
    # the second copy of the first row with the third of the other.
    number = np.arange(len(which)) - np.repeat(np.cumsum(times) - times, times)
    taken = np.empty((len(which), marked.shape[1]), dtype=np.intp)
    for side in range(marked.shape[1]):
        number, copy = np.divmod(number, copies[which, side])
        taken[:, side] = places[starts[marked[which, side]] + copy]
    return taken, which


def chosen_rows(key: Any, n: int) -> Array:
    """Return the numbers of the rows that an index chooses."""
    if isinstance(key, tuple):  # scikit-learn asks an array for [rows, ...]
        if len(key) != 2 or key[1] is not Ellipsis:
            raise IndexError(f"Marks have one dimension, the rows; got {shown(key)}.")
        key = key[0]
    rows: Array = np.arange(n)[key]
    if rows.ndim != 1:
        raise TypeError(
            f"Choose rows by a slice, a mask or a list of row numbers; got {shown(key)}."
        )
    return rows
