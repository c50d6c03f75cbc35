"""The manifold extension: neighbors are to stay neighbors."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import laplacian
from sklearn.neighbors import kneighbors_graph

from seraph import SERAPH
from seraph._objective._manifold import Roughness
from seraph._utils._graph import neighbor_graph
from tests.helpers.oracle import labeled_pairs, objective
from tests.helpers.quick import few


def edges(graph):
    return [(i, j, w) for i, j, w in zip(*sparse.find(sparse.triu(graph, 1)), strict=True)]


def test_the_graph_joins_points_of_which_either_is_among_the_others_nearest(rng):
    X = rng.normal(size=(30, 3))
    graph = neighbor_graph(X, 4)
    directed = kneighbors_graph(X, 4).toarray() > 0
    np.testing.assert_array_equal(graph.toarray(), directed | directed.T)


@pytest.mark.parametrize(("n", "levels"), [(8, 2), (40, 2), (300, 3), (600, 2)])
def test_the_first_rows_are_neighbors_among_ties_whatever_the_rounding(rng, n, levels):
    X = rng.integers(levels, size=(n, 6)).astype(float)
    graph = neighbor_graph(X, 5).toarray() > 0
    joined = np.zeros((n, n), dtype=bool)
    for i in range(n):
        squares = np.sum((X[i] - X) ** 2, axis=1)
        squares[i] = np.inf
        joined[i, np.argsort(squares, kind="stable")[:5]] = True
    np.testing.assert_array_equal(graph, joined | joined.T)
    joined[1::2] = False
    of_even_rows = neighbor_graph(X, 5, rows=np.arange(0, n, 2)).toarray() > 0
    np.testing.assert_array_equal(of_even_rows, joined | joined.T)
    X = X / 3.0 - 100.0 / 7.0
    for moved in (X.astype(np.float32), X + 1e-13 * rng.normal(size=X.shape)):
        np.testing.assert_array_equal(neighbor_graph(moved, 5).toarray() > 0, graph)


def test_roughness_is_the_sum_of_squared_distances_over_the_edges(rng):
    X = rng.normal(size=(20, 3)) + 100.0
    graph = neighbor_graph(X, 4)
    A = np.cov(rng.normal(size=(3, 9)))
    R = Roughness.matrix(X, graph, 1.0)
    expected = sum(w * (X[i] - X[j]) @ A @ (X[i] - X[j]) for i, j, w in edges(graph))
    assert np.vdot(R, A) == pytest.approx(expected)
    np.testing.assert_allclose(R, X.T @ laplacian(graph.toarray()) @ X, rtol=1e-6)
    with_loops = graph + sparse.csr_array(np.diag(rng.uniform(size=20)))
    np.testing.assert_allclose(Roughness.matrix(X, with_loops, 1.0), R, atol=1e-9)


@pytest.mark.parametrize("solver", ["low-rank", "spg"])
def test_the_objective_is_that_of_the_documentation_at_the_fitted_metric(wine, solver):
    X, y = wine[0][:40], wine[1][:40]
    learner = SERAPH(manifold=0.05, solver=solver).fit(X, y, graph=neighbor_graph(X, 6))
    A = learner.get_mahalanobis_matrix()
    expected = objective(X, A, labeled_pairs(y[:15]), mu=learner.mu_, lam=learner.lam_)
    expected -= 0.05 * sum(
        (X[i] - X[j]) @ A @ (X[i] - X[j]) for i, j, _ in edges(neighbor_graph(X, 6))
    )
    assert learner.objective_ == pytest.approx(expected, rel=1e-9)
    assert learner.optimality_gap_ <= learner.tol


@pytest.mark.parametrize("make", [sparse.coo_array, np.asarray])
def test_a_graph_can_be_passed_and_its_weights_multiply_that_of_the_graph(wine, make):
    X, y_partial, _ = wine
    expected = SERAPH(manifold=0.06).fit(X, y_partial).components_
    graph = neighbor_graph(X, 10).toarray()
    same = SERAPH(manifold=0.06).fit(X, y_partial, graph=make(graph))
    thrice = SERAPH(manifold=0.02).fit(X, y_partial, graph=make(3 * graph))
    for learner in (same, thrice):
        np.testing.assert_allclose(learner.components_, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "setting", few([{}, {"solver": "em"}, {"gamma": 5.0}], {"gamma": 5.0}.__eq__), ids=str
)
def test_it_goes_with_the_other_settings_and_float32(wine, setting):
    X, y_partial, _ = wine
    plain = SERAPH(**setting).fit(X, y_partial)
    double = SERAPH(manifold=0.05, **setting).fit(X, y_partial)
    single = SERAPH(manifold=0.05, **setting).fit(X.astype(np.float32), y_partial)
    assert double.objective_ < plain.objective_
    assert single.components_.dtype == np.float32
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-3)


ONES = sparse.csr_array(np.ones((80, 80)))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (ONES[:79, :79], r"shape \(80, 80\); got \(79, 79\)"),
        (-ONES, "finite weights of at least 0"),
        (ONES * np.inf, "finite weights of at least 0"),
        (sparse.csr_array(np.tri(80)), r"symmetric.*graph.maximum"),
        ("a graph", "graph must be a .*matrix of weights"),
        (ONES * 1j, "graph must be a .*matrix of weights; .*complex"),
    ],
)
def test_a_graph_that_does_not_fit_is_refused(wine, graph, message):
    with pytest.raises(ValueError, match=message):
        SERAPH(manifold=0.1).fit(*wine[:2], graph=graph)
