"""Orders of rows: by the points alone, by class, or evenly spread."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .._marks import PairLabels
from .._points import exact_size, magnitude
from .._utils._typing import Array

# Its multiples modulo 1 have the lowest discrepancy (Weyl's sequence of the golden ratio).
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)


def paired_rows(labels: PairLabels, known: Array) -> tuple[Array, Array]:
    """Return the rows of labeled pairs, and the marked pairs by their positions among them.

    The rows of known class come first, in the order of `known`.
    """
    is_marked = np.zeros(len(labels.codes), dtype=bool)
    is_marked[labels.pairs] = True
    is_marked[known] = False
    rows = np.concatenate([known, np.flatnonzero(is_marked)])
    position = np.zeros(len(labels.codes), dtype=np.intp)
    position[rows] = np.arange(len(rows))
    return rows, position[labels.pairs]


def class_ranges(codes: Array) -> list[tuple[int, int]]:
    """Return where each class begins and ends in the ordered `codes`."""
    changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    return list(pairwise([0, *changes.tolist(), len(codes)]))


def row_order(points: Array, labels: PairLabels) -> Array:
    """Return an order of the rows that follows from the points: nearest to the labeled mean first.

    A learner that takes its rows in this order does not depend on the order in which they came.
    More unlabeled rows do not change the order of the labeled ones.
    """
    known = labels.is_labeled if labels.is_labeled.any() else slice(None)  # triplets alone
    apart = points.astype(np.float64) / exact_size(magnitude(points))
    apart -= apart[known].mean(axis=0)
    norms = np.einsum("ij,ij->i", apart, apart)
    # Whole numbers have many equal norms, which rounding errors must not sort; a direction does.
    direction = np.random.default_rng(0).normal(size=points.shape[1])
    rounded = np.round(norms / (norms[known].mean() or 1.0), 9)
    return np.lexsort((labels.codes, apart @ direction, rounded))


def spread_rows(n: int) -> Array:
    """Return a low-discrepancy order of `n` rows.

    The order is Weyl's sequence of the golden ratio. If the rows are sorted by class, every
    contiguous part of it is nearly stratified.
    """
    return np.argsort(np.arange(n) * _GOLDEN % 1.0)
