"""Squared distances as a matrix, and by rows."""

import numpy as np
import pytest

from seraph._pairs import squared_distances


@pytest.mark.parametrize("n", [5, 400])  # many or few of the distances are short
def test_close_points_keep_the_digits_of_their_distance(rng, n):
    points = 1.0 + rng.normal(size=(n, 4))
    X = np.vstack([points, points[:5] + 1e-9])
    exact = np.sum((X[:, np.newaxis] - X) ** 2, axis=2)
    np.testing.assert_allclose(squared_distances(X, X), exact, rtol=1e-7)
    np.testing.assert_allclose(squared_distances(X[:n], X[n:]), exact[:n, n:], rtol=1e-7)
    stack = np.stack([X[:-4], X[4:]])
    expected = [exact[:-4, :-4], exact[4:, 4:]]
    np.testing.assert_allclose(squared_distances(stack, stack), expected, rtol=1e-7)
    np.testing.assert_array_equal(np.diag(squared_distances(X, X)), 0.0)
