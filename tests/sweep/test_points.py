import dask.array as da
import numpy as np
import pytest
from scipy.spatial.distance import pdist
from seraph._sweep import ChunkedPoints, PointsInMemory

from seraph import SERAPH


def coordinates(X, **options):
    return PointsInMemory(X).coordinates(**options)


@pytest.mark.parametrize("shape", [(20, 4), (6, 9), (2, 1), (5, 5)])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("rescale", [True, False])
def test_coordinates_keep_all_distances(rng, shape, scale, rescale):
    X = scale * (rng.normal(size=shape) + 3.0)
    found = coordinates(X, rescale=rescale)
    np.testing.assert_allclose(found.unit * pdist(found.array), pdist(X), rtol=1e-9)


@pytest.mark.parametrize("shape", [(20, 4), (6, 9)])
def test_factors_go_to_the_features_and_back(rng, shape):
    X = rng.normal(size=shape)
    found = coordinates(X)
    P = rng.normal(size=(3, found.array.shape[1]))
    np.testing.assert_allclose(pdist(found.array @ P.T), pdist(X @ found.to_features(P).T))
    np.testing.assert_allclose(found.from_features(found.to_features(P)), P, atol=1e-12)


def test_fewer_points_than_features_need_no_more_coordinates_than_points(rng):
    assert coordinates(rng.normal(size=(7, 30))).array.shape[1] == 6


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("eta", [1.0, 2.5])
def test_under_the_first_metric_the_mean_squared_distance_is_the_threshold(rng, rank, eta):
    found = coordinates(rng.normal(size=(50, 4)) * [1, 2, 3, 4])
    Z = found.array @ found.start(eta, rank).T
    assert 2 * Z.var(axis=0).sum() == pytest.approx(eta)


def test_the_last_principal_axis_has_the_largest_eigenvalue_of_the_covariance(rng):
    X = rng.normal(size=(30, 5))
    for points in (X, X.T):
        found = coordinates(points)
        covariance = np.cov(points.T, bias=True)
        expected = np.linalg.eigvalsh(covariance)[-1]
        assert found.principal_axes[0][-1] * found.unit**2 == pytest.approx(expected)


@pytest.mark.parametrize("kind", [(700, 3), (64, 3), ((1, 0, 333, 366), 2)], ids=str)
def test_the_default_fit_on_dask_is_that_of_numpy_beyond_500_rows(rng, kind):
    """The default mixes in the Euclidean metric, at a scale that at most 500 rows decide."""
    classes = rng.integers(3, size=700)
    X = 1.5 * rng.normal(size=(3, 3))[classes] + rng.normal(size=(700, 3)) + 3.0
    y = np.where(np.arange(700) < 30, classes, -1)
    expected = SERAPH(backend="numpy").fit(X, y)
    found = SERAPH(backend="dask").fit(da.from_array(X, chunks=kind), y)
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("count", [1, 7, 40, 200, 500])
def test_some_rows_are_the_same_in_chunks_and_in_any_order(rng, count):
    X = rng.normal(size=(200, 3)) + 5.0
    expected = PointsInMemory(X).coordinates().some_rows(count)
    assert len(expected) == (200 if count >= 200 else -(-200 // -(-200 // count)))
    chunked = ChunkedPoints.read(da.from_array(X, chunks=(37, 3))).coordinates()
    shuffled = PointsInMemory(X[rng.permutation(200)]).coordinates()
    for other in (chunked, shuffled):
        found = other.some_rows(count)
        assert found.dtype == np.float64
        np.testing.assert_allclose(
            found[np.argsort(found[:, 0])], expected[np.argsort(expected[:, 0])], atol=1e-12
        )
