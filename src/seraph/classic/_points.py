"""Points in coordinates that suit a computation: centered, without units, or in their span.

With fewer points than features, a metric is learned in the span of the points and is the identity
elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._points import (
    CONSTANT_FEATURE,
    exact_size,
    magnitude,
    principal_directions,
    subtract_mean,
)
from .._utils._typing import Array


def center_points(points: Array) -> Array:
    """Center points, in double precision. Features that vary by rounding errors are constant."""
    return subtract_mean(points.astype(np.float64, copy=False), rounding=CONSTANT_FEATURE)


def remove_unit(points: Array) -> tuple[Array, float]:
    """Center points, divide them by a power of two near their size, and return that, too.

    No square overflows or underflows then.
    """
    size = exact_size(magnitude(points))
    return center_points(points.astype(np.float64) / size), size


def subtract_group_means(X: Array, group: Array) -> Array:
    """Subtract from each point the mean of its group; groups are numbered from 0."""
    sums = np.stack([np.bincount(group, column) for column in X.T], axis=1)
    means: Array = sums / np.bincount(group)[:, np.newaxis]
    return X - means[group]


def project_to_span(X: Array) -> tuple[Array, Array | None]:
    """Return points in coordinates of their span, and its basis if it may be a smaller space."""
    if len(X) > X.shape[1]:
        return X, None
    basis, coordinates = np.linalg.qr(subtract_mean(X).T)
    return coordinates.T, basis


def extend_map(P: Array, basis: Array | None) -> Array:
    """Return a square map that is `P` on the span of `basis`, and the identity elsewhere."""
    if basis is None:
        return P
    whole: Array = np.eye(len(basis)) + basis @ (P - np.eye(len(P))) @ basis.T
    return whole


def first_map(init: Any, Z: Array, n_components: int | None, random_state: Any) -> Array:
    """Return the map of shape (n_components, n_features) at which a search starts.

    `init` is "identity", "random", or "pca" for the principal components of the centered points
    `Z` (the identity without `n_components`); or the map itself, whose shape is checked.
    """
    m = Z.shape[1]
    if isinstance(init, np.ndarray):
        d = len(init) if n_components is None else n_components
        if init.shape != (d, m) or d > m:
            raise ValueError(
                f"init must have the shape (n_components, n_features), here ({d}, {m}) with at "
                f"most {m} rows; got {init.shape}."
            )
        return init.astype(np.float64)
    d = m if n_components is None else int(n_components)
    if init == "random":
        return np.asarray(check_random_state(random_state).normal(size=(d, m)))
    if init == "pca" and d < m:
        directions = principal_directions(Z)[2][:d]
        return np.vstack([directions, np.zeros((d - len(directions), m))])
    return np.eye(d, m)
