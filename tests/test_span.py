"""Coordinates of points: they keep distances, and factors find their way back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist

from seraph._span import ROUNDING, TOLERANCE, Span

CASES = {"tall": (20, 4), "square": (6, 6), "wide": (5, 12), "one feature": (7, 1)}


@pytest.fixture(params=CASES)
def X(request, rng):
    return 100.0 + rng.normal(size=CASES[request.param]) * 3.0


@pytest.mark.parametrize("principal", [None, True, False])
def test_distances_are_those_of_the_points_in_units(X, principal):
    span = Span.make(X, principal=principal)
    assert_allclose(pdist(span.points) * span.unit, pdist(X), rtol=1e-9)
    assert_allclose(span.points.mean(axis=0), 0.0, atol=1e-12)


def test_the_unit_is_the_root_of_the_mean_squared_distance(X):
    n = len(X)
    mean = 2.0 * np.sum(pdist(X, "sqeuclidean")) / n**2  # a point with itself counts too
    assert Span.make(X).unit == pytest.approx(np.sqrt(mean))


@pytest.mark.parametrize("principal", [None, True, False])
def test_a_factor_gives_the_same_distances_on_the_features(X, rng, principal):
    span = Span.make(X, principal=principal)
    P = rng.normal(size=(3, span.points.shape[1]))
    on_features = span.to_features(P)
    assert_allclose(pdist(X @ on_features.T), pdist(span.points @ P.T), rtol=1e-9)
    assert_allclose(span.from_features(on_features), P, rtol=1e-9)
    assert_allclose(span.directions(P), on_features * span.unit, rtol=1e-12)


def test_a_basis_is_used_where_there_are_no_more_points_than_features(rng):
    X = rng.normal(size=(6, 8))
    assert Span.make(X[:, :5]).basis is None
    assert Span.make(X[:, :6]).basis.shape == (6, 5)  # the mean takes one dimension
    assert Span.make(X, principal=False).basis is None
    assert Span.make(X[:, :5], principal=True).basis.shape == (5, 5)


def test_the_basis_is_orthonormal_and_ordered_by_variance(X):
    span = Span.make(X, principal=True)
    assert_allclose(span.basis.T @ span.basis, np.eye(span.basis.shape[1]), atol=1e-12)
    assert np.all(np.diff(span.variances) <= 0.0)
    assert span.variances.sum() == pytest.approx(0.5)  # half the mean squared distance


@pytest.mark.parametrize(("share", "rank"), [(0.5 * TOLERANCE, 1), (5.0 * TOLERANCE, 2)])
def test_directions_shorter_than_the_tolerance_are_left_out(share, rank):
    X = np.array([[1.0, share], [-1.0, share], [1.0, -share], [-1.0, -share]])
    assert Span.make(X, principal=True).points.shape == (4, rank)
    assert Span.make(X, principal=True, tolerance=share / 10.0).points.shape == (4, 2)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_huge_and_tiny_values_have_the_same_coordinates(X, scale):
    expected = Span.make(X)
    span = Span.make(X * scale)
    assert_allclose(span.points, expected.points, rtol=1e-9, atol=1e-12)
    assert span.unit == pytest.approx(expected.unit * scale)


def test_points_that_coincide_stand_at_the_origin():
    span = Span.make(np.full((3, 5), 0.1), rounding=ROUNDING)
    assert_array_equal(span.points, np.zeros((3, 1)))
    assert_array_equal(Span.make(np.zeros((4, 2))).points, np.zeros((4, 2)))


def test_rounding_errors_of_a_constant_feature_become_zero():
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    X[3, 0] = np.nextafter(0.1, 1.0)
    assert np.any(Span.make(X).points[:, 0])
    assert not np.any(Span.make(X, rounding=ROUNDING).points[:, 0])
    assert np.all(np.diff(Span.make(X, rounding=ROUNDING).points[:, 1]) > 0.0)


def test_without_rescaling_the_points_are_only_centered(X):
    span = Span.make(X, rescale=False)
    assert (span.basis, span.unit) == (None, 1.0)
    assert_allclose(span.points, X - X.mean(axis=0), atol=1e-12)


def test_another_unit_does_not_change_the_metric(X, rng):
    span = Span.make(X)
    P = rng.normal(size=(2, span.points.shape[1]))
    longer = span.scaled(3.0)
    assert_allclose(longer.points @ P.T, 3.0 * span.points @ P.T)
    assert_allclose(longer.to_features(P), 3.0 * span.to_features(P))


def test_single_precision_stays_single(X):
    span = Span.make(X.astype(np.float32))
    assert span.points.dtype == np.float32
    assert_allclose(pdist(span.points) * span.unit, pdist(X), rtol=1e-4)


def test_the_order_in_memory_has_no_influence(X):
    assert_array_equal(Span.make(X).points, Span.make(np.asfortranarray(X)).points)
