"""Eigenvalues and singular values.

LAPACK's divide and conquer, which numpy calls, is fast, but on rare occasions it fails on a matrix
that has nothing odd about it. Another of LAPACK's methods then takes over.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ._typing import Array

# Eigenvalues above this share of the largest have ten correct digits, and so have their roots.
_WELL_CONDITIONED = 1e-6


def eigh(A: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of a symmetric matrix, the smallest first, and the eigenvectors."""
    try:
        return np.linalg.eigh(A)
    except np.linalg.LinAlgError:
        if not np.isfinite(A).all():
            raise
        values, vectors = linalg.eigh(A, driver="evr")
        return values, vectors


def eigvalsh(A: Array) -> Array:
    """Return the eigenvalues of a symmetric matrix, the smallest first."""
    try:
        return np.linalg.eigvalsh(A)
    except np.linalg.LinAlgError:
        if not np.isfinite(A).all():
            raise
        return eigh(A)[0]


def svd(A: Array, *, full_matrices: bool = False) -> tuple[Array, Array, Array]:
    """Return the left singular vectors, the singular values and the right vectors in rows."""
    try:
        return np.linalg.svd(A, full_matrices=full_matrices)
    except np.linalg.LinAlgError:
        if not np.isfinite(A).all():
            raise
        left, lengths, right = linalg.svd(A, full_matrices=full_matrices, lapack_driver="gesvd")
        return left, lengths, right


def right_svd(A: Array) -> tuple[Array, Array]:
    """Return the singular values of a matrix, the largest first, and the right vectors in rows.

    Of a tall matrix they are roots of the eigenvalues of ``A'A``, which takes a tenth of the time,
    and no digits where all of them are far above the rounding errors of the largest.
    """
    if len(A) > A.shape[1]:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            gram = A.T @ A
        values, vectors = eigh(gram) if np.isfinite(np.trace(gram)) else (np.zeros(1), gram)
        if values[0] > _WELL_CONDITIONED * values[-1]:
            return np.sqrt(values[::-1]), vectors.T[::-1]
        A = np.asarray(np.linalg.qr(A, mode="r"))
    _, lengths, rows = svd(A)
    return lengths, rows
