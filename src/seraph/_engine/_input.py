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
    in_memory,
    is_chunked,
)
from .._utils._validation import as_numbers
from ._advice import warn_of_labels
from ._settings import Settings


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
    if is_chunked(X) and settings.backend in ("auto", "dask") and settings.device is None:
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
            in_memory(X),
            dtype=FLOATS,
            ensure_min_samples=2,
            estimator=settings.name,
            input_name="X",
        )
    return PointsInMemory(array), _settle_backend(settings, X, len(array))


def read_labels(X: Any, n: int, y: ArrayLike | None, marks: Marks | None) -> PairLabels:
    """Check and merge the labels of the `n` rows of `X`; warn if all pairs are of one kind."""
    labels = PairLabels.of(X, n, y, marks)
    warn_of_labels(labels)
    return labels


def _settle_backend(settings: Settings, X: Any, n: int) -> Settings:
    backend, device = choose_backend(X, n, settings.backend, settings.device)
    return replace(settings, backend=backend, device=device)
