"""Positive definite matrices: their powers, and the ridge that makes a scatter matrix one."""

from __future__ import annotations

import numpy as np

from .._typing import Array

# Eigenvalues below this share of the largest are rounding errors of zero.
_ZERO = 1e-12


def power(A: Array, exponent: float) -> Array:
    """Return a power of a positive definite matrix.

    Examples
    --------
    >>> import numpy as np
    >>> power(np.diag([4.0, 9.0]), -0.5).round(3)
    array([[0.5  , 0.   ],
           [0.   , 0.333]])
    """
    values, vectors = np.linalg.eigh(A)
    result: Array = (vectors * np.maximum(values, np.finfo(float).tiny) ** exponent) @ vectors.T
    return 0.5 * (result + result.T)


def with_ridge(scatter: Array, ridge: float, what: str) -> Array:
    """Add `ridge` times the mean variance to the diagonal of a scatter matrix.

    Parameters
    ----------
    scatter : ndarray of shape (m, m)
        Positive semi-definite matrix.
    ridge : float
        Multiple of its mean eigenvalue.
    what : str
        What the scatter is of, for the error if the sum is singular.

    Returns
    -------
    ndarray of shape (m, m)
        A positive definite matrix.

    Examples
    --------
    >>> import numpy as np
    >>> with_ridge(np.diag([4.0, 0.0]), 0.5, "similar pairs")
    array([[5., 0.],
           [0., 1.]])
    """
    m = len(scatter)
    result = scatter + ridge * np.trace(scatter) / m * np.eye(m)
    values = np.linalg.eigvalsh(result)
    if not values[-1] > 0.0:
        raise ValueError(
            f"The {what} do not differ in any feature: there is no scatter to learn from. Add "
            "labels or pairs of points that differ."
        )
    if values[0] <= _ZERO * values[-1]:
        singular = int(np.sum(values <= _ZERO * values[-1]))
        raise ValueError(
            f"The {what} do not differ in {singular} of {m} directions, so their scatter has no "
            f"inverse with ridge={ridge:g}: set a larger ridge (1, for example), or drop features "
            "that do not vary or repeat others."
        )
    return result
