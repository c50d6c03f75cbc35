"""Compute principal components, with deterministic signs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA

from .._utils._typing import Array


class Principal(NamedTuple):
    """Coordinates (n, k), directions (k, m) and shares of the variance (k,)."""

    coordinates: Array
    directions: Array
    shares: Array


def principal(points: Array, k: int) -> Principal:
    """Return the `k` leading principal components, or fewer if there are no more.

    Examples
    --------
    >>> import numpy as np
    >>> found = principal(np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]]), 2)
    >>> found.coordinates.shape, found.directions
    ((3, 1), array([[1., 0.]]))
    """
    n, m = points.shape
    if m == 0 or not np.ptp(points, axis=0).any():
        return Principal(np.empty((n, 0)), np.empty((0, m)), np.empty(0))
    pca = PCA(min(k, n, m), random_state=0).fit(points)
    shares = pca.explained_variance_ratio_
    real = shares > 1e-12  # the rest is rounding
    return Principal(pca.transform(points)[:, real], pca.components_[real], shares[real])
