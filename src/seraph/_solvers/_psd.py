"""The cone of positive semi-definite matrices: projection, factors, optimality."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Eigenvalues below this fraction of the largest are rounding errors of a zero.
_RANK_TOLERANCE = 1e-10
# Squared lengths below this have lost their digits: a metric on its way to zero is there.
_TINY = np.finfo(np.float64).tiny


def project_psd(A: NDArray) -> tuple[NDArray, NDArray]:
    """Nearest positive semi-definite matrix to the symmetric `A`, and a factor of it.

    Returns
    -------
    projection : ndarray of shape (m, m)
    P : ndarray of shape (r, m)
        ``P'P`` is the projection; r is its rank, and the rows are orthogonal, the longest
        first.
    """
    values, vectors = np.linalg.eigh(A)
    keep = values > max(0.0, _RANK_TOLERANCE * values[-1])
    P = (vectors[:, keep] * np.sqrt(values[keep])).T[::-1]
    return P.T @ P, P


def compress(P: NDArray, tolerance: float = _RANK_TOLERANCE) -> NDArray:
    """Factor of ``P'P`` with orthogonal rows, as many as its rank, the longest first."""
    if P.size == 0:
        return P[:0]
    _, lengths, directions = np.linalg.svd(P, full_matrices=False)
    keep = lengths**2 > max(tolerance * lengths[0] ** 2, _TINY)
    return lengths[keep, np.newaxis] * directions[keep]


def optimality_gap(P: NDArray, gradient: NDArray, scale: float) -> float:
    """How far ``A = P'P`` is from the conditions of a maximum over the cone.

    ``max(eigmax(G), |<G, A>| / tr A) / scale``, with G the gradient at A.

    At a maximum no eigenvalue of G is positive and ``<G, A> = 0``, so the gap is zero. For a
    concave objective it bounds what is missing:
    ``F(A*) - F(A) <= <G, A* - A> <= gap * scale * (tr A* + tr A)``.
    """
    # (Asking LAPACK for the one eigenvalue alone is faster, but fails on repeated ones.)
    top = max(0.0, float(np.linalg.eigvalsh(gradient)[-1]))
    trace = float(np.vdot(P, P))
    along = abs(float(np.vdot(P @ gradient, P))) / trace if trace > 0.0 else 0.0
    return max(top, along) / scale
