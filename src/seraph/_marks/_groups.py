"""Pairs of rows of one group, a few for each row of a large one."""

from __future__ import annotations

import numpy as np

from .._utils._typing import Array
from .._utils._validation import check_number


def pairs_within(codes: Array, partners: int) -> Array:
    """Pair rows that have the same code, which is at least 0; smaller row number first.

    The m rows of a group stand in a circle, and each is paired with those at some steps further
    on: at all steps up to m/2 if there are at most `partners` of these, which makes all pairs, or
    at `partners` evenly spread ones. So no row is in more pairs than another.
    """
    check_number("partners", partners, low=1, integer=True)
    rows = np.argsort(codes, kind="stable")[np.count_nonzero(codes < 0) :]
    first = np.searchsorted(codes[rows], codes[rows], "left")[:, np.newaxis]
    size = np.searchsorted(codes[rows], codes[rows], "right")[:, np.newaxis] - first
    most = size // 2
    n_steps = np.minimum(most, partners)
    turn = np.arange(n_steps.max(initial=0))
    step = 1 + turn * most // np.maximum(n_steps, 1)
    place = np.arange(len(rows))[:, np.newaxis]
    other = first + (place - first + step) % size
    one, at = np.nonzero(turn < n_steps)
    pairs = np.column_stack([rows[one], rows[other[one, at]]])
    # (In a circle of even size, half-way round is the same pair from both ends.)
    return np.unique(np.sort(pairs, axis=1), axis=0)
