"""SDML against its definition, the conditions of its optimum, and its limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from seraph import Marks
from seraph.classic import SDML
from seraph.classic._sdml import largest_weight
from tests.helpers.blobs import blobs, every_pair, literal_scatters


def matrix(X, y, learner):
    """K = inv(A0) + eta (S - D), by a loop over the pairs."""
    S, D = literal_scatters(X, *every_pair(y), 0.0)
    prior = np.eye(X.shape[1]) if learner.prior == "identity" else np.cov(X.T)
    return prior + learner.weight_ * (S - D), np.trace(prior) / len(prior)


@pytest.mark.parametrize("prior", ["identity", "covariance"])
@pytest.mark.parametrize("sparsity", [0.0, 0.05, 0.5])
def test_the_metric_meets_the_conditions_of_the_optimum(prior, sparsity):
    """K - inv(A) is minus alpha times the sign of an entry, at most alpha if that is 0."""
    X, y = blobs(m=6)
    learner = SDML(prior=prior, sparsity=sparsity, tol=1e-7, max_iter=1000).fit(X, y)
    K, unit = matrix(X, y, learner)
    A, alpha = learner.get_mahalanobis_matrix(), sparsity * unit
    slope = K - np.linalg.inv(A)
    off, used = ~np.eye(6, dtype=bool), np.abs(A) > 1e-9 * np.abs(A).max()
    close = {"atol": 1e-4 * unit}
    assert_allclose(np.diag(slope), 0.0, **close)
    assert_allclose(slope[off & used], -alpha * np.sign(A[off & used]), **close)
    assert (np.abs(slope[off & ~used]) <= alpha + 1e-4 * unit).all()
    absolute = np.abs(A[off]).sum()
    objective = np.vdot(A, K) - np.linalg.slogdet(A)[1] + alpha * absolute
    assert_allclose(learner.objective_, objective, rtol=1e-6)


def test_the_largest_weight_makes_the_matrix_singular():
    X, y = blobs()
    S, D = literal_scatters(X, *every_pair(y), 0.0)
    weight = largest_weight(S - D, np.eye(4))
    assert_allclose(np.linalg.eigvalsh(np.eye(4) + weight * (S - D))[0], 0.0, atol=1e-12)
    assert_allclose(SDML(balance=0.7).fit(X, y).weight_, 0.7 * weight)


@pytest.mark.parametrize("signs", [[1, 1], [-1, -1]], ids=["similar", "dissimilar"])
def test_one_kind_of_pairs_is_enough(signs):
    X, _ = blobs()
    pairs = X[[[0, 1], [2, 3]]]
    before = np.linalg.norm(pairs[:, 0] - pairs[:, 1], axis=1)
    learner = SDML(sparsity=0.0).fit(X, marks=Marks([[0, 1], [2, 3]], signs, rows=X))
    after = learner.pair_distance(pairs)
    assert ((after < before) == (signs[0] == 1)).all()
