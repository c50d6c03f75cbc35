"""Centering, rescaling and the span of points: distances stay, rounding errors go."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from seraph._sweep._points import CONSTANT_FEATURE, TOLERANCE, principal_directions, subtract_mean

SHAPES = {"tall": (20, 4), "square": (6, 6), "wide": (5, 12), "one feature": (7, 1)}


@pytest.fixture(params=SHAPES)
def points(request, rng):
    return 100.0 + rng.normal(size=SHAPES[request.param]) * 3.0


def test_centered_points_have_mean_zero_and_the_same_distances(points):
    assert_allclose(subtract_mean(points).mean(axis=0), 0.0, atol=1e-12)
    assert_allclose(pdist(subtract_mean(points)), pdist(points), rtol=1e-9)


def test_rounding_errors_of_a_constant_feature_become_zero():
    X = np.column_stack([np.full(7, 0.1), 1e9 + np.arange(7.0)])
    X[3, 0] = np.nextafter(0.1, 1.0)
    assert np.any(subtract_mean(X)[:, 0])
    assert_array_equal(
        subtract_mean(X, rounding=CONSTANT_FEATURE),
        np.column_stack([np.zeros(7), np.arange(-3.0, 4.0)]),
    )


def test_principal_directions_are_those_of_the_covariance(points):
    X = subtract_mean(points)
    left, lengths, directions = principal_directions(X)
    assert_allclose((left * lengths) @ directions, X, atol=1e-10)
    assert_allclose(directions @ directions.T, np.eye(len(directions)), atol=1e-12)
    variances = np.linalg.eigvalsh(X.T @ X)[::-1][: len(lengths)]
    assert_allclose(lengths**2, variances, rtol=1e-9)
    assert len(lengths) == min(X.shape[1], len(X) - 1)  # the mean takes one dimension


@pytest.mark.parametrize("scale", [1.0, 1e-5, 1e5])
@pytest.mark.parametrize(("share", "rank"), [(0.9 * TOLERANCE, 1), (1.1 * TOLERANCE, 2)])
def test_directions_within_the_tolerance_are_left_out(share, rank, scale):
    X = scale * np.array([[1.0, share], [-1.0, share], [1.0, -share], [-1.0, -share]])
    assert len(principal_directions(X)[1]) == rank
    assert len(principal_directions(X, tolerance=share / 2.0)[1]) == 2
