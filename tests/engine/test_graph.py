"""The manifold extension: neighbors are to stay neighbors."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import laplacian
from scipy.spatial.distance import pdist
from seraph._engine._manifold import Roughness
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph

from seraph._utils._graph import neighbor_graph
from tests.helpers.oracle import labeled_pairs, objective
from tests.helpers.plain import SERAPH


def edges(graph):
    return [(i, j, w) for i, j, w in zip(*sparse.find(sparse.triu(graph, 1)), strict=True)]


# The graph, and what it asks of a metric


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
        others = sorted((np.sum((X[i] - X[j]) ** 2), j) for j in range(n) if j != i)
        joined[i, [j for _, j in others[:5]]] = True
    np.testing.assert_array_equal(graph, joined | joined.T)
    joined[1::2] = False
    graph_of_some = neighbor_graph(X, 5, rows=np.arange(0, n, 2)).toarray() > 0
    np.testing.assert_array_equal(graph_of_some, joined | joined.T)
    X = X / 3.0 - 100.0 / 7.0
    for moved in (X.astype(np.float32), X + 1e-13 * rng.normal(size=X.shape)):
        np.testing.assert_array_equal(neighbor_graph(moved, 5).toarray() > 0, graph)


def test_roughness_is_the_sum_of_squared_distances_over_the_edges(rng):
    X = rng.normal(size=(20, 3)) + 100.0
    graph = neighbor_graph(X, 4)
    A = np.cov(rng.normal(size=(3, 9)))
    R = Roughness.of(X, graph, 1.0).R
    expected = sum(w * (X[i] - X[j]) @ A @ (X[i] - X[j]) for i, j, w in edges(graph))
    assert np.vdot(R, A) == pytest.approx(expected)
    np.testing.assert_allclose(R, X.T @ laplacian(graph.toarray()) @ X, rtol=1e-6)
    np.testing.assert_array_equal(R, R.T)


def test_what_a_point_weighs_with_itself_does_not_matter(rng):
    X = rng.normal(size=(20, 3))
    graph = neighbor_graph(X, 4)
    own = graph + sparse.csr_array(np.diag(rng.uniform(size=20)))
    found, expected = (Roughness.of(X, one, 0.5).R for one in (own, graph))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("solver", ["low-rank", "spg"])
def test_objective_is_that_of_the_documentation_at_the_fitted_metric(wine, solver):
    X, y_partial, _ = wine
    learner = SERAPH(manifold=0.05, solver=solver).fit(X, y_partial, graph=neighbor_graph(X, 6))
    A = learner.get_mahalanobis_matrix()
    known = labeled_pairs(y_partial[:15])
    expected = objective(X, A, known, mu=learner.mu_, lam=learner.lam_)
    expected -= 0.05 * sum(
        (X[i] - X[j]) @ A @ (X[i] - X[j]) for i, j, _ in edges(neighbor_graph(X, 6))
    )
    assert learner.objective_ == pytest.approx(expected, rel=1e-9)
    assert learner.optimality_gap_ <= learner.tol


# What it does


def test_weight_zero_changes_nothing(wine):
    X, y_partial, _ = wine
    one = SERAPH().fit(X, y_partial)
    other = SERAPH(manifold=0.0).fit(X, y_partial, graph=neighbor_graph(X, 3))
    np.testing.assert_array_equal(one.components_, other.components_)
    assert one.objective_ == other.objective_


def test_a_larger_weight_makes_neighbors_closer_relative_to_other_points(wine):
    X, y_partial, _ = wine
    i, j, _ = np.array(edges(neighbor_graph(X, 10))).T.astype(int)
    shares = []
    for manifold in (0.0, 0.05, 0.2):
        Z = SERAPH(manifold=manifold).fit(X, y_partial).transform(X)
        shares.append(np.mean(np.sum((Z[i] - Z[j]) ** 2, axis=1)) / np.mean(pdist(Z) ** 2))
    assert shares[0] > shares[1] > shares[2]


def error(learner, X, y, known):
    Z = learner.transform(X)
    return 1 - KNeighborsClassifier(1).fit(Z[known], y[known]).score(Z[~known], y[~known])


def moons(seed, n_labels, noise_features, n=200):
    rng = np.random.default_rng(seed)
    X, y = make_moons(n, noise=0.1, random_state=seed)
    X = np.c_[X, 0.5 * rng.normal(size=(n, noise_features))]
    known = np.zeros(n, dtype=bool)
    for moon in (0, 1):
        known[rng.permutation(np.flatnonzero(y == moon))[:n_labels]] = True
    return X, y, known


def graph_as_heavy_as_labels(X, known):
    n_pairs = known.sum() * (known.sum() - 1) / 2
    return n_pairs / len(edges(neighbor_graph(X, 10)))


@pytest.mark.slow
def test_it_raises_accuracy_on_two_moons_among_noise():
    """Noise moves neighbors apart, and the moons do not: the graph tells them apart."""
    errors = []
    for seed in range(20):
        X, y, known = moons(seed, n_labels=3, noise_features=5)
        y_partial = np.where(known, y, -1)
        weight = graph_as_heavy_as_labels(X, known)
        errors.append(
            [error(SERAPH(manifold=nu).fit(X, y_partial), X, y, known) for nu in (0.0, weight)]
        )
    without, with_graph = np.mean(errors, axis=0)
    assert with_graph < without - 0.02


# What it takes


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.coo_array, np.asarray])
def test_a_graph_can_be_given(wine, make):
    X, y_partial, _ = wine
    one = SERAPH(manifold=0.05).fit(X, y_partial)
    graph = make(neighbor_graph(X, 10).toarray())
    other = SERAPH(manifold=0.05).fit(X, y_partial, graph=graph)
    np.testing.assert_allclose(other.components_, one.components_, rtol=1e-9)


def test_weights_of_the_edges_multiply_that_of_the_graph(wine):
    X, y_partial, _ = wine
    graph = neighbor_graph(X, 6)
    one = SERAPH(manifold=0.06).fit(X, y_partial, graph=graph)
    other = SERAPH(manifold=0.02).fit(X, y_partial, graph=3 * graph)
    np.testing.assert_allclose(other.components_, one.components_, rtol=1e-9)


@pytest.mark.parametrize("setting", [{"solver": "em"}, {"gamma": 5.0}], ids=str)
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
    ("parameters", "graph", "message"),
    [
        ({}, ONES[:79, :79], r"shape \(80, 80\); got \(79, 79\)"),
        ({}, -ONES, "finite weights of at least 0"),
        ({}, ONES * np.inf, "finite weights of at least 0"),
        ({}, sparse.csr_array(np.tri(80)), r"symmetric.*graph.maximum"),
        ({}, "a graph", "graph must be a .*matrix of weights"),
        ({}, ONES * 1j, "graph must be a .*matrix of weights; .*complex"),
    ],
    ids=str,
)
def test_bad_input(wine, parameters, graph, message):
    with pytest.raises(ValueError, match=message):
        SERAPH(**{"manifold": 0.1, **parameters}).fit(*wine[:2], graph=graph)
