"""Matrices are decomposed as numpy does it: on a device, too, and where its method fails."""

import numpy as np
import pytest

from seraph._utils._eigen import eigh, eigvalsh, svd


def test_a_matrix_on_which_divide_and_conquer_fails_is_decomposed_in_another_way(monkeypatch, rng):
    """LAPACK failed on one of 196 finite columns; which matrix does so depends on the machine."""

    def fail(_, **__):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    A = rng.normal(size=(30, 30))
    A = A + A.T
    expected = np.linalg.eigvalsh(A)
    for name in ("eigh", "eigvalsh", "svd"):
        monkeypatch.setattr(np.linalg, name, fail)
    values, vectors = eigh(A)
    np.testing.assert_allclose(values, expected, atol=1e-12)
    np.testing.assert_allclose((vectors * values) @ vectors.T, A, atol=1e-12)
    np.testing.assert_allclose(eigvalsh(A), expected, atol=1e-12)
    left, lengths, right = svd(A[:20])
    np.testing.assert_allclose((left * lengths) @ right, A[:20], atol=1e-12)
    assert svd(A[:20], full_matrices=True)[2].shape == (30, 30)
    A[0, 0] = np.nan
    for decompose in (eigh, eigvalsh, svd):
        with pytest.raises(np.linalg.LinAlgError):
            decompose(A)
