"""What `X` is, and simple properties of arrays of points."""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from .._pairs import library
from .._utils._eigen import right_svd
from .._utils._typing import Array
from .._utils._validation import as_numbers, check_read, check_unmasked

FLOATS = (np.float64, np.float32)
# Singular values below this share of the largest are rounding errors: their squares, the
# eigenvalues of the scatter matrix, have no correct digit.
TOLERANCE = 1e-7
# A feature that deviates from its mean by less than this share of it is constant up to rounding
# errors, which must not be amplified where features are divided by their standard deviation.
CONSTANT_FEATURE = 1e-13
# Rows at a time whose moments are computed: few enough that a copy stays in the cache.
_ROWS = 1 << 12
# Range of the typical distance of two points for which a metric, and weights in its units, neither
# overflow nor become subnormal.
_UNITS = {"float64": (1e-150, 1e152), "float32": (1e-34, 1e34)}


def is_tensor(X: Any) -> bool:
    """Whether `X` is a torch tensor. torch need not be installed."""
    return type(X).__module__.partition(".")[0] == "torch"


def is_chunked(X: Any) -> bool:
    """Whether `X` is a dask collection. dask need not be installed."""
    return type(X).__module__.partition(".")[0].startswith("dask")


def to_memory(X: Any) -> Any:
    """Bring a tensor or a dask collection into memory; leave anything else as it is.

    Half precision becomes single: scikit-learn would make it double. A masked array must have no
    masked entry: scikit-learn would drop the mask.
    """
    if is_tensor(X):
        X = X.detach().cpu()
        half = X.is_floating_point() and X.element_size() < 4
        return (X.float() if half else X).numpy()
    if is_chunked(X):
        return to_memory(X.compute())
    if issparse(X):
        few = max(1, min(100, *(size - 1 for size in X.shape)))
        raise TypeError(
            f"X is a sparse matrix of shape {X.shape}; a learned distance needs dense rows. "
            f"Reduce it first: make_pipeline(TruncatedSVD({few}), learner) of "
            "scikit-learn. (X.toarray() makes it dense, if it is small.)"
        )
    if isinstance(X, np.ma.MaskedArray):
        check_unmasked(X)
        return to_memory(X.data)
    if isinstance(X, np.ndarray) and X.dtype == np.float16:
        return X.astype(np.float32)
    return X


def as_points(X: Any, name: str = "X", **options: Any) -> Array:
    """Return a table of numbers as an array of floats, checked with options of `check_array`."""
    with as_numbers(name, X):
        points: Array = check_array(to_memory(X), dtype=FLOATS, input_name=name, **options)
    return points


def check_tensor(X: Any, name: str, least: int = 2) -> Any:
    """Check a tensor of points on its device; `name` is the estimator, for messages."""
    if X.ndim != 2 or X.is_complex() or X.shape[1] < 1 or len(X) < least:
        raise ValueError(
            f"X must be a tensor of real numbers with 2 dimensions, at least {least} rows and 1 "
            f"column; got {X.dtype} of shape {tuple(X.shape)}."
        )
    if not X.is_floating_point():
        X = X.double() if X.device.type != "mps" else X.float()
    elif X.element_size() < 4:
        X = X.float()
    if not bool(X.isfinite().all()):
        raise ValueError(
            f"Input X contains NaN or infinity, which {name} does not accept: impute or drop "
            "those rows."
        )
    return X


def header(X: Any) -> Any:
    """Return a table that has the number and names of the features, perhaps without rows.

    It is a frame without rows for a dask data frame, and `X` itself for anything else.
    """
    check_read("X", X)
    if not (is_chunked(X) and hasattr(X, "columns")):
        return X
    import pandas

    return pandas.DataFrame(columns=X.columns)


def magnitude(X: Array) -> float:
    """Return the largest absolute value in `X`, 1 if all are 0."""
    return max(float(X.max(initial=0.0)), -float(X.min(initial=0.0))) or 1.0


def exact_size(size: float) -> float:
    """Return a divisor for points of magnitude `size`, to be applied before they are centered.

    It is a power of two, because division by it is exact. Rounding errors of another division
    would be large beside the differences between points far from the origin.
    """
    fraction, exponent = math.frexp(size)
    largest = sys.float_info.max_exp - 1
    return math.ldexp(1.0, min(exponent - (fraction == 0.5), largest))


def check_unit(unit: float, dtype_name: str) -> None:
    """Refuse points whose squared distances would overflow or underflow."""
    low, high = _UNITS[dtype_name]
    if low <= unit <= high:
        return
    raise ValueError(
        f"The typical distance between two points is {unit:.1e}, and {dtype_name} has room for "
        f"{low:g} to {high:g}. Scale the features first, for example with "
        "sklearn.preprocessing.StandardScaler; or divide X by this distance, which changes "
        "nothing but the units."
    )


def check_range(X: Array) -> None:
    """Refuse points as `check_unit` does; points that are all equal pass."""
    size = magnitude(X)
    apart = X / X.dtype.type(size)
    apart = apart - apart[0]
    spread = math.sqrt(2.0 * float(np.einsum("ij,ij->", apart, apart, dtype=np.float64)) / len(X))
    if spread > 0.0:
        check_unit(size * spread, X.dtype.name)


def subtract_mean(X: Array, *, rounding: float = 0.0) -> Array:
    """Subtract the mean, taken in double precision, from the points `X`.

    A feature that deviates from its mean by at most the share `rounding` of it becomes 0.
    """
    mean = X.mean(axis=0, dtype=np.float64)
    points: Array = X - mean.astype(X.dtype)
    constant = np.abs(points).max(axis=0) <= rounding * np.abs(mean)
    points[:, constant] = 0.0
    return points


def principal_directions(
    points: Array, tolerance: float = TOLERANCE
) -> tuple[Array, Array, Array]:
    """Decompose centered points along their principal directions, the longest first.

    Directions whose singular value is at most the `tolerance`, a share of the largest, are left
    out; points that all coincide keep one.

    With n points of m features, returns `left` of shape (n, d) with orthonormal columns, the
    singular values and the directions, in rows; ``left * lengths`` are the coordinates.
    """
    lengths, directions = right_svd(points)
    rank = max(1, int(np.sum(lengths > tolerance * lengths[0])))
    lengths, directions = lengths[:rank], directions[:rank]
    left = points @ directions.T / np.where(lengths > 0.0, lengths, 1.0)
    return left, lengths, directions


class Moments(NamedTuple):
    """Number, mean and scatter (sum of squares around the mean) of rows, in double precision."""

    n: int
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, X: Any) -> Moments:
        """Compute the moments of an array, or of a tensor on its device."""
        if library(X) is not np:
            return cls._of_tensor(X)
        total = cls(0, np.zeros(X.shape[1]), np.zeros((X.shape[1],) * 2))
        for start in range(0, len(X), _ROWS):
            # (In one order in memory, so that a frame gives the bits of an array.)
            rows = X[start : start + _ROWS].astype(np.float64, order="C")
            mean = rows.mean(axis=0)
            rows -= mean
            total = total.merge(cls(len(rows), mean, rows.T @ rows))
        return total

    @classmethod
    def _of_tensor(cls, X: Any) -> Moments:
        torch = library(X)
        wide = torch.float32 if X.device.type == "mps" else torch.float64
        mean = X.mean(dim=0, dtype=wide)
        centered = X - mean.to(X.dtype)
        scatter = (centered.T @ centered).to(wide)
        shift = centered.mean(dim=0, dtype=wide)  # what rounding the mean left
        scatter = scatter - len(X) * torch.outer(shift, shift)
        return cls(len(X), to_memory(mean).astype(float), to_memory(scatter).astype(float))

    def merge(self, other: Moments) -> Moments:
        """Return the moments of both sets of rows (Chan, Golub and LeVeque 1979)."""
        n = self.n + other.n
        if n == 0:
            return self
        apart = other.mean - self.mean
        share = other.n / n
        between = self.n * share * np.outer(apart, apart)
        return Moments(n, self.mean + share * apart, self.scatter + other.scatter + between)
