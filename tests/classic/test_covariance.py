"""Covariance against numpy's inverse of numpy's covariance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist

from seraph.classic import Covariance
from tests.helpers.blobs import blobs


@pytest.mark.parametrize("shape", [(30, 4), (6, 20)], ids=["a copied feature", "few rows"])
def test_directions_without_variance_are_left_out(shape):
    X = blobs(*shape)[0] + 5.0
    X = np.column_stack([X, X[:, 0], np.full(len(X), 0.1)])
    learner = Covariance().fit(X)
    rank = min(shape[0] - 1, shape[1])
    assert learner.components_.shape == (rank, shape[1] + 2)
    # Between the points themselves every generalized inverse gives the same distance.
    expected = pdist(X, "mahalanobis", VI=np.linalg.pinv(np.cov(X.T), rcond=1e-10))
    assert_allclose(pdist(learner.transform(X)), expected)
    assert_allclose(np.cov(learner.transform(X).T), np.eye(rank), atol=1e-9)
