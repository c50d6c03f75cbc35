"""Steps to coordinates that suit a solver; none of them changes which metric is best.

Distances do not change with a translation, so points are centered: less is lost to
cancellation. A common factor only changes the unit, so it is taken out: squares neither
overflow nor vanish. And no two points differ outside their own span, so coordinates in it do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Directions in which the points are shorter than this share of their longest direction are
# rounding errors: the squares of such lengths have no correct digit beside the largest.
TOLERANCE = 1e-7
# A feature that deviates from its mean by less than this share of it is constant but for
# rounding. It matters where features are divided by their own spread.
ROUNDING = 1e-13


def magnitude(X: NDArray[Any]) -> float:
    """Return the largest absolute value in `X`, 1 if all are 0.

    Divided by it, points have squares that are finite.

    Examples
    --------
    >>> import numpy as np
    >>> magnitude(np.array([[1e200, -3e200]]))
    3e+200
    """
    return float(np.max(np.abs(X), initial=0.0)) or 1.0


def centered(X: NDArray[Any], *, rounding: float = 0.0) -> NDArray[Any]:
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
    >>> centered(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    mean = X.mean(axis=0, dtype=np.float64)
    points: NDArray[Any] = X - mean.astype(X.dtype)
    points[:, np.abs(points).max(axis=0, initial=0.0) <= rounding * np.abs(mean)] = 0.0
    return points


def principal_directions(
    points: NDArray[Any], tolerance: float = TOLERANCE
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Decompose centered points along their principal directions, the longest first.

    Directions of no length are left out, but for the first one of points that coincide.

    Parameters
    ----------
    points : ndarray of shape (n, m)
        Centered points.
    tolerance : float, default=TOLERANCE
        Share of the longest direction up to which a length is a rounding error.

    Returns
    -------
    left : ndarray of shape (n, d)
        Orthonormal columns; ``left * lengths`` are the points' coordinates.
    lengths : ndarray of shape (d,)
        Root of the sum of squares of the points along each direction.
    directions : ndarray of shape (d, m)
        Orthonormal rows.

    Examples
    --------
    >>> import numpy as np
    >>> left, lengths, directions = principal_directions(np.array([[3.0, 4.0], [-3.0, -4.0]]))
    >>> left.shape, lengths.round(6), abs(directions).round(6)
    ((2, 1), array([7.071068]), array([[0.6, 0.8]]))
    """
    left, lengths, directions = np.linalg.svd(points, full_matrices=False)
    keep = lengths > tolerance * lengths[0]
    keep[0] = True
    return left[:, keep], lengths[keep], directions[keep]
