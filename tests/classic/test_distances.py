"""Squared distances as a matrix, and by rows."""

import numpy as np
import pytest

from seraph.classic._distances import add_laplacian, distance_rows, squared_distances


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


def test_sums_over_rows_are_those_over_the_whole_matrix(rng):
    X, Y = rng.normal(size=(400, 3)), rng.normal(size=(400, 2))
    W = np.exp(-squared_distances(X, X))
    np.fill_diagonal(W, 0.0)  # a point is no neighbor of its own
    out = np.zeros_like(Y)
    parts = list(distance_rows(X))
    for rows, d2 in parts:
        add_laplacian(out, Y, rows, np.exp(-d2))
    assert len(parts) > 2
    both = W + W.T
    np.testing.assert_allclose(out, (np.diag(both.sum(axis=1)) - both) @ Y, atol=1e-10)
