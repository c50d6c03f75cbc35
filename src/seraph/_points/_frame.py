"""Read the points of a fit; their center, unit and span are the coordinates of the solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils.random import sample_without_replacement

from .._pairs import library, like
from .._utils._eigen import eigh
from .._utils._typing import Array
from .._utils._validation import as_numbers
from ._arrays import (
    Moments,
    as_points,
    check_range,
    check_tensor,
    check_unit,
    is_chunked,
    is_tensor,
    principal_directions,
    to_memory,
)
from ._dask import read_chunks

# Number of principal directions that a fit may start from.
_LEADING = 100


@dataclass(frozen=True)
class Frame:
    """The map from features to the solvers' coordinates, ``(x - mean) @ basis / unit``.

    Distances do not depend on the origin, so the points are centered, which avoids cancellation. A
    common factor only changes the units; dividing it out keeps steps near one. With no more points
    than features, the objective depends on the metric in the span of the points alone, so the
    solvers get coordinates in that span. The maximum is the same.

    `unit` is the root mean squared distance between two points, or 1; `covariance` that of all
    points in these coordinates; `basis` has d orthonormal columns, None for the features
    themselves; and `std` the standard deviation of each feature.
    """

    mean: Array
    unit: float
    covariance: Array
    basis: Array | None
    std: Array

    @classmethod
    def of_moments(cls, moments: Moments, dtype_name: str) -> Frame:
        """Make the frame of points of a type from their moments."""
        with np.errstate(over="ignore", invalid="ignore"):
            covariance = moments.scatter / moments.n
            variance = float(np.trace(covariance))
            size = np.abs(moments.mean).max(initial=0.0)
            rounding = len(covariance) * (8.0 * np.finfo(np.float64).eps * size) ** 2
        if np.isfinite(variance) and variance <= rounding:
            variance, covariance = 0.0, np.zeros_like(covariance)  # all points are equal
        unit = float(np.sqrt(2.0 * variance)) or 1.0
        check_unit(unit if np.isfinite(unit) else np.inf, dtype_name)
        std = np.sqrt(np.diag(covariance))
        return cls(moments.mean, unit, covariance / unit**2, None, std)

    @classmethod
    def of_span(cls, X: Array) -> Frame:
        """Make the frame of points that are no more than the features."""
        X = np.ascontiguousarray(X)  # so that a frame gives the bits of an array
        check_range(X)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = X.mean(axis=0, dtype=np.float64)
            points = np.subtract(X, mean, order="C")
            squares = np.einsum("ij,ij->j", points, points) / len(X)
            unit = float(np.sqrt(2.0 * squares.sum()))
        size = float(np.abs(mean).max(initial=0.0))
        if unit <= 8.0 * np.finfo(X.dtype).eps * size * np.sqrt(X.shape[1]) and (X[0] == X).all():
            points, squares, unit = np.zeros_like(points), np.zeros_like(squares), 0.0
        unit = unit or 1.0
        _, lengths, directions = principal_directions(points / unit)
        covariance = np.diag(lengths**2 / len(X))
        return cls(mean, unit, covariance, directions.T, np.sqrt(squares))

    def without_unit(self) -> Frame:
        """Return the frame that only centers the points: the features themselves."""
        basis = np.eye(len(self.mean)) if self.basis is None else self.basis
        covariance = basis @ (self.covariance * self.unit**2) @ basis.T
        return replace(self, unit=1.0, covariance=covariance, basis=None)

    def apply(self, X: Any) -> Any:
        """Map points to these coordinates, in their own precision and on their device."""
        mean = like(self.mean, X)
        points = np.subtract(X, mean, order="C") if library(X) is np else X - mean
        points /= self.unit
        return points if self.basis is None else points @ like(self.basis, X)

    def to_features(self, P: Array) -> Array:
        """Turn a factor on these coordinates into one on the user's features."""
        return (P if self.basis is None else P @ self.basis.T) / self.unit

    def from_features(self, P: Array) -> Array:
        """Turn a factor on the user's features into one on these coordinates."""
        return (P if self.basis is None else P @ self.basis) * self.unit

    def total_variance(self, P: Array) -> float:
        """Return the total variance of the points under ``P'P``, P on the user's features."""
        Q = self.from_features(P.astype(np.float64, copy=False))
        return float(np.vdot(Q @ self.covariance, Q))

    @cached_property
    def principal_axes(self) -> tuple[Array, Array]:
        """Variances along the leading principal directions, the smallest first; the directions.

        These are columns, at most 100: finding all of them can take longer than a fit.
        """
        d = len(self.covariance)
        if d <= _LEADING or not np.isfinite(self.covariance).all():
            return eigh(self.covariance)
        values, vectors = linalg.eigh(self.covariance, subset_by_index=(d - _LEADING, d - 1))
        return values, vectors

    def start(self, eta: float, rank: int) -> Array:
        """Make a factor to start from: a multiple of the leading principal components.

        At full rank it is a multiple of the identity. The mean squared distance under it is
        `eta`, so that there are pairs on both sides of the threshold, and the gradient of the
        entropy is not small. (The zero metric is a local maximum of the entropy's term.)
        """
        d = len(self.covariance)
        if rank >= d:
            directions, variance = np.eye(d), float(np.trace(self.covariance))
        else:
            is_few = rank <= len(self.principal_axes[0])
            values, vectors = self.principal_axes if is_few else eigh(self.covariance)
            directions, variance = vectors[:, ::-1][:, :rank].T, float(values[::-1][:rank].sum())
        return directions * np.sqrt(0.5 * eta / variance) if variance > 0.0 else directions


@dataclass(frozen=True)
class PointSet:
    """The checked points of a fit: their frame, and access to some rows.

    `take` returns rows by number, as an array or a tensor in the precision of the points, `dtype`.
    The unlabeled pairs are sampled from the rows `sampled`, None for all; `rows` are the sampled
    and the labeled ones, None for all. Of a dask collection, `take` has no others.
    """

    shape: tuple[int, int]
    frame: Frame
    take: Callable[[Any], Any]
    dtype: np.dtype[Any]
    sampled: Array | None = None
    rows: Array | None = None

    @cached_property
    def in_memory(self) -> Array:
        """The rows to learn from, as an array."""
        rows: Array = to_memory(self.take(slice(None) if self.rows is None else self.rows))
        return rows


def choose_rows(n: int, most: float, seed: Any) -> Array | None:
    """Choose at most `most` of `n` rows at random, in increasing order; None for all."""
    if n <= most:
        return None
    rows: Array = sample_without_replacement(n, int(most), random_state=seed)
    return np.sort(rows)


def read_points(
    X: Any, name: str, labeled: Callable[[int], Array], most: float, seed: Any
) -> PointSet:
    """Check the points of a fit of the estimator `name`.

    Computation happens where they are: a tensor stays on its device. Of a dask collection, only
    the rows that are needed come into memory: a sample of at most `most`, for unlabeled pairs, and
    those that `labeled` returns for a number of rows.
    """
    if is_chunked(X):
        with as_numbers("X", X):
            collection = read_chunks(X, labeled, lambda n: choose_rows(n, most, seed))
        if collection is not None:
            moments, take, dtype, sampled, rows = collection
            frame = Frame.of_moments(moments, dtype.name)
            return PointSet((moments.n, len(moments.mean)), frame, take, dtype, sampled, rows)
    if is_tensor(X):
        array = check_tensor(X.detach(), name)
    else:
        array = as_points(X, ensure_min_samples=2, estimator=name)
    n, m = array.shape
    dtype = np.dtype(str(array.dtype).removeprefix("torch."))
    if n <= m:
        frame = Frame.of_span(to_memory(array))
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            moments = Moments.of(array)
        tiny = np.finfo(np.float64).tiny
        if not tiny <= np.trace(moments.scatter) < np.inf:  # squares vanish or overflow
            check_range(to_memory(array))
        frame = Frame.of_moments(moments, dtype.name)
    sampled = choose_rows(n, most, seed)
    rows = None if sampled is None else np.union1d(sampled, labeled(n))
    return PointSet((n, m), frame, array.__getitem__, dtype, sampled, rows)
