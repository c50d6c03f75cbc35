"""Eigenvalues and singular values, the former on the GPU of a fit if the matrix is large.

A fit with many features computes about ten decompositions. Of 768 features, each takes a core of a
CPU 40 to 80 ms and an H200 9 ms.

LAPACK's divide and conquer, which numpy calls, is fast, but on rare occasions it fails on a matrix
that has nothing odd about it. Another of LAPACK's methods then takes over.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from scipy import linalg

from ._typing import Array

# Smaller matrices are decomposed as fast on a CPU.
_LARGE = 256
_device: ContextVar[str | None] = ContextVar("device of large decompositions", default=None)


@contextmanager
def decompose_on(device: str | None) -> Iterator[None]:
    """Decompose large matrices on a device of torch within the block; None is the CPU."""
    token = _device.set(device)
    try:
        yield
    finally:
        _device.reset(token)


def eigh(A: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of a symmetric matrix, the smallest first, and the eigenvectors.

    Examples
    --------
    >>> eigh(np.diag([3.0, 2.0]))[0]
    array([2., 3.])
    """
    if not _is_for_device(A):
        try:
            return np.linalg.eigh(A)
        except np.linalg.LinAlgError:
            if not np.isfinite(A).all():
                raise
            values, vectors = linalg.eigh(A, driver="evr")
            return values, vectors
    import torch

    values, vectors = torch.linalg.eigh(_copy(A))
    return values.cpu().numpy(), vectors.cpu().numpy()


def eigvalsh(A: Array) -> Array:
    """Return the eigenvalues of a symmetric matrix, the smallest first.

    Examples
    --------
    >>> eigvalsh(np.diag([3.0, 2.0]))
    array([2., 3.])
    """
    if not _is_for_device(A):
        try:
            return np.linalg.eigvalsh(A)
        except np.linalg.LinAlgError:
            if not np.isfinite(A).all():
                raise
            return eigh(A)[0]
    import torch

    values: Array = torch.linalg.eigvalsh(_copy(A)).cpu().numpy()
    return values


def svd(A: Array, *, full_matrices: bool = False) -> tuple[Array, Array, Array]:
    """Return the left singular vectors, the singular values and the right vectors in rows.

    Examples
    --------
    >>> svd(np.array([[3.0, 0.0], [0.0, 4.0]]))[1]
    array([4., 3.])
    """
    try:
        return np.linalg.svd(A, full_matrices=full_matrices)
    except np.linalg.LinAlgError:
        if not np.isfinite(A).all():
            raise
        left, lengths, right = linalg.svd(A, full_matrices=full_matrices, lapack_driver="gesvd")
        return left, lengths, right


def _is_for_device(A: Array) -> bool:
    """Whether to decompose a matrix on the device: numpy knows what to do with one of NaN."""
    return _device.get() is not None and len(A) >= _LARGE and bool(np.isfinite(A).all())


def _copy(A: Array) -> Any:
    import torch

    return torch.tensor(np.ascontiguousarray(A), device=_device.get())
