"""Squared distances between points, as a matrix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import softmax

from .._utils._tiles import row_slices
from .._utils._typing import Array

# Numbers in memory at a time: 512 KB of doubles, which fit the cache.
CHUNK = 1 << 16
# ||a||^2 + ||b||^2 - 2 a'b has an absolute error of about 1e-16 times the largest squared norm.
# So it has 8 digits down to this share of that norm; smaller ones are computed from differences.
_CLOSE = 1e-8


def squared_distances(A: Array, B: Array) -> Array:
    """Return the squared distance between each row of `A` and each row of `B`.

    Both may be stacks of matrices. By a matrix product; small distances, which would suffer from
    cancellation, by differences. So a point is at 0 from itself, and close points have a distance
    above 0 that can be divided by.
    """
    norms, others = np.einsum("...ir,...ir->...i", A, A), np.einsum("...ir,...ir->...i", B, B)
    d2: Array = A @ (-2.0 * np.swapaxes(B, -1, -2))
    d2 += norms[..., np.newaxis]
    d2 += others[..., np.newaxis, :]
    limit = _CLOSE * max(norms.max(initial=0.0), others.max(initial=0.0))
    close = np.flatnonzero(d2 <= limit)
    for part in row_slices(len(close), CHUNK // max(1, A.shape[-1])):
        *stack, i, j = np.unravel_index(close[part], d2.shape)
        gaps = A[*stack, i] - B[*stack, j]
        d2[*stack, i, j] = np.einsum("kr,kr->k", gaps, gaps)
    return d2


def distance_rows(Z: Array, numbers: int | None = None) -> Iterator[tuple[slice, Array]]:
    """Yield the squared distances from some of the points to all: which points, and a matrix.

    For learners that compare the neighbors of a point with each other, and so need whole rows. A
    point is not its own neighbor: its distance from itself is infinite. A block has at most
    `numbers` entries, `CHUNK` by default, but at least one row.
    """
    for rows in row_slices(len(Z), (numbers or CHUNK) // max(1, len(Z))):
        d2 = squared_distances(Z[rows], Z)
        np.fill_diagonal(d2[:, rows], np.inf)
        yield rows, d2


def pair_differences(Z: Array, pairs: Array) -> Iterator[tuple[slice, Array]]:
    """Yield the differences of the two points of each pair, some pairs at a time."""
    for part in row_slices(len(pairs), CHUNK // max(1, Z.shape[1])):
        yield part, Z[pairs[part, 0]] - Z[pairs[part, 1]]


def pair_squares(Z: Array, pairs: Array) -> Array:
    """Return the squared distance of each pair, from differences."""
    squares = np.empty(len(pairs))
    for part, gaps in pair_differences(Z, pairs):
        squares[part] = np.einsum("kr,kr->k", gaps, gaps)
    return squares


def neighbor_weights(Z: Array) -> Iterator[tuple[slice, Array]]:
    """Yield, for some of the points at a time, the softmax of minus the squared distances."""
    for rows, d2 in distance_rows(Z):
        yield rows, softmax(-d2, axis=1)


def add_laplacian(out: Array, Y: Array, rows: slice, W: Array) -> None:
    """Add ``Lap(W + W') Y`` to `out`, with ``Lap(W) = diag(W 1) - W``.

    W, dense or sparse, has the given rows of a square matrix whose other rows are zero.
    """
    out += W.sum(axis=0)[:, np.newaxis] * Y
    out[rows] += W.sum(axis=1)[:, np.newaxis] * Y[rows]
    out[rows] -= W @ Y
    out -= W.T @ Y[rows]
