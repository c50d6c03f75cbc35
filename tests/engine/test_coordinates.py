import numpy as np
import pytest
from scipy.spatial.distance import pdist

from seraph._engine._coordinates import Space


@pytest.mark.parametrize("shape", [(20, 4), (6, 9), (2, 1), (5, 5)])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("rescale", [True, False])
def test_coordinates_keep_all_distances(rng, shape, scale, rescale):
    X = scale * (rng.normal(size=shape) + 3.0)
    space = Space.make(X, rescale=rescale)
    np.testing.assert_allclose(space.unit * pdist(space.points), pdist(X), rtol=1e-9)


@pytest.mark.parametrize("shape", [(20, 4), (6, 9)])
def test_factors_go_to_the_features_and_back(rng, shape):
    X = rng.normal(size=shape)
    space = Space.make(X)
    P = rng.normal(size=(3, space.points.shape[1]))
    np.testing.assert_allclose(pdist(space.points @ P.T), pdist(X @ space.to_features(P).T))
    np.testing.assert_allclose(space.from_features(space.to_features(P)), P, atol=1e-12)


def test_fewer_points_than_features_need_no_more_coordinates_than_points(rng):
    assert Space.make(rng.normal(size=(7, 30))).points.shape[1] == 6


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("eta", [1.0, 2.5])
def test_under_the_first_metric_the_mean_squared_distance_is_the_threshold(rng, rank, eta):
    space = Space.make(rng.normal(size=(50, 4)) * [1, 2, 3, 4])
    Z = space.points @ space.first_factor(eta, rank).T
    assert 2 * Z.var(axis=0).sum() == pytest.approx(eta)


def test_top_variance_is_the_largest_eigenvalue_of_the_covariance(rng):
    X = rng.normal(size=(30, 5))
    for points in (X, X.T):
        space = Space.make(points)
        covariance = np.cov(points.T, bias=True)
        expected = np.linalg.eigvalsh(covariance)[-1]
        assert space.top_variance * space.unit**2 == pytest.approx(expected)


def test_points_that_are_all_alike_have_a_unit_all_the_same():
    space = Space.make(np.full((4, 3), 7.0))
    assert space.unit > 0
    assert np.all(np.isfinite(space.points))
    assert np.all(np.isfinite(space.first_factor(1.0, 3)))


def test_the_order_of_the_columns_in_memory_changes_no_bit(rng):
    X = rng.normal(size=(300, 7))
    one, other = Space.make(X), Space.make(np.asfortranarray(X))
    np.testing.assert_array_equal(one.points, other.points)
    assert one.unit == other.unit
