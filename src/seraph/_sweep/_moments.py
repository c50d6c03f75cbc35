"""Mean and covariance of all points in one pass.

Chunks of rows have `Moments`, which are merged pairwise. The moments of all rows make a `Frame`:
the origin, unit and covariance of the solvers' coordinates.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from .._utils._typing import Array

# Rows at a time: few enough that their copies in double precision stay in the cache.
_ROWS = 1 << 12


def exact_size(size: float) -> float:
    """Return a divisor for points of magnitude `size`, to be applied before they are centered.

    It is a power of two, because division by it is exact. Rounding errors of another division
    would be large beside the differences between points far from the origin.

    Examples
    --------
    >>> exact_size(5.0), exact_size(8.0)
    (8.0, 8.0)
    """
    fraction, exponent = math.frexp(size)
    largest = sys.float_info.max_exp - 1
    return math.ldexp(1.0, min(exponent - (fraction == 0.5), largest))


def rounding_of_mean(dtype: Any, n_features: int) -> float:
    """Return a bound of the mean squared distance of equal points that are centered.

    Their numbers are at most 1. The mean of equal numbers may differ from them by rounding.

    Examples
    --------
    >>> rounding_of_mean(np.float64, 10) < 1e-29
    True
    """
    return n_features * float(4.0 * np.finfo(dtype).eps) ** 2


class Moments(NamedTuple):
    """The lengths of some chunks, and the moments of their rows divided by `size`."""

    lengths: tuple[int, ...]
    size: float
    mean: Array
    scatter: Array

    def frame(self) -> Frame:
        """Return the frame of these points."""
        size = exact_size(self.size or 1.0)
        share = (self.size or 1.0) / size
        covariance = share**2 * self.scatter / sum(self.lengths)
        if 2.0 * np.trace(covariance) <= rounding_of_mean(np.float64, len(covariance)):
            covariance = np.zeros_like(covariance)  # all points are equal
        return Frame(size, share * self.mean, covariance)


def compute_moments(chunk: Any) -> Moments:
    """Compute the moments of some rows, in double precision, a few rows at a time."""
    n = len(chunk)
    few = (_moments_of_few(chunk[start : start + _ROWS]) for start in range(0, max(n, 1), _ROWS))
    return reduce(merge_moments, few)._replace(lengths=(n,))


def _moments_of_few(rows: Any) -> Moments:
    points = np.asarray(rows, dtype=np.float64)
    size = float(np.max(np.abs(points), initial=0.0))
    n, m = points.shape
    if n == 0 or not np.isfinite(size):
        return Moments((n,), size, np.zeros(m), np.zeros((m, m)))
    points = points / (size or 1.0)
    mean = points.mean(axis=0)
    points -= mean
    return Moments((n,), size, mean, points.T @ points)


def merge_moments(a: Moments, b: Moments) -> Moments:
    """Merge the moments of two sets of rows (Chan, Golub and LeVeque 1979)."""
    lengths, size = a.lengths + b.lengths, float(np.maximum(a.size, b.size))
    n_a, n_b = sum(a.lengths), sum(b.lengths)
    if n_a + n_b == 0 or size == 0.0 or not np.isfinite(size):
        return a._replace(lengths=lengths, size=size)
    of_a, of_b = a.size / size, b.size / size
    apart = of_b * b.mean - of_a * a.mean
    share = n_b / (n_a + n_b)
    scatter = of_a**2 * a.scatter + of_b**2 * b.scatter
    return Moments(
        lengths,
        size,
        of_a * a.mean + share * apart,
        scatter + n_a * share * np.outer(apart, apart),
    )


def center(X: Array, *, size: Any, mean: Array, spread: Any) -> Array:
    """Compute ``(X / size - mean) / spread`` in the precision of `X`."""
    points: Array = np.divide(X, size, order="C")
    points -= mean
    points /= spread
    return points


@dataclass(frozen=True)
class Frame:
    """Origin, unit and covariance of the solvers' coordinates of some points.

    Parameters
    ----------
    size : float
        A power of two near the largest magnitude: see `exact_size`.
    mean : ndarray of shape (m,)
        Mean of ``X / size``.
    covariance : ndarray of shape (m, m)
        Covariance of ``X / size``.

    Examples
    --------
    >>> Frame.of(np.array([[1.0, 2.0], [3.0, 2.0]])).std()
    array([1., 0.])
    """

    size: float
    mean: Array
    covariance: Array

    @classmethod
    def of(cls, X: Array) -> Frame:
        """Find the frame of an array in one pass, without a copy of it."""
        return compute_moments(X).frame()

    def std(self) -> Array:
        """Return the standard deviation of each feature."""
        return self.size * np.sqrt(np.diag(self.covariance))

    def _spread(self, *, rescale: bool) -> float:
        """Return the unit over `size`: the root mean squared distance, or 1 over `size`."""
        spread = float(np.sqrt(2.0 * np.trace(self.covariance))) if rescale else 0.0
        return spread or 1.0 / self.size  # (also of points that are all equal)

    def unit(self, *, rescale: bool) -> tuple[float, Array]:
        """Return the unit of length, and the covariance in it."""
        spread = self._spread(rescale=rescale)
        return self.size * spread, self.covariance / spread / spread  # (a square may underflow)

    def shift(self, dtype: np.dtype[Any], *, rescale: bool) -> dict[str, Any]:
        """Return the arguments of `center` for points of a dtype."""
        spread = self._spread(rescale=rescale)
        return {
            "size": dtype.type(self.size),
            "mean": self.mean.astype(dtype),
            "spread": dtype.type(spread),
        }

    @property
    def parts(self) -> tuple[str, Array, Array]:
        """All numbers, to be digested."""
        return repr(self.size), self.mean, self.covariance
