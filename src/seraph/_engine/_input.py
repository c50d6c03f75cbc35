"""The input step: check the user's arguments, and choose the backend."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from .._marks import Marks, PairLabels
from .._sweep import (
    FLOATS,
    ChunkedPoints,
    Points,
    PointsInMemory,
    choose_backend,
    is_chunked,
    to_memory,
)
from .._utils._typing import Array
from .._utils._validation import as_numbers
from .._utils._warnings import warn
from ._advice import warn_of_labels
from ._settings import Settings

# Warn if the standard deviations of two features differ by more than this factor, or if one
# exceeds _ABOVE_MEDIAN times the (lower) median of all. On eight tables with factors spread from 1
# to R over the features, so that the largest is sqrt(R) times the median, the nearest-neighbor
# error rose from 19.6 % (R = 1) to 21.8, 23.4, 24.4 and 28.5 % (R = 10, 30, 100, 1000). The median
# spares pixels, some of which hardly vary.
_SCALES_APART = 1e3
_ABOVE_MEDIAN = 10.0
# Correlations below this are zero up to rounding. (Of n independent points of uncorrelated
# features, they are about 1 / sqrt(n).)
_UNCORRELATED = 1e-5


def read_points(X: Any, settings: Settings) -> tuple[Points, Settings]:
    """Check the points, and choose a backend for them.

    Parameters
    ----------
    X : array-like, tensor or dask collection of shape (n_samples, n_features)
        The user's points. A dask collection stays in its chunks if dask is the backend and
        there are more points than features.
    settings : Settings
        Settings of the fit.

    Returns
    -------
    points : Points
        The points.
    settings : Settings
        The same settings, with the backend and the device that will be used.
    """
    if is_chunked(X) and settings.backend in ("auto", "dask"):
        with as_numbers("X", X):
            points = ChunkedPoints.read(X)
        if points.shape[0] > points.shape[1]:
            return points, _settle_backend(settings, X, len(points))
        X = points.array
    return read_array(X, settings)


def read_array(X: Any, settings: Settings) -> tuple[PointsInMemory, Settings]:
    """Check the points as `read_points` does, and load them into memory."""
    is_float = type(X) is np.ndarray and X.dtype in FLOATS  # then there is nothing to look at
    with as_numbers("X", None if is_float else X):
        array = check_array(
            to_memory(X),
            dtype=FLOATS,
            ensure_min_samples=2,
            estimator=settings.name,
            input_name="X",
        )
    settings = _settle_backend(settings, X, len(array))
    return PointsInMemory(array, settings.gpu), settings


def read_labels(X: Any, n: int, y: ArrayLike | None, marks: Marks | None) -> PairLabels:
    """Check and merge the labels of the `n` rows of `X`; warn if all pairs are of one kind."""
    labels = PairLabels.of(X, n, y, marks)
    warn_of_labels(labels)
    return labels


def warn_of_scales(points: Points, names: Any = None) -> None:
    """Warn if the features' standard deviations differ widely, except for principal components.

    The message has the `names` of the features, or else their numbers.
    """
    scales = points.std()
    varying = np.flatnonzero(scales > 1e-12 * scales.max(initial=0.0))
    if len(varying) == 0:
        return
    narrow = varying[np.argmin(scales[varying])]
    wide = varying[np.argmax(scales[varying])]
    low, high = scales[narrow], scales[wide]
    middle = np.sort(scales[varying])[(len(varying) - 1) // 2]
    # (Products might overflow.)
    if high / _SCALES_APART > low or high / _ABOVE_MEDIAN > middle:
        if _are_principal(points, scales, varying, wide):
            return
        first, last = (f"column {k}" if names is None else repr(names[k]) for k in (narrow, wide))
        warn(
            f"The standard deviations of the features range from {low:.3g} ({first}) to "
            f"{high:.3g} ({last}): the largest will dominate the metric. Scale the features "
            "first, for example with sklearn.preprocessing.StandardScaler."
        )


def _are_principal(points: Points, scales: Array, varying: Array, wide: int) -> bool:
    """Whether the feature `wide` is uncorrelated with most others, as only PCA makes them.

    Scaled to unit variance, the last components, mostly noise, would count as much as the first.
    """
    if not isinstance(points, PointsInMemory):
        return False
    column = points.array[:, wide] / points.dtype.type(scales[wide])
    products = (column - column.mean()) @ points.array / len(points)
    others = varying[varying != wide]
    return bool(np.median(np.abs(products[others] / scales[others])) < _UNCORRELATED)


def _settle_backend(settings: Settings, X: Any, n: int) -> Settings:
    backend, device = choose_backend(X, n, settings.backend)
    return replace(settings, backend=backend, device=device)
