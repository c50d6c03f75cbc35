"""Squared distances between points, as matrices, with their digits where points are close."""

from __future__ import annotations

import numpy as np

from .._utils._tiles import row_slices
from .._utils._typing import Array
from ._functions import AnyArray, library

# Numbers in memory at a time: 512 KB of doubles, which fit the cache.
CHUNK = 1 << 16
# ||a||^2 + ||b||^2 - 2 a'b has an absolute error of about 1e-16 times the largest squared norm.
# So it has 8 digits down to this share of that norm; smaller ones are computed from differences.
CLOSE = 1e-8


def squared_distances(A: Array, B: Array) -> Array:
    """Return the squared distance between each row of `A` and each row of `B`.

    Both may be stacks of matrices. A point is at 0 from itself, and close points have a distance
    above 0 that can be divided by.

    Examples
    --------
    >>> squared_distances(np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]])).tolist()
    [[1.0, 9.0], [0.0, 4.0]]
    """
    norms, others = (np.einsum("...ir,...ir->...i", a, a) for a in (A, B))
    d2: Array = sums_less_products(norms, others, A, B)
    return with_short_ones(d2, 0.0, A, B, max(norms.max(initial=0.0), others.max(initial=0.0)))


def sums_less_products(first: AnyArray, second: AnyArray, A: AnyArray, B: AnyArray) -> AnyArray:
    """Return ``first_i + second_j - 2 a_i'b_j``: a squared distance, by a matrix product."""
    t = A @ (-2.0 * B.swapaxes(-1, -2))
    t += first[..., None]
    t += second[..., None, :]
    return t


def with_short_ones(t: AnyArray, eta: float, A: AnyArray, B: AnyArray, largest: float) -> AnyArray:
    """Correct the ``t = d2 - eta`` of close points, from differences, in place.

    `largest` is the largest squared norm of the points.
    """
    xp = library(t)
    close = (t <= CLOSE * largest - eta).reshape(-1)
    close = np.flatnonzero(close) if xp is np else close.nonzero()[:, 0]
    for part in row_slices(len(close), CHUNK // max(1, A.shape[-1])):
        *stack, i, j = xp.unravel_index(close[part], t.shape)
        gaps = A[*stack, i] - B[*stack, j]
        t[*stack, i, j] = (gaps * gaps).sum(-1) - eta
    return t
