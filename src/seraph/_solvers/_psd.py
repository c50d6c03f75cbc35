"""The cone of positive semi-definite matrices: projection, factors, optimality."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from .._pairs import library, like
from .._utils._eigen import eigh
from .._utils._typing import AnyArray

# Eigenvalues below this share of the largest count as zero. The eigenvalues of a sum over pairs
# carry a relative error of about m * 2e-16 times the condition of the features.
_RANK_TOLERANCE = 1e-10
# A CPU decomposes smaller matrices sooner than a GPU.
_LARGE = 256


def dots(*pairs: tuple[AnyArray, AnyArray]) -> list[float]:
    """Return the inner products of pairs of arrays; a GPU is waited for once."""
    if library(pairs[0][0]) is np:
        return [float(np.vdot(a, b)) for a, b in pairs]
    numbers: list[float] = library(pairs[0][0]).stack([(a * b).sum() for a, b in pairs]).tolist()
    return numbers


def dot(a: AnyArray, b: AnyArray) -> float:
    """Return the inner product of two arrays."""
    return dots((a, b))[0]


def norm(a: AnyArray) -> float:
    """Return the Frobenius norm of an array."""
    return dots((a, a))[0] ** 0.5


def spectrum(A: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the eigenvalues of a symmetric matrix, the smallest first, and the eigenvectors."""
    if library(A) is np:
        return eigh(A)
    if len(A) >= _LARGE:
        return library(A).linalg.eigh(A)
    values, vectors = eigh(to_host(A))
    return like(values, A), like(vectors, A)


def to_host(a: AnyArray) -> Any:
    """Return an array of numpy."""
    return a if library(a) is np else a.cpu().numpy()


def rising(A: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the positive eigenvalues of a symmetric matrix, and their eigenvectors."""
    if library(A) is np and np.isfinite(A).all():
        return linalg.eigh(A, subset_by_value=(0.0, np.inf), driver="evr")
    values, vectors = spectrum(A)
    return values[values > 0.0], vectors[:, values > 0.0]


def project_psd(A: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Find the positive semi-definite matrix nearest to the symmetric `A`, and a factor of it.

    Returns
    -------
    projection : array of shape (m, m)
    P : array of shape (r, m)
        ``P'P`` is the projection and r its rank; the rows are orthogonal, longest first.
    """
    eigenvalues, vectors = spectrum(A)
    keep = eigenvalues > max(0.0, _RANK_TOLERANCE * float(eigenvalues[-1]))
    P = (vectors[:, keep] * eigenvalues[keep] ** 0.5).T
    P = library(P).flipud(P)
    return P.T @ P, P


def compress(P: AnyArray, tolerance: float = _RANK_TOLERANCE) -> AnyArray:
    """Return a factor of ``P'P`` with as many rows as its rank: orthogonal, longest first."""
    return turn_to_axes(P, tolerance) @ P


def turn_to_axes(P: AnyArray, tolerance: float) -> AnyArray:
    """Return the matrix T for which the rows of ``T P`` are orthogonal, longest first.

    Rows with a squared length below the `tolerance`, a share of the longest, are left out.
    """
    xp = library(P)
    squares, vectors = spectrum(P @ P.T)
    largest = float(squares[-1]) if len(P) else 0.0
    keep = squares > max(tolerance * largest, float(xp.finfo(P.dtype).tiny))
    return xp.flipud(vectors[:, keep].T)


def optimality_gap(P: AnyArray, gradient: AnyArray, scale: float) -> float:
    """Return how far ``A = P'P`` is from the conditions of a maximum over the cone.

    ``max(eigmax(G), |<G, A>| / tr A) / scale``, with G the gradient at A.

    At a maximum no eigenvalue of G is positive and ``<G, A> = 0``, so the gap is zero. For a
    concave objective it bounds the distance to the maximum:
    ``F(A*) - F(A) <= <G, A* - A> <= gap * scale * (tr A* + tr A)``.
    """
    top = float(spectrum(gradient)[0][-1])
    return gap_of(P, gradient, top, scale)


def gap_of(P: AnyArray, gradient: AnyArray, top: float, scale: float) -> float:
    """Return the `optimality_gap` if the largest eigenvalue of the gradient is known."""
    trace, along = dots((P, P), (P @ gradient, P))
    along = abs(along) / trace if trace > 0.0 else 0.0
    return max(top, along, 0.0) / scale


def relative_slope(P: AnyArray, gradient: AnyArray, scale: float) -> float:
    """Return the norm of the gradient with respect to P, in the units of `optimality_gap`.

    With ``gradient = 2 P G``, ``|2 P G| / (2 |P| scale)`` bounds the part ``|<G, A>| / tr A`` of
    the gap, by the Cauchy-Schwarz inequality.
    """
    length, steepness = dots((P, P), (gradient, gradient))
    return (steepness / length) ** 0.5 / (2.0 * scale) if length > 0.0 else 0.0
