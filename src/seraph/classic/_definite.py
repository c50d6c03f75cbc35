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


def with_ridge(scatter: Array, ridge: float, what: str, name: str = "ridge") -> Array:
    """Add `ridge` times the mean variance to the diagonal of a scatter matrix.

    Parameters
    ----------
    scatter : ndarray of shape (m, m)
        Positive semi-definite matrix.
    ridge : float
        Multiple of its mean eigenvalue.
    what : str
        What the scatter is of, for the error if the sum is singular.
    name : str, default="ridge"
        Parameter that the ridge comes from, for the same error.

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
            f"inverse: set a larger {name} (0.5, for example), or drop features that do not vary "
            "or repeat others."
        )
    return result


def logdet_gap(H: Array) -> float:
    """Compute the LogDet divergence ``D(A, B)`` from ``H = L' B^-1 L - 1``, for ``A = L L'``.

    Infinity if B is not positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> logdet_gap(np.zeros((2, 2))), logdet_gap(np.diag([-1.5, 0.0]))
    (0.0, inf)
    """
    values = np.linalg.eigvalsh(0.5 * (H + H.T))
    return float(np.sum(values - np.log1p(values))) if values[0] > -1.0 else np.inf


def prior_root(Z: Array, prior: str) -> Array:
    """Return R such that ``R R'`` is the prior metric of the centered points `Z`.

    The identity; or the inverse covariance, where directions in which the points do not vary are
    given the mean variance.

    Examples
    --------
    >>> import numpy as np
    >>> prior_root(np.array([[-2.0, 0.0], [0.0, 0.0], [2.0, 0.0]]), "covariance").tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    m = Z.shape[1]
    if prior == "identity" or not Z.any():
        return np.eye(m)
    scale = Z.std(axis=0, ddof=1)
    varies = scale > 0.0
    scale[~varies] = np.sqrt(np.mean(scale[varies] ** 2))
    values, vectors = np.linalg.eigh((Z / scale).T @ (Z / scale) / (len(Z) - 1))
    values[values <= _ZERO * values[-1]] = 1.0
    root: Array = (vectors / np.sqrt(values)) @ vectors.T / scale[:, np.newaxis]
    return root
