"""The coordinates the solvers work in, and the way back from them.

Distances do not see a translation, so the points are centred (less cancellation). A common
factor only changes units, so it is taken out (no overflow, steps of order one). And where
there are fewer points than features, the metric lives in the span of the points: the solver
is given coordinates in that span alone. All three leave the optimum what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._sweep._chunks import ChunkedPoints, is_chunked, with_first


@dataclass(frozen=True)
class Space:
    """Coordinates ``(X - mean) @ basis / unit``, and factors of metrics on them.

    Parameters
    ----------
    points : ndarray or dask array of shape (n, d)
        The points in these coordinates.
    basis : ndarray of shape (m, d) or None
        Orthonormal columns; None for the features themselves.
    unit : float
        Length that counts as one: the root of the mean squared distance of two points.
    known_covariance : ndarray of shape (d, d) or None
        The points' covariance, where it need not be computed.
    """

    points: Any
    basis: NDArray | None
    unit: float
    known_covariance: NDArray | None = None

    @classmethod
    def make(cls, X: NDArray | ChunkedPoints, *, rescale: bool = True) -> Space:
        """Find the coordinates that suit the points `X`.

        Parameters
        ----------
        X : ndarray or ChunkedPoints of shape (n, m)
            Points. Those in chunks have to be more than their features.
        rescale : bool, default=True
            False keeps units and features as they are; the points are only centred.
        """
        if isinstance(X, ChunkedPoints):
            return cls._of_chunks(X, rescale)
        # A first division by the largest magnitude keeps the squares finite.
        size = float(np.max(np.abs(X), initial=0.0)) or 1.0
        # (Rows first, whatever a data frame has: sums would differ by their rounding errors.)
        points = np.divide(X, X.dtype.type(size), order="C")
        points -= points.mean(axis=0, dtype=np.float64).astype(X.dtype)
        if not rescale:
            return cls(points * X.dtype.type(size), None, 1.0)
        squared = 2.0 * float(np.sum(points.var(axis=0, dtype=np.float64)))
        spread = np.sqrt(squared) or 1.0
        points /= X.dtype.type(spread)
        basis = None
        if points.shape[1] >= points.shape[0]:
            left, lengths, right = np.linalg.svd(points.astype(np.float64), full_matrices=False)
            keep = lengths > 1e-7 * max(1.0, lengths[0])
            keep[0] = True
            basis = right[keep].T
            points = (left[:, keep] * lengths[keep]).astype(X.dtype)
        return cls(points, basis, size * spread)

    @classmethod
    def _of_chunks(cls, X: ChunkedPoints, rescale: bool) -> Space:
        if not rescale:
            return cls(X.scaled(1.0 / X.size), None, 1.0, X.covariance * X.size**2)
        spread = float(np.sqrt(2.0 * np.trace(X.covariance))) or 1.0
        return cls(X.scaled(spread), None, X.size * spread, X.covariance / spread**2)

    def points_with_first(self, rows: NDArray) -> Any:
        """The points, those of some rows before all others; the others keep their order."""
        if is_chunked(self.points):
            return with_first(self.points, rows)
        others = np.ones(len(self.points), dtype=bool)
        others[rows] = False
        return self.points[np.concatenate([rows, np.flatnonzero(others)])]

    @property
    def top_variance(self) -> float:
        """Largest eigenvalue of the points' covariance, in these units."""
        if self.known_covariance is not None:
            return float(np.linalg.eigvalsh(self.known_covariance)[-1])
        points = self.points.astype(np.float64)
        gram = points.T @ points if points.shape[1] <= points.shape[0] else points @ points.T
        return float(np.linalg.eigvalsh(gram)[-1]) / len(points)

    @property
    def n_features(self) -> int:
        """Number of the user's features."""
        return (self.points if self.basis is None else self.basis.T).shape[1]

    def to_features(self, P: NDArray) -> NDArray:
        """Factor on the user's features, from a factor on these coordinates."""
        return (P if self.basis is None else P @ self.basis.T) / self.unit

    def from_features(self, P: NDArray) -> NDArray:
        """Factor on these coordinates, from a factor on the user's features."""
        return (P if self.basis is None else P @ self.basis) * self.unit

    def first_factor(self, eta: float, rank: int) -> NDArray:
        """Multiple of the projection on the leading principal components.

        At full rank it is a multiple of the identity. The mean squared distance of two
        points is `eta` under it: the threshold divides the pairs, so that the entropy of the
        unlabelled ones has something to say (at the zero metric it has a maximum of its own).
        """
        d, covariance = self.points.shape[1], self.known_covariance
        if rank >= d:
            variance = self.points.var(axis=0) if covariance is None else np.diag(covariance)
            directions, squared = np.eye(d), 2.0 * float(np.sum(variance))
        else:
            if covariance is None:
                points = self.points.astype(np.float64)
                covariance = points.T @ points / len(points)
            values, vectors = np.linalg.eigh(covariance)
            directions = vectors[:, ::-1][:, :rank].T
            squared = 2.0 * float(values[::-1][:rank].sum())
        return directions * np.sqrt(eta / squared) if squared > 0.0 else directions
