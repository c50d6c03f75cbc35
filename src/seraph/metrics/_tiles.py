"""Squared distances between mapped points, tile by tile, to nearly the last bit.

Distances are ranked, and binary, count and one-hot data have many ties: equal distances must come
out equal. Write a point as ``z = h + l``, where ``h`` is ``z`` rounded to a grid. Then, with D for
the difference of two points::

    |Dz|^2  =  |Dh|^2  +  Dl (2 Dh + Dl)

The grid is so coarse that the first term is a sum of whole numbers below 2^53 (in units of the
grid): matrix products compute it without rounding. The second term is about 2^-24 as large, and so
are its rounding errors. It is zero if the points are whole numbers of moderate size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

from .._points import to_memory
from .._utils._tiles import row_slices
from .._utils._typing import Array
from .._utils._validation import as_numbers

Tile = Callable[[Array, Array], Array]

# Squared distances within 256 units in the last place, 2^-44 of their size or less, are a tie.
# That covers the rounding here and in a map of the points.
_TIE = 256
# Points coincide if they are no farther apart than this share of the larger of their norms.
_ROUNDING = 2.0**-46
# The points are within 2^25 steps of the grid from their center, so squared distances on the grid
# are whole numbers below 2^52, which floats hold exactly.
_STEPS = 25
# Shorter distances than this share of the largest are computed from the differences. (The error
# of the second term is too large for them.)
_NEAR = 2.0**-10
# If more than one in eight is that short, all are recomputed: `cdist` is faster than indexing.
_MANY = 8
# Entries of the array of differences at a time: 8 MB.
_BUDGET = 2**20
# Squares of numbers within these bounds neither overflow nor underflow.
_SMALL, _LARGE = 2.0**-200, 2.0**200


def check_mapped(Z: Any, name: str = "Z") -> Array:
    """Check mapped points; a metric of rank 0 maps to no column at all."""
    with as_numbers(name, Z):
        points: Array = check_array(
            to_memory(Z), dtype=np.float64, ensure_min_features=0, input_name=name
        )
    return points


def in_range(*tables: Array) -> list[Array]:
    """Divide tables by a power of two such that squared distances keep their order.

    Otherwise all squared distances would be infinite near 1e200, and zero near 1e-200.

    Examples
    --------
    >>> (points,) = in_range(np.array([[0.0], [3e200]]))
    >>> bool(points.max() < 1)
    True
    """
    largest = max(float(np.abs(table).max(initial=0.0)) for table in tables)
    if _SMALL < largest < _LARGE or largest == 0.0:
        return list(tables)
    with np.errstate(under="ignore"):
        return [np.ldexp(table, -int(np.frexp(largest)[1])) for table in tables]


class SquaredDistances:
    """Function of two arrays of row numbers that computes the squared distances between them.

    The second row numbers refer to `other`; by default to `Z`, as the first do. Differences take
    about `budget` numbers at a time.

    Attributes
    ----------
    tie : int
        Squared distances within this number of units in the last place count as equal. It is 0 if
        they are exact: the points are whole numbers, or multiples of a power of two, and no
        coordinate is farther than ``2**25 / sqrt(r)`` such steps from the middle of its range,
        or than 2**46 steps from zero.

    Examples
    --------
    >>> squared = SquaredDistances(np.array([[0.0], [3.0]]))
    >>> squared(np.array([0]), np.array([0, 1]))
    array([[0., 9.]])
    >>> squared.tie
    0
    """

    def __init__(self, Z: Array, other: Array | None = None, *, budget: int = _BUDGET) -> None:
        self._budget = budget
        self._points = Z.astype(np.float64, copy=False)
        self._others = self._points if other is None else other.astype(np.float64, copy=False)
        tables = [self._points] if other is None else [self._points, self._others]
        with np.errstate(under="ignore"):
            span, step, self._center = _grid(tables)
            grids = [np.rint(table / step) * step for table in tables]
            self.tie = 0 if _are_exact(tables, grids, step) else _TIE
            grids = [np.subtract(grid, self._center, out=grid) for grid in grids]
            squares = [np.einsum("ir,ir->i", grid, grid) for grid in grids]
            norms = [np.sqrt(np.einsum("ir,ir->i", table, table)) for table in tables]
        largest = max(float(norm.max(initial=0.0)) for norm in norms)
        self._near = max(_NEAR * span, _ROUNDING * largest)
        self._norms, self._other_norms = norms[0], norms[-1]
        self._grid, self._other_grid = grids[0], grids[-1]
        self._squares, self._other_squares = squares[0], squares[-1]

    def __call__(self, a: Array, b: Array) -> Array:
        """Compute the squared distances between the rows `a` and the rows `b`."""
        with np.errstate(under="ignore"):
            h, k = self._grid[a], self._other_grid[b]
            d2: Array = h @ k.T
            d2 *= -2.0
            d2 += self._squares[a][:, np.newaxis]
            d2 += self._other_squares[b]
            if self.tie:
                self._refine(d2, a, b, h, k)
        return d2

    def _refine(self, d2: Array, a: Array, b: Array, h: Array, k: Array) -> None:
        """Add the second term, the differences from the grid."""
        left = self._points[a] - (h + self._center)
        right = self._others[b] - (k + self._center)
        h, k = 2.0 * h + left, 2.0 * k + right
        d2 -= left @ k.T
        d2 -= h @ right.T
        d2 += np.einsum("ir,ir->i", left, h)[:, np.newaxis]
        d2 += np.einsum("ir,ir->i", right, k)
        near = np.flatnonzero(d2 <= self._near**2)
        if len(near) > d2.size // _MANY:  # as beside an outlier
            d2[...] = cdist(self._points[a], self._others[b], "sqeuclidean")
            norm = np.maximum.outer(self._norms[a], self._other_norms[b])
            d2[d2 <= np.square(_ROUNDING * norm)] = 0.0
            return
        for part in row_slices(len(near), self._budget // max(1, self._points.shape[1])):
            i, j = np.divmod(near[part], len(b))
            d2[i, j] = self.of_pairs(a[i], b[j])

    def of_pairs(self, first: Array, second: Array) -> Array:
        """Compute the squared distance of each pair of a row of `Z` and a row of `other`."""
        with np.errstate(under="ignore"):
            gap = self._points[first] - self._others[second]
            squared: Array = np.einsum("kr,kr->k", gap, gap)
            if self.tie:
                norm = np.maximum(self._norms[first], self._other_norms[second])
                squared[squared <= np.square(_ROUNDING * norm)] = 0.0
        return squared


def _are_exact(tables: list[Array], grids: list[Array], step: float) -> bool:
    """Whether the points are on the grid, and not only because they are far away.

    Where floats are no finer than the grid, the differences may be due to rounding.
    """
    largest = max(float(np.abs(table).max(initial=0.0)) for table in tables)
    pairs = zip(tables, grids, strict=True)
    return _ROUNDING * largest <= step and all(np.array_equal(z, h) for z, h in pairs)


def _grid(tables: list[Array]) -> tuple[float, float, Array]:
    """Return how far points reach from the center, the step of the grid, and the center on it.

    The center does not depend on the order of the points.
    """
    r = tables[0].shape[1]
    if r == 0 or not any(len(table) for table in tables):
        return 0.0, 1.0, np.zeros(r)
    low = np.min([table.min(axis=0) for table in tables if len(table)], axis=0)
    high = np.max([table.max(axis=0) for table in tables if len(table)], axis=0)
    span = float(np.sqrt(r)) * float(np.max(high / 2.0 - low / 2.0))
    if span == 0.0:  # all coincide, and every distance is a short one
        return np.inf, 1.0, np.rint(low)
    step = float(np.ldexp(1.0, max(int(np.frexp(span)[1]) - _STEPS, -1000)))
    return span, step, np.rint((low / 2.0 + high / 2.0) / step) * step
