"""Squared distances between mapped points, tile by tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_array

from .._sweep import in_memory
from .._typing import Array
from .._validation import as_numbers

Tile = Callable[[Array, Array], Array]


def checked_points(Z: Any, name: str = "Z") -> Array:
    """Check mapped points; a metric of rank 0 maps to no column at all."""
    with as_numbers(name):
        points: Array = check_array(
            in_memory(Z), dtype=np.float64, ensure_min_features=0, input_name=name
        )
    return points


def squared_distances(Z: Array, other: Array | None = None) -> Tile:
    """Return a function of two arrays of row numbers that computes their squared distances.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Points.
    other : ndarray of shape (k, r), optional
        Points that the second row numbers refer to; by default those of `Z`.

    Returns
    -------
    callable
        Takes two arrays of row numbers and returns a matrix.

    Examples
    --------
    >>> squared_distances(np.array([[0.0], [3.0]]))(np.array([0]), np.array([0, 1]))
    array([[0., 9.]])
    """
    # Distances do not see translation, and near the origin less is lost by cancellation.
    Z = Z.astype(np.float64)
    center = Z.mean(axis=0)
    Z -= center
    other = Z if other is None else other.astype(np.float64) - center
    squares, other_squares = (np.einsum("ir,ir->i", points, points) for points in (Z, other))

    def between(a: Array, b: Array) -> Array:
        d2 = np.add.outer(squares[a], other_squares[b]) - 2.0 * Z[a] @ other[b].T
        return np.maximum(d2, 0.0, out=d2)

    return between
