"""SCML against a linear program, its definition, and triplets by brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from seraph._marks import PairLabels
from seraph.classic import SCML
from seraph.classic._scml import Hinges, neighbor_triplets
from tests.helpers.blobs import blobs


def literal_triplets(X, y, n_neighbors, n_impostors):
    """For each point, every nearest one of its class with every nearest one of another."""
    triplets = []
    for a in range(len(X)):
        if y[a] < 0:
            continue
        order = sorted(range(len(X)), key=lambda j: np.linalg.norm(X[a] - X[j]))
        alike = [j for j in order if j != a and y[j] == y[a]][:n_neighbors]
        unlike = [j for j in order if y[j] >= 0 and y[j] != y[a]][:n_impostors]
        triplets += [(a, b, c) for b in alike for c in unlike]
    return triplets


@pytest.mark.parametrize(("b", "c"), [(3, 10), (99, 2)])
def test_triplets_are_the_literal_ones(b, c):
    X, y = blobs(n=25)
    y[20:] = -1
    triplets = neighbor_triplets(X, PairLabels.make(25, y), b, c)
    assert sorted(map(tuple, triplets.tolist())) == sorted(literal_triplets(X, y, b, c))


def test_no_more_triplets_are_made_than_asked_for():
    X, y = blobs(n=60)
    labels = PairLabels.make(60, y)
    every = set(map(tuple, SCML()._comparisons(X, labels).tolist()))
    sample = SCML(n_constraints=50, random_state=0)._comparisons(X, labels)
    assert len(every) > 50
    assert len(sample) == len({*map(tuple, sample.tolist())} & every) == 50
    again = SCML(n_constraints=50, random_state=0)._comparisons(X, labels)
    assert again.tolist() == sample.tolist()


@pytest.mark.parametrize("beta", [1e-3, 0.03, 10.0])
def test_the_optimum_is_that_of_the_linear_program(beta):
    t, k = 80, 12
    M = np.random.default_rng(0).normal(size=(t, k)) - 0.3
    reference = linprog(
        np.r_[np.full(k, beta), np.full(t, 1 / t)],
        A_ub=np.hstack([M, -np.eye(t)]),
        b_ub=-np.ones(t),
    )
    weights, value, gap, _ = Hinges(M, beta).minimize(5000, 1e-3)
    assert gap <= 1e-3
    assert reference.fun - 1e-9 <= value <= reference.fun + gap + 1e-9
    assert (weights >= 0.0).all()


def test_objective_is_the_literal_one():
    X, y = blobs()
    learner = SCML(random_state=0).fit(X, y)
    rows = np.array(literal_triplets(X, y, 3, 10))
    A = learner.get_mahalanobis_matrix()
    near, far = X[rows[:, 0]] - X[rows[:, 1]], X[rows[:, 0]] - X[rows[:, 2]]
    margins = 1 + np.einsum("ki,ij,kj->k", near, A, near) - np.einsum("ki,ij,kj->k", far, A, far)
    hinge = np.maximum(margins, 0.0).mean()
    # What is left is the sum of the weights, each at least the trace of its share of A.
    unit = np.mean(np.concatenate([near, far]) ** 2) * 4
    assert_allclose(learner.objective_ - hinge, 1e-3 * unit * np.trace(A), rtol=1e-6)


def test_a_larger_beta_keeps_fewer_directions():
    X, y = blobs(n=90, m=10)
    counts = [
        SCML(beta=beta, random_state=0).fit(X, y).n_directions_ for beta in (1e-3, 0.03, 0.1)
    ]
    assert counts[0] > counts[1] > counts[2] > 0
    with pytest.warns(UserWarning, match=r"metric is zero \(rank 0\)"):
        assert SCML(beta=100.0).fit(X, y).components_.shape == (0, 10)
