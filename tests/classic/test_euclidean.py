"""Euclidean: the identity, from whatever a learner can be given."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from seraph import Marks
from seraph.classic._euclidean import Euclidean


@pytest.mark.parametrize(
    "known",
    [
        {},
        {"y": [0, 0, 1, 1, -1]},
        {"y": [-1] * 5},
        {"y": ["a", None, None, None, None]},
        {"marks": Marks([[0, 1]], [-1], rows=5)},
        {"y": [0, 1, -1, -1, -1], "marks": Marks([[0, 4]], [1], rows=5)},
    ],
    ids=str,
)
def test_distances_are_euclidean_whatever_is_known(rng, known):
    X = rng.normal(size=(5, 3))
    learner = Euclidean().fit(X, **known)
    np.testing.assert_array_equal(learner.components_, np.eye(3))
    np.testing.assert_array_equal(learner.transform(X), X)
    pairs = np.stack([X[:2], X[2:4]], axis=1)
    expected = np.diag(cdist(X[:2], X[2:4]))
    np.testing.assert_allclose(learner.pair_distance(pairs), expected, rtol=1e-12)
    assert learner.get_metric()(X[0], X[2]) == pytest.approx(expected[0])
