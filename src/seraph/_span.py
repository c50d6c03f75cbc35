"""Coordinates that suit a solver, and the way back from them.

Distances do not change with a translation, so the points are centered: less is lost to
cancellation. A common factor only changes the unit, so it is taken out: squares neither
overflow nor vanish, and steps are of order one. Where there are no more points than features,
the points are expressed in a basis of their own span: no pair differs outside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

# Directions in which the points are shorter than this share of their longest direction are
# rounding errors, at which a squared length has no correct digit.
TOLERANCE = 1e-7
# Deviations below this share of a feature's mean are rounding errors of the mean.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Span:
    """Coordinates ``(X - mean) @ basis / unit`` of points, and factors of metrics on them.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points in these coordinates.
    basis : ndarray of shape (m, d) or None
        Orthonormal columns, the longest direction of the points first; None for the features
        themselves.
    unit : float
        Length in features that counts as one.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 1.0, 5.0], [3.0, 3.0, 5.0]])
    >>> span = Span.make(X)  # two points are on a line
    >>> span.points.shape, round(span.unit, 9)
    ((2, 1), 2.0)
    >>> P = np.array([[5.0]])
    >>> bool(np.allclose(abs(np.diff(X @ span.to_features(P).T, axis=0)),
    ...                  abs(np.diff(span.points @ P.T, axis=0))))
    True
    """

    points: NDArray
    basis: NDArray | None
    unit: float

    @classmethod
    def make(
        cls,
        X: NDArray,
        *,
        rescale: bool = True,
        principal: bool | None = None,
        tolerance: float = TOLERANCE,
        rounding: float = 0.0,
    ) -> Span:
        """Choose the coordinates for the points `X`.

        Parameters
        ----------
        X : ndarray of shape (n, m)
            Points. The coordinates have the same dtype.
        rescale : bool, default=True
            Whether to take the root of the mean squared distance of two points as the unit.
            False only centers the points.
        principal : bool, optional
            Whether to use a basis of principal directions. If None, it is used where there are
            no more points than features.
        tolerance : float, default=TOLERANCE
            Leave out the directions in which the points are shorter than this share of their
            longest one.
        rounding : float, default=0.0
            Take a feature as constant if it deviates from its mean by at most this share of
            the mean: 0, or `ROUNDING` where features are rescaled one by one.
        """
        dtype = X.dtype.type
        # Dividing by the largest magnitude first keeps the squares finite. Rows are contiguous
        # whatever the order of X is: otherwise the rounding errors of sums would depend on it.
        size = float(np.max(np.abs(X), initial=0.0)) or 1.0
        points = np.divide(X, dtype(size), order="C")
        mean = points.mean(axis=0, dtype=np.float64)
        points -= mean.astype(dtype)
        points[:, np.abs(points).max(axis=0, initial=0.0) <= rounding * np.abs(mean)] = 0.0
        if not rescale:
            return cls(points * dtype(size), None, 1.0)
        spread = float(np.sqrt(2.0 * np.sum(points.var(axis=0, dtype=np.float64)))) or 1.0
        points /= dtype(spread)
        span = cls(points, None, size * spread)
        n, m = X.shape
        return span._principal(tolerance) if (m >= n if principal is None else principal) else span

    def _principal(self, tolerance: float) -> Span:
        """The same points in a basis of their principal directions."""
        points = self.points.astype(np.float64)
        left, lengths, right = np.linalg.svd(points, full_matrices=False)
        keep = lengths > tolerance * max(1.0, lengths[0])
        keep[0] = True  # points that coincide keep one direction, in which they do
        points = (left[:, keep] * lengths[keep]).astype(self.points.dtype)
        return replace(self, points=points, basis=right[keep].T)

    @property
    def variances(self) -> NDArray:
        """Variance of the points along each coordinate."""
        return np.mean(np.square(self.points, dtype=np.float64), axis=0)

    def scaled(self, factor: float) -> Span:
        """The same coordinates in a unit that makes the points longer by `factor`."""
        return replace(self, points=self.points * factor, unit=self.unit / factor)

    def leading(self, n_directions: int) -> Span:
        """The points along the first directions of the basis alone."""
        assert self.basis is not None
        kept = self.points[:, :n_directions], self.basis[:, :n_directions]
        return replace(self, points=kept[0], basis=kept[1])

    def to_features(self, P: NDArray) -> NDArray:
        """Factor on the features, from a factor on these coordinates."""
        return self.directions(P) / self.unit

    def from_features(self, P: NDArray) -> NDArray:
        """Factor on these coordinates, from a factor on the features."""
        return (P if self.basis is None else P @ self.basis) * self.unit

    def directions(self, P: NDArray) -> NDArray:
        """Rows of `P` as directions in the features; their length stays what it is."""
        return P if self.basis is None else P @ self.basis.T
