"""Fewer points than features: learn in the span of the points, and keep the rest as it is."""

from __future__ import annotations

import numpy as np

from .._sweep import centered
from .._utils._typing import Array


def in_their_span(X: Array) -> tuple[Array, Array | None]:
    """Return points in coordinates of their span, and its basis if it may be a smaller space.

    Examples
    --------
    >>> import numpy as np
    >>> coordinates, basis = in_their_span(np.array([[1.0, 0.0, 2.0], [1.0, 3.0, 6.0]]))
    >>> coordinates.shape, basis.shape
    ((2, 2), (3, 2))
    >>> round(float(np.linalg.norm(coordinates[0] - coordinates[1])), 6)
    5.0
    """
    if len(X) > X.shape[1]:
        return X, None
    basis, coordinates = np.linalg.qr(centered(X).T)
    return coordinates.T, basis


def extended(P: Array, basis: Array | None) -> Array:
    """Return a square map that is `P` on the span of `basis`, and the identity elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> extended(np.array([[2.0]]), np.array([[0.0], [1.0]])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    if basis is None:
        return P
    whole: Array = np.eye(len(basis)) + basis @ (P - np.eye(len(P))) @ basis.T
    return whole
