"""Every classic learner hands out its metric mixed with the Euclidean one, if asked."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose

from seraph import Marks, classic
from seraph.classic import LSML, SCML
from tests.helpers.blobs import blobs

LEARNERS = [
    learner
    for learner in (getattr(classic, name) for name in classic.__all__)
    if "shrinkage" in inspect.signature(learner).parameters
]


def check(Learner, X, *y, **known):
    seed = {"random_state": 0} if "random_state" in inspect.signature(Learner).parameters else {}
    plain, half, full = (
        Learner(shrinkage=share, **seed).fit(X, *y, **known) for share in (0.0, 0.5, 1.0)
    )
    assert_allclose(half.learned_components_, plain.components_)
    assert half.shrinkage_ == 0.5
    A, T = plain.get_mahalanobis_matrix(), np.eye(X.shape[1])
    cov = np.cov(X.T)
    T = T * np.trace(A @ cov) / np.trace(cov)
    assert_allclose(full.get_mahalanobis_matrix(), T, atol=1e-8 * T.max())
    assert_allclose(half.get_mahalanobis_matrix(), (A + T) / 2, atol=1e-8 * T.max())


@pytest.mark.parametrize("Learner", LEARNERS, ids=lambda Learner: Learner.__name__)
def test_half_of_it_is_halfway_to_the_euclidean_distance(Learner):
    check(Learner, *blobs())


def test_learners_of_comparisons_shrink_too():
    X, _ = blobs()
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(len(X))[:4] for _ in range(50)])
    check(LSML, X, quadruplets=rows)
    check(SCML, X, marks=Marks(triplets=rows[:, :3], rows=X))
