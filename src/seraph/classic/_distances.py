"""Squared distances between points, some rows or pairs at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import softmax

from .._pairs import CHUNK, squared_distances
from .._utils._tiles import row_slices
from .._utils._typing import Array


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
