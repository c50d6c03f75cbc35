"""LMNN against the literal sum over triples, its dual bound, and what the paper promises."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from seraph.classic import LMNN
from seraph.classic._lmnn import _LowerBound
from seraph.classic._triples import Triples
from tests.helpers.blobs import overlapping


def literal_objective(X, y, L, *, n_neighbors=3, push_weight=0.5):
    """Objective and number of impostors, from three loops over the rows."""
    n = len(X)
    euclidean = np.array([[np.sum((X[i] - X[j]) ** 2) for j in range(n)] for i in range(n)])
    Z = X @ L.T
    learned = np.array([[np.sum((Z[i] - Z[j]) ** 2) for j in range(n)] for i in range(n)])
    pull = push = impostors = 0
    for i in range(n):
        same = [j for j in range(n) if j != i and y[j] == y[i]]
        for j in sorted(same, key=lambda j: euclidean[i, j])[:n_neighbors]:
            pull += learned[i, j]
            for k in range(n):
                if y[k] != y[i]:
                    hinge = max(0.0, 1.0 + learned[i, j] - learned[i, k])
                    push += hinge
                    impostors += hinge > 0.0
    return (1.0 - push_weight) * pull + push_weight * push, impostors


def triples_of(X, y, *, n_neighbors=3, push_weight=0.5, width=1e-9):
    order = np.argsort(y, kind="stable")
    settings = {"n_neighbors": n_neighbors, "push_weight": push_weight, "width": width}
    return Triples(X[order], y[order], **settings)


@pytest.mark.parametrize("n_neighbors", [3, 20])
@pytest.mark.parametrize("push_weight", [0.5, 0.2])
def test_objective_is_the_literal_sum_over_triples(rng, n_neighbors, push_weight):
    X, y = overlapping(rng)
    y[:2] = 7  # a class smaller than n_neighbors
    y[2] = 8  # and one without any
    settings = {"n_neighbors": n_neighbors, "push_weight": push_weight}
    for rank in (4, 2):
        L = rng.normal(size=(rank, 4)) * 0.5
        expected, impostors = literal_objective(X, y, L, **settings)
        value = triples_of(X, y, **settings).at(L)
        assert value.exact == pytest.approx(expected, rel=1e-12)
        assert value.push == pytest.approx(push_weight * impostors, rel=1e-12)


@pytest.mark.parametrize("width", [1e-9, 0.3])
def test_gradient_agrees_with_finite_differences(rng, width):
    X, y = overlapping(rng)
    triples = triples_of(X, y, width=width)
    for rank in (4, 2):
        L = rng.normal(size=(rank, 4)) * 0.5
        gradient = 2.0 * triples.at(L).laplacian.T @ triples.points
        numerical = approx_fprime(
            L.ravel(), lambda x, rank=rank: triples.at(x.reshape(rank, 4)).smoothed, 1e-7
        )
        np.testing.assert_allclose(gradient.ravel(), numerical, rtol=1e-4, atol=1e-3)


def test_no_metric_is_better_than_the_bound_allows(rng):
    X, y = overlapping(rng)
    rough, fine = LMNN(tol=0.05).fit(X, y), LMNN(tol=1e-4).fit(X, y)
    assert fine.objective_ < rough.objective_
    triples = triples_of(X, y)
    at_start = min(triples.at(np.sqrt(t) * np.eye(4)).exact for t in np.geomspace(0.01, 10, 99))
    assert rough.objective_ - fine.objective_ <= rough.optimality_gap_ * at_start
    assert rough.optimality_gap_ <= 0.05
    assert fine.optimality_gap_ <= 1e-4
    for _ in range(50):
        L = fine.components_ + 0.1 * rng.normal(size=fine.components_.shape)
        assert triples.at(L).exact >= fine.objective_ - 1e-4 * at_start


@pytest.mark.parametrize("far", [1e2, 1e6])
def test_bound_stays_below_every_metric_where_outliers_hide_the_rest(rng, far):
    y = np.repeat([0, 1], 10)
    X = np.column_stack([y + 0.05 * rng.normal(size=20), rng.normal(size=20)])
    X[[3, 14], 1] = far
    good = np.array([[1.2, 0.0]])  # the classes differ in the first feature, and only there
    least, _ = literal_objective(X, y, good)
    bound = _LowerBound(triples_of(X, y))
    scales = np.geomspace(1.0 / far, 1.0, 9)
    assert all(0.0 <= bound(scale * np.eye(2)) <= least for scale in scales)
    assert 0.5 * least < bound(good) <= least


@pytest.mark.parametrize("n_components", [None, 2])
def test_an_outlier_does_not_slow_the_solver_down(rng, n_components):
    X, y = overlapping(rng)
    X[3] *= 1e4  # at 1e4 the solver once took hundreds of iterations, and often all it had
    learner = LMNN(n_components=n_components, max_iter=60).fit(X, y)
    assert learner.converged_ or learner.stopped_early_


def test_n_components_caps_the_rank(rng):
    X, y = overlapping(rng)
    full, flat = LMNN().fit(X, y), LMNN(n_components=1).fit(X, y)
    assert flat.components_.shape == (1, 4)
    assert flat.converged_
    assert flat.objective_ >= full.objective_ - full.optimality_gap_ * full.objective_
    assert LMNN(n_components=99).fit(X, y).components_.shape[0] <= 4
    direction = np.abs(flat.components_[0]) / np.linalg.norm(flat.components_)
    assert direction[0] > 0.9  # where the classes differ
