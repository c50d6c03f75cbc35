"""Center, unit and span of points: distances stay, rounding errors go."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist

from seraph._points import Frame
from seraph._points._arrays import _ROWS, Moments


def frame_of(X):
    n, m = X.shape
    return Frame.of_span(X) if n <= m else Frame.of_moments(Moments.of(X), X.dtype.name)


SHAPES = pytest.mark.parametrize("shape", [(20, 4), (6, 9), (2, 1)])


@SHAPES
@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("rescales", [True, False])
def test_coordinates_keep_all_distances(rng, shape, scale, rescales):
    X = scale * (rng.normal(size=shape) + 3.0)
    frame = frame_of(X) if rescales else frame_of(X).without_unit()
    points = frame.apply(X)
    assert points.shape[1] == len(frame.covariance)
    assert_allclose(frame.unit * pdist(points), pdist(X), rtol=1e-9)
    covariance = np.atleast_2d(np.cov(points.T, bias=True))
    assert_allclose(frame.covariance, covariance, atol=1e-9 * covariance.max())
    assert_allclose(frame.std, X.std(axis=0), rtol=1e-9)
    assert len(frame.without_unit().covariance) == shape[1]
    if rescales:
        assert np.mean(pdist(points) ** 2) == pytest.approx(shape[0] / (shape[0] - 1))


@SHAPES
def test_factors_go_to_the_features_and_back(rng, shape):
    X = rng.normal(size=shape)
    frame = frame_of(X)
    P = rng.normal(size=(3, len(frame.covariance)))
    assert_allclose(pdist(frame.apply(X) @ P.T), pdist(X @ frame.to_features(P).T), atol=1e-12)
    assert_allclose(frame.from_features(frame.to_features(P)), P, atol=1e-12)


@pytest.mark.parametrize(("rank", "eta"), [(1, 1.0), (4, 2.5)])
def test_under_the_first_metric_the_mean_squared_distance_is_the_threshold(rng, rank, eta):
    X = rng.normal(size=(50, 4)) * [1, 2, 3, 4]
    frame = frame_of(X)
    Z = frame.apply(X) @ frame.start(eta, rank).T
    assert Z.shape[1] == rank
    assert 2 * Z.var(axis=0).sum() == pytest.approx(eta)


@pytest.mark.parametrize("shape", [(40, 3), (3, 40)])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e100])
def test_equal_points_are_flat_and_have_the_unit_one(shape, value):
    frame = frame_of(np.full(shape, value))
    assert not frame.covariance.any()
    assert frame.unit == 1.0
    varied = np.full(shape, value) + (value or 1.0) * np.eye(*shape)
    assert frame_of(varied).covariance.any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [2, _ROWS, _ROWS + 1, 3 * _ROWS])
def test_moments_are_those_of_double_precision_wherever_the_points_are(rng, n, dtype):
    X = (rng.normal(size=(n, 3)) + np.array([0.0, 1e3, -5.0])).astype(dtype)
    wide = X.astype(np.float64)
    scatter = (wide - wide.mean(axis=0)).T @ (wide - wide.mean(axis=0))
    halves = Moments.of(X[: n // 3]).merge(Moments.of(X[n // 3 :]))
    close = {np.float64: 1e-12, np.float32: 1e-5}[dtype]
    for moments, tolerance in (
        (Moments.of(X), 1e-12),
        (halves, 1e-12),
        (Moments.of(torch.as_tensor(X)), close),
    ):
        assert moments.n == n
        assert_allclose(moments.mean, wide.mean(axis=0), rtol=1e-12)
        assert_allclose(moments.scatter, scatter, rtol=0, atol=tolerance * np.abs(scatter).max())
