"""Points in coordinates that suit a computation: centered, without units, or in their span.

With fewer points than features, a metric is learned in the span of the points and is the identity
elsewhere.
"""

from __future__ import annotations

import numpy as np

from .._points import CONSTANT_FEATURE, exact_size, magnitude, subtract_mean
from .._utils._typing import Array


def center_points(points: Array) -> Array:
    """Center points, in double precision. Features that vary by rounding errors are constant.

    Examples
    --------
    >>> import numpy as np
    >>> center_points(np.array([[1.0, 0.1 + 0.2], [3.0, 0.3]], dtype=np.float64)).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    return subtract_mean(points.astype(np.float64, copy=False), rounding=CONSTANT_FEATURE)


def remove_unit(points: Array) -> tuple[Array, float]:
    """Center points, divide them by a power of two near their size, and return that, too.

    No square overflows or underflows then.

    Examples
    --------
    >>> import numpy as np
    >>> Z, size = remove_unit(np.array([[1e200], [3e200]]))
    >>> bool(abs(Z).max() <= 1.0), bool(np.isclose(Z[1, 0] * size, 1e200))
    (True, True)
    """
    size = exact_size(magnitude(points))
    return center_points(points.astype(np.float64) / size), size


def subtract_group_means(X: Array, group: Array) -> Array:
    """Subtract from each point the mean of its group; groups are numbered from 0.

    Examples
    --------
    >>> import numpy as np
    >>> subtract_group_means(np.array([[1.0], [5.0], [3.0]]), np.array([0, 1, 0])).tolist()
    [[-1.0], [0.0], [1.0]]
    """
    sums = np.stack([np.bincount(group, column) for column in X.T], axis=1)
    means: Array = sums / np.bincount(group)[:, np.newaxis]
    return X - means[group]


def project_to_span(X: Array) -> tuple[Array, Array | None]:
    """Return points in coordinates of their span, and its basis if it may be a smaller space.

    Examples
    --------
    >>> import numpy as np
    >>> coordinates, basis = project_to_span(np.array([[1.0, 0.0, 2.0], [1.0, 3.0, 6.0]]))
    >>> coordinates.shape, basis.shape
    ((2, 2), (3, 2))
    >>> round(float(np.linalg.norm(coordinates[0] - coordinates[1])), 6)
    5.0
    """
    if len(X) > X.shape[1]:
        return X, None
    basis, coordinates = np.linalg.qr(subtract_mean(X).T)
    return coordinates.T, basis


def extend_map(P: Array, basis: Array | None) -> Array:
    """Return a square map that is `P` on the span of `basis`, and the identity elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> extend_map(np.array([[2.0]]), np.array([[0.0], [1.0]])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    if basis is None:
        return P
    whole: Array = np.eye(len(basis)) + basis @ (P - np.eye(len(P))) @ basis.T
    return whole
