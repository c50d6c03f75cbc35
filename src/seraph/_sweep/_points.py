"""The points of a fit behind one interface, whether in memory or in the chunks of a cluster.

Code outside this room works with `Points` and `Coordinates`, and does not know where the data is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._utils._eigen import eigh, svd
from .._utils._typing import Array, computed_once
from .._utils._validation import check_unmasked
from ._moments import Frame, exact_size, rounding_of_mean

FLOATS = (np.float64, np.float32)
# Singular values below this share of the largest are rounding errors: their squares, the
# eigenvalues of the scatter matrix, have no correct digit.
TOLERANCE = 1e-7
# A feature that deviates from its mean by less than this share of it is constant up to rounding
# errors, which must not be amplified where features are divided by their standard deviation.
CONSTANT_FEATURE = 1e-13
# Rows to convert to double precision at a time, and rows to sum in their own precision.
_ROWS, _SHORT = 1 << 14, 1 << 9
# Squares of numbers between these neither overflow nor become subnormal.
_LOW, _HIGH = 1e-140, 1e150
# Range of the typical distance of two points for which a metric, and weights in its units, neither
# overflow nor become subnormal.
_UNITS = {"float64": (1e-150, 1e152), "float32": (1e-34, 1e34)}
# The typical distance of two points is at most 2 sqrt(m) times their largest magnitude, with m
# features. If the magnitude is below this share of the upper limit, then so is the distance, up to
# a quarter of a million features, and it need not be computed.
_FAR_BELOW = 1e-3


def is_tensor(X: Any) -> bool:
    """Whether `X` is a torch tensor. torch need not be installed."""
    return type(X).__module__.partition(".")[0] == "torch"


def is_chunked(X: Any) -> bool:
    """Whether `X` is a dask collection. dask need not be installed."""
    return type(X).__module__.partition(".")[0].startswith("dask")


def _few(shape: tuple[int, ...]) -> int:
    """Return a number of directions to reduce a matrix to; less than it has of columns."""
    return max(1, min(100, *(size - 1 for size in shape)))


def to_memory(X: Any) -> Any:
    """Bring a tensor or a dask collection into memory; leave anything else as it is.

    Half precision becomes single: scikit-learn would make it double. A masked array must have no
    masked entry: scikit-learn would drop the mask.

    Examples
    --------
    >>> to_memory([1.0, 2.0])
    [1.0, 2.0]
    >>> to_memory(np.ones(2, dtype=np.float16))
    array([1., 1.], dtype=float32)
    """
    if is_tensor(X):
        X = X.detach().cpu()
        half = X.is_floating_point() and X.element_size() < 4
        return (X.float() if half else X).numpy()
    if is_chunked(X):
        return to_memory(X.compute())
    if issparse(X):
        raise TypeError(
            f"X is a sparse matrix of shape {X.shape}; a learned distance needs dense rows. "
            f"Reduce it first: make_pipeline(TruncatedSVD({_few(X.shape)}), learner) of "
            "scikit-learn. (X.toarray() makes it dense, if it is small.)"
        )
    if isinstance(X, np.ma.MaskedArray):
        check_unmasked(X)
        return to_memory(X.data)
    if isinstance(X, np.ndarray) and X.dtype == np.float16:
        return X.astype(np.float32)
    return X


def header(X: Any) -> Any:
    """Return a table that has the number and names of the features, perhaps without rows.

    It is a frame without rows for a dask data frame, and `X` itself for anything else.

    Examples
    --------
    >>> header([[1.0, 2.0]])
    [[1.0, 2.0]]
    """
    if not (is_chunked(X) and hasattr(X, "columns")):
        return X
    import pandas

    return pandas.DataFrame(columns=X.columns)


def magnitude(X: Array) -> float:
    """Return the largest absolute value in `X`, 1 if all are 0.

    The squares of points divided by it do not overflow.

    Examples
    --------
    >>> import numpy as np
    >>> magnitude(np.array([[1e200, -3e200]]))
    3e+200
    """
    return max(float(X.max(initial=0.0)), -float(X.min(initial=0.0))) or 1.0


def check_unit(unit: float, dtype: np.dtype[Any]) -> None:
    """Refuse points whose squared distances would overflow or underflow.

    Examples
    --------
    >>> check_unit(1.0, np.dtype(np.float64))
    >>> check_unit(1e200, np.dtype(np.float64))
    Traceback (most recent call last):
        ...
    ValueError: The typical distance between two points is 1.0e+200, and float64 has room for...
    """
    low, high = _UNITS[dtype.name]
    if low <= unit <= high:
        return
    raise ValueError(
        f"The typical distance between two points is {unit:.1e}, and {dtype.name} has room for "
        f"{low:g} to {high:g}. Scale the features first, for example with "
        "sklearn.preprocessing.StandardScaler; or divide X by this distance, which changes "
        "nothing but the units."
    )


def check_range(X: Array) -> None:
    """Refuse points as `check_unit` does.

    Examples
    --------
    >>> check_range(np.array([[1e170], [1e170]]))  # at no distance
    """
    low, high = _UNITS[X.dtype.name]
    # Points that differ do so by at least a rounding error.
    if not low / np.finfo(X.dtype).eps <= magnitude(X) <= _FAR_BELOW * high:
        check_unit(PointsInMemory(X).coordinates().unit, X.dtype)


def scatter(points: Array) -> Array:
    """Compute ``X'X`` in double precision, some rows at a time.

    Examples
    --------
    >>> import numpy as np
    >>> scatter(np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32))
    array([[10., 14.],
           [14., 20.]])
    """
    total = np.zeros((points.shape[1],) * 2)
    for start in range(0, len(points), _ROWS):
        rows = points[start : start + _ROWS].astype(np.float64, copy=False)
        total += rows.T @ rows
    return total


def squared_norms(points: Array) -> Array:
    """Compute the squared norm of each row, in the precision of the points."""
    norms: Array = np.einsum("ij,ij->i", points, points)
    return norms


def _means(X: Array) -> Array:
    """Return the mean of each feature, in double precision (twice as fast as `X.mean`)."""
    total: Array = np.einsum("ij->j", X, dtype=np.float64, casting="safe")
    return total / len(X)


def subtract_mean(X: Array, *, rounding: float = 0.0) -> Array:
    """Subtract the mean, taken in double precision, from the points `X`.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Points. The result has the same dtype.
    rounding : float, default=0.0
        Make a feature 0 if it deviates from its mean by at most this share of it.

    Examples
    --------
    >>> import numpy as np
    >>> subtract_mean(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    mean = _means(X)
    points: Array = X - mean.astype(X.dtype)
    limit = rounding * np.abs(mean)
    constant = np.flatnonzero(np.abs(points[0]) <= limit)  # by the first point: few, if any
    if len(constant):
        constant = constant[np.abs(points[:, constant]).max(axis=0) <= limit[constant]]
        points[:, constant] = 0.0
    return points


def principal_directions(
    points: Array, tolerance: float = TOLERANCE
) -> tuple[Array, Array, Array]:
    """Decompose centered points along their principal directions, the longest first.

    Directions with a singular value of zero are left out; points that all coincide keep one.

    Parameters
    ----------
    points : ndarray of shape (n, m)
        Centered points.
    tolerance : float, default=TOLERANCE
        Share of the largest singular value up to which others are rounding errors.

    Returns
    -------
    left : ndarray of shape (n, d)
        Orthonormal columns; ``left * lengths`` are the points' coordinates.
    lengths : ndarray of shape (d,)
        Singular values: root of the sum of squares of the points along each direction.
    directions : ndarray of shape (d, m)
        Orthonormal rows.

    Examples
    --------
    >>> import numpy as np
    >>> left, lengths, directions = principal_directions(np.array([[3.0, 4.0], [-3.0, -4.0]]))
    >>> left.shape, lengths.round(6), abs(directions).round(6)
    ((2, 1), array([7.071068]), array([[0.6, 0.8]]))
    """
    left, lengths, directions = svd(points)
    rank = max(1, int(np.sum(lengths > tolerance * lengths[0])))
    return left[:, :rank], lengths[:rank], directions[:rank]


@dataclass(frozen=True)
class Coordinates:
    """Points in the solvers' coordinates, ``(X - mean) @ basis / unit``, and the inverse map.

    Distances are invariant to translation, so the points are centered, which avoids cancellation.
    A common factor only changes the units, so it is divided out, which avoids overflow and
    keeps steps near one. With no more points than features, the objective depends on the metric
    in the span of the points alone, so the solvers get coordinates in that span. The optimum is
    the same.

    Parameters
    ----------
    array : ndarray or dask array of shape (n, d)
        The points in these coordinates.
    basis : ndarray of shape (m, d) or None
        Orthonormal columns; None for the features themselves.
    unit : float
        Unit of length: the root mean squared distance between two points.
    known_covariance : ndarray of shape (d, d) or None
        Covariance of `array`, if it is known already.
    """

    array: Any
    basis: Array | None
    unit: float
    known_covariance: Array | None = None

    @property
    def n_features(self) -> int:
        """Number of the user's features."""
        return (self.array if self.basis is None else self.basis.T).shape[1]

    def to_features(self, P: Array) -> Array:
        """Turn a factor on these coordinates into one on the user's features."""
        return (P if self.basis is None else P @ self.basis.T) / self.unit

    def from_features(self, P: Array) -> Array:
        """Turn a factor on the user's features into one on these coordinates."""
        return (P if self.basis is None else P @ self.basis) * self.unit

    @computed_once
    def covariance(self) -> Array:
        """Covariance of the points."""
        if self.known_covariance is not None:
            return self.known_covariance
        return scatter(self.array) / len(self.array)

    def some_rows(self, count: int) -> Array:
        """Return at most `count` points, in double precision.

        They are evenly spaced in the order of their norms, so that they depend neither on the
        order of the rows nor on their chunks.
        """
        step = -(-len(self.array) // count)
        return self.take(self.rows_by_norm()[::step]).astype(np.float64)

    def rows_by_norm(self) -> Array:
        """Sort the rows by their norms; those of nearly equal norm keep their order.

        Whole numbers have many equal norms, which rounding errors must not sort.
        """
        norms = self.squared_norms().astype(np.float64)
        return np.argsort(np.round(norms / (norms.mean() or 1.0), 9), kind="stable")

    def squared_norms(self) -> Array:
        """Compute the squared norm of each point."""
        return squared_norms(self.array)

    def take(self, rows: Array) -> Array:
        """Return some of the points."""
        found: Array = self.array[rows]
        return found

    @computed_once
    def principal_axes(self) -> tuple[Array, Array]:
        """Variances along the principal directions, the smallest first, and these as columns."""
        return eigh(self.covariance)

    def start(self, eta: float, rank: int) -> Array:
        """Make a factor to start from: a multiple of the leading principal components.

        At full rank it is a multiple of the identity. The mean squared distance under it is
        `eta`, so that there are pairs on both sides of the threshold, and the gradient of the
        entropy is not small. (The zero metric is a local maximum of the entropy's term.)
        """
        d = self.array.shape[1]
        if rank >= d:
            directions, variance = np.eye(d), float(np.trace(self.covariance))
        else:
            values, vectors = self.principal_axes
            directions, variance = vectors[:, ::-1][:, :rank].T, float(values[::-1][:rank].sum())
        return directions * np.sqrt(0.5 * eta / variance) if variance > 0.0 else directions

    def with_first(self, rows: Array) -> Any:
        """Return the points with some rows moved to the front; the others keep their order."""
        if len(rows) == 0:
            return self.array  # which may be large, and is only read
        others = np.ones(len(self.array), dtype=bool)
        others[rows] = False
        return self.array[np.concatenate([rows, np.flatnonzero(others)])]


@dataclass(frozen=True)
class Points(ABC):
    """The checked points of a fit.

    Parameters
    ----------
    array : ndarray or dask array of shape (n, m), float32 or float64
        The points.
    """

    array: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of features."""
        n, m = self.array.shape
        return n, m

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers, float32 or float64."""
        found: np.dtype[Any] = self.array.dtype
        return found

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def std(self) -> Array:
        """Compute the standard deviation of each feature."""

    @abstractmethod
    def coordinates(self, *, rescale: bool = True) -> Coordinates:
        """Find the coordinates for the solvers; unless `rescale`, only center the points."""

    @abstractmethod
    def digest(self) -> str:
        """Return a digest of all numbers."""


@dataclass(frozen=True)
class PointsInMemory(Points):
    """Points in an array.

    Parameters
    ----------
    array : ndarray of shape (n, m)
        The points.
    gpu : str or None
        CUDA device that computes their `frame`; None is the CPU.

    Examples
    --------
    >>> points = PointsInMemory(np.array([[1.0, 2.0], [3.0, 2.0]]))
    >>> len(points), points.std()
    (2, array([1., 0.]))
    """

    array: Array
    gpu: str | None = None

    def __getitem__(self, rows: Array) -> PointsInMemory:
        return replace(self, array=self.array[rows])

    @computed_once
    def frame(self) -> Frame:
        """Mean, unit and covariance of the points, from one pass without a copy of them."""
        if self.gpu is None:
            return Frame.of(self.array)
        from ._torch import compute_moments_on

        return compute_moments_on(self.array, self.gpu).frame()

    def std(self) -> Array:
        """Compute the standard deviation of each feature."""
        if self.gpu is not None:
            return self.frame.std()
        X, size = self.array, magnitude(self.array)
        if not _LOW < size < _HIGH:
            with np.errstate(over="ignore"):  # numpy 1 warns of some numbers near the smallest
                return size * PointsInMemory(X / X.dtype.type(size)).std()
        mean = _means(X)
        squares = np.zeros(X.shape[1])
        for start in range(0, len(X), _SHORT):
            rows = X[start : start + _SHORT] - mean.astype(X.dtype)
            squares += np.einsum("ij,ij->j", rows, rows)
        return np.sqrt(squares / len(X))

    def coordinates(self, *, rescale: bool = True) -> Coordinates:
        """Find the coordinates for the solvers; unless `rescale`, only center the points."""
        X = self.array
        size = exact_size(magnitude(X))
        # (In C order, also if a data frame has Fortran order: rounding errors depend on it.)
        # This is the only copy of the points, which may fill half of the memory.
        with np.errstate(over="ignore"):  # as above
            points = np.divide(X, X.dtype.type(size), order="C")
        points -= _means(points).astype(X.dtype)
        squares = np.einsum("ij,ij->", points, points, dtype=np.float64, casting="safe")
        squared = 2.0 * float(squares) / len(points)
        if squared <= rounding_of_mean(X.dtype, X.shape[1]) and (X[0] == X).all():
            points[:] = 0.0
            squared, size = 0.0, 1.0
        if not rescale:
            return Coordinates(points * X.dtype.type(size), None, 1.0)
        spread = np.sqrt(squared) or 1.0
        points /= X.dtype.type(spread)
        basis = None
        if points.shape[1] >= points.shape[0]:
            left, lengths, directions = principal_directions(points.astype(np.float64))
            basis = directions.T
            points = (left * lengths).astype(X.dtype)
        return Coordinates(points, basis, size * spread)

    def digest(self) -> str:
        """Return a digest of all numbers."""
        return digest(self.array)


def digest(*values: Any) -> str:
    """Digest arrays, strings and bytes; it depends on their shapes and types, too.

    Examples
    --------
    >>> digest(np.zeros(2)) == digest(np.zeros((2, 1)))
    False
    """
    whole = blake2b(digest_size=20)
    for value in values:
        if isinstance(value, str | bytes):
            content: Any = value.encode() if isinstance(value, str) else value
            form = f"text of {len(content)}"
        else:
            array = to_memory(value)
            form = f"{array.shape} {array.dtype}"
            content = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        whole.update(f"{form}\n".encode())
        whole.update(content)
    return whole.hexdigest()
