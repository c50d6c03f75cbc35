"""The cone of positive semi-definite matrices: projection, factors, optimality."""

from __future__ import annotations

import numpy as np

from .._utils._eigen import eigh, eigvalsh, svd
from .._utils._typing import Array

# Eigenvalues below this share of the largest count as zero. The eigenvalues of a sum over pairs
# carry a relative error of about m * 2e-16 times the condition of the features.
_RANK_TOLERANCE = 1e-10
# Subnormal numbers have lost digits: a squared length below the smallest normal one counts as 0.
_TINY = np.finfo(np.float64).tiny


def project_psd(A: Array) -> tuple[Array, Array]:
    """Find the positive semi-definite matrix nearest to the symmetric `A`, and a factor of it.

    Returns
    -------
    projection : ndarray of shape (m, m)
    P : ndarray of shape (r, m)
        ``P'P`` is the projection and r its rank; the rows are orthogonal, longest first.
    """
    eigenvalues, vectors = eigh(A)
    keep = eigenvalues > max(0.0, _RANK_TOLERANCE * eigenvalues[-1])
    P = (vectors[:, keep] * np.sqrt(eigenvalues[keep])).T[::-1]
    return P.T @ P, P


def compress(P: Array, tolerance: float = _RANK_TOLERANCE) -> Array:
    """Return a factor of ``P'P`` with as many rows as its rank: orthogonal, longest first."""
    if P.size == 0:
        return P[:0]
    _, lengths, directions = svd(P)
    keep = lengths**2 > max(tolerance * lengths[0] ** 2, _TINY)
    return lengths[keep, np.newaxis] * directions[keep]


def optimality_gap(P: Array, gradient: Array, scale: float) -> float:
    """Compute how far ``A = P'P`` is from the conditions of a maximum over the cone.

    ``max(eigmax(G), |<G, A>| / tr A) / scale``, with G the gradient at A.

    At a maximum no eigenvalue of G is positive and ``<G, A> = 0``, so the gap is zero. For a
    concave objective it bounds the distance to the maximum:
    ``F(A*) - F(A) <= <G, A* - A> <= gap * scale * (tr A* + tr A)``.
    """
    # (LAPACK can compute the top eigenvalue alone, faster, but fails on repeated ones.)
    top = max(0.0, float(eigvalsh(gradient)[-1]))
    trace = float(np.vdot(P, P))
    along = abs(float(np.vdot(P @ gradient, P))) / trace if trace > 0.0 else 0.0
    return max(top, along) / scale


def relative_slope(P: Array, gradient: Array, scale: float) -> float:
    """Compute the norm of the gradient by P, in the units of `optimality_gap`.

    With ``gradient = 2 P G``, ``|2 P G| / (2 |P| scale)`` bounds the part ``|<G, A>| / tr A`` of
    the gap, by the Cauchy-Schwarz inequality.
    """
    length = float(np.linalg.norm(P))
    return float(np.linalg.norm(gradient)) / (2.0 * length * scale) if length > 0.0 else 0.0
