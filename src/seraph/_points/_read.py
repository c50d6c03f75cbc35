"""Check `X`, and return its frame and its rows, wherever they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.random import sample_without_replacement

from .._utils._typing import Array
from .._utils._validation import as_numbers
from ._arrays import FLOATS, check_range, is_chunked, is_tensor, to_memory
from ._dask import read_chunks
from ._frame import Frame, Moments


@dataclass(frozen=True)
class PointSet:
    """The checked points of a fit: their frame, and access to some rows.

    Parameters
    ----------
    shape : tuple of int
        Number of points and of features.
    frame : Frame
        Mean, unit and covariance of all points.
    take : callable
        Returns rows by number, as an array or a tensor in the precision of the points.
    dtype : dtype
        Type of the points, float32 or float64.
    sampled : ndarray of int or None
        The rows that the unlabeled pairs are sampled from; None for all.
    in_memory : ndarray of int or None
        The rows of a dask collection that `take` has: the sampled and the labeled ones; None for
        all.
    """

    shape: tuple[int, int]
    frame: Frame
    take: Callable[[Any], Any]
    dtype: np.dtype[Any]
    sampled: Array | None = None
    in_memory: Array | None = None

    def __len__(self) -> int:
        return self.shape[0]


def choose_rows(n: int, most: float, seed: Any) -> Array | None:
    """Choose at most `most` of `n` rows at random, in increasing order; None for all.

    Examples
    --------
    >>> choose_rows(10, 3, 0), choose_rows(3, 10, 0)
    (array([2, 4, 8]), None)
    """
    if n <= most:
        return None
    rows: Array = sample_without_replacement(n, int(most), random_state=seed)
    return np.sort(rows)


def read_points(
    X: Any, name: str, labeled: Callable[[int], Array], most: float, seed: Any
) -> PointSet:
    """Check the points of a fit.

    Parameters
    ----------
    X : array-like, tensor or dask collection of shape (n_samples, n_features)
        The user's points. Computation happens where they are: a tensor stays on its device. Of a
        dask collection, only the rows that are needed come into memory.
    name : str
        The estimator, for messages.
    labeled : callable
        Returns the labeled rows of a table with a number of rows: they are needed, too.
    most : int
        Largest number of rows to sample unlabeled pairs from.
    seed : int or RandomState
        Seed of that sample.
    """
    if is_chunked(X):
        with as_numbers("X", X):
            collection = read_chunks(X, labeled, lambda n: choose_rows(n, most, seed))
        if collection is not None:
            return PointSet(*collection)
    if is_tensor(X):
        array = _check_tensor(X, name)
    else:
        is_float = type(X) is np.ndarray and X.dtype in FLOATS  # then there is nothing to look at
        with as_numbers("X", None if is_float else X):
            array = check_array(
                to_memory(X), dtype=FLOATS, ensure_min_samples=2, estimator=name, input_name="X"
            )
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
    return PointSet((n, m), frame, array.__getitem__, dtype, choose_rows(n, most, seed))


def _check_tensor(X: Any, name: str) -> Any:
    """Check a tensor on its device."""
    if X.ndim != 2 or X.is_complex() or min(X.shape) < 1 or len(X) < 2:
        raise ValueError(
            f"X must be a tensor of real numbers with 2 dimensions, at least 2 rows and 1 "
            f"column; got {X.dtype} of shape {tuple(X.shape)}."
        )
    X = X.detach()
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
