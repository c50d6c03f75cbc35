"""Matrices are decomposed as numpy does it: on a device, too, and where its method fails."""

import numpy as np
import pytest

from seraph._utils._eigen import decompose_on, eigh, eigvalsh, svd


@pytest.mark.parametrize("m", [3, 300])
def test_a_device_decomposes_a_matrix_as_numpy_does(rng, m):
    A = rng.normal(size=(m, m))
    A = A + A.T
    with decompose_on("cpu"):  # (any device of torch has the same code)
        values, vectors = eigh(A)
        np.testing.assert_allclose(eigvalsh(A), values, atol=1e-11)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A), atol=1e-11)
    np.testing.assert_allclose(vectors * values @ vectors.T, A, atol=1e-11)


def test_a_view_of_a_matrix_is_decomposed_too(rng):
    A = rng.normal(size=(300, 300))
    backwards = (A + A.T)[::-1, ::-1]
    with decompose_on("cpu"):
        np.testing.assert_allclose(eigvalsh(backwards), np.linalg.eigvalsh(A + A.T), atol=1e-11)


@pytest.mark.parametrize("device", [None, "cpu"])
def test_a_matrix_that_overflowed_has_the_same_error_everywhere(device):
    with decompose_on(device), pytest.raises(np.linalg.LinAlgError):
        eigvalsh(np.full((300, 300), np.nan))


def test_the_device_is_forgotten_after_the_block():
    with pytest.raises(RuntimeError, match="no-such-device"), decompose_on("no-such-device"):
        eigvalsh(np.eye(300))
    assert eigvalsh(np.eye(300))[0] == 1.0


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
