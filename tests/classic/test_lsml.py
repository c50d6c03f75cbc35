"""LSML against its definition, finite differences, its certificate, and a second solver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from seraph import Marks
from seraph._marks import PairLabels
from seraph.classic import LSML
from seraph.classic._comparisons import pairs_by_number
from tests.helpers.blobs import blobs


def all_pairs(labels):
    return (
        pairs_by_number(labels, np.arange(labels.n_similar), similar=True),
        pairs_by_number(labels, np.arange(labels.n_dissimilar), similar=False),
    )


def test_numbered_pairs_are_all_pairs_of_a_kind_once():
    rng = np.random.default_rng(0)
    y = np.array([2, 0, -1, 1, 0, 2, 2, -1, 0, 1])
    marked = np.array([[2, 7], [0, 2], [7, 3]])
    labels = PairLabels.make(10, y, Marks(marked, [1, 1, -1], rows=10))
    known = [(i, j) for i in range(10) for j in range(i) if min(y[i], y[j]) >= 0]
    for numbered, alike, extra in zip(
        all_pairs(labels), (True, False), ([(7, 2), (2, 0)], [(7, 3)]), strict=True
    ):
        expected = {(i, j) for i, j in known if (y[i] == y[j]) == alike} | set(extra)
        assert {(max(p), min(p)) for p in numbered.tolist()} == expected
        assert len(numbered) == len(expected)
        order = rng.permutation(len(numbered))
        assert_array_equal(pairs_by_number(labels, order, similar=alike), numbered[order])


def test_many_rows_make_as_many_quadruplets_as_asked_for_in_little_memory():
    n = 200_000  # they have more than 2**64 quadruplets
    labels = PairLabels.make(n, np.arange(n) % 3)
    rows = LSML(n_constraints=200)._comparisons(np.zeros((n, 1)), labels)
    assert len(np.unique(rows, axis=0)) == 200
    assert (rows[:, 0] % 3 == rows[:, 1] % 3).all()
    assert (rows[:, 2] % 3 != rows[:, 3] % 3).all()
    assert (rows[:, 0] != rows[:, 1]).all()


def quadruplets_of(X, y, n=60, seed=0):
    rng = np.random.default_rng(seed)
    kinds = all_pairs(PairLabels.make(len(X), y))
    return np.hstack([pairs[rng.integers(len(pairs), size=n)] for pairs in kinds])


def literal_objective(A, X, rows, gamma, prior):
    """The divergence from the prior plus the mean cost, by a loop."""
    inverse = np.linalg.inv(prior)
    value = np.trace(A @ inverse) - np.linalg.slogdet(A @ inverse)[1] - len(A)
    for a, b, c, d in rows:
        near, far = (np.sqrt((X[i] - X[j]) @ A @ (X[i] - X[j])) for i, j in ((a, b), (c, d)))
        value += gamma / len(rows) * max(0.0, near - far) ** 2
    return value


@pytest.mark.parametrize("prior", ["identity", "covariance"])
@pytest.mark.parametrize("gamma", [0.1, 100.0])
def test_objective_is_the_literal_one(prior, gamma):
    X, y = blobs()
    rows = quadruplets_of(X, y)
    learner = LSML(gamma=gamma, prior=prior, tol=1e-5).fit(X, quadruplets=rows)
    A0 = np.eye(4) if prior == "identity" else np.linalg.inv(np.cov(X.T))
    expected = literal_objective(learner.get_mahalanobis_matrix(), X, rows, gamma, A0)
    assert_allclose(learner.objective_, expected, rtol=1e-6)
    assert learner.optimality_gap_ <= 1e-5


def test_a_second_solver_finds_no_lower_objective():
    X, y = blobs(m=3)
    rows = quadruplets_of(X, y)
    learner = LSML(gamma=50.0, tol=1e-7).fit(X, quadruplets=rows)

    def objective(v):
        L = v.reshape(3, 3)
        return literal_objective(L @ L.T + 1e-12 * np.eye(3), X, rows, 50.0, np.eye(3))

    reference = minimize(objective, np.eye(3).ravel(), method="BFGS")
    assert learner.objective_ <= reference.fun + 1e-5
    assert learner.objective_ >= reference.fun - 1e-5 * max(1.0, reference.fun)
