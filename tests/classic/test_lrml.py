"""LRML against its definition, the conditions of its minimum, and a search for it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from seraph import Marks
from seraph.classic import LRML
from tests.helpers.blobs import blobs, every_pair

MILD = {"similar_weight": 2.0, "dissimilar_weight": 0.2, "floor": 0.0}


def partly_labeled(n=40):
    X, y = blobs(n)
    y[25:] = -1
    return X, y


def literal_matrix(X, rows, signs, n_neighbors, similar_weight, dissimilar_weight):
    """K, pair by pair: an edge joins two points if either is a neighbor of the other."""
    edges = set()
    for i in range(len(X)):
        others = [j for j in range(len(X)) if j != i]
        nearest = sorted(others, key=lambda j: np.linalg.norm(X[i] - X[j]))[:n_neighbors]
        edges |= {(min(i, j), max(i, j)) for j in nearest}
    marked = list(zip(rows, signs, strict=True))
    K = np.zeros((X.shape[1], X.shape[1]))
    for weight, pairs in (
        (1.0, edges),
        (similar_weight, [pair for pair, sign in marked if sign == 1]),
        (-dissimilar_weight, [pair for pair, sign in marked if sign == -1]),
    ):
        total = sum(np.outer(X[i] - X[j], X[i] - X[j]) for i, j in pairs)
        K = K + weight * total / np.trace(total)
    return K


def test_the_metric_meets_the_conditions_of_the_minimum():
    X, y = partly_labeled()
    learner = LRML(n_neighbors=3, **MILD).fit(X, y)
    M = learner.get_mahalanobis_matrix()
    K = literal_matrix(X, *every_pair(y), 3, 2.0, 0.2)
    assert np.linalg.eigvalsh(K)[0] > 0.0
    assert learner.n_lifted_ == 0
    # The constraint is active, and K is a positive multiple of the gradient of ln det M.
    assert np.linalg.slogdet(M)[1] == pytest.approx(0.0, abs=1e-9)
    multiplier = np.trace(M @ K) / len(K)
    assert_allclose(K, multiplier * np.linalg.inv(M), atol=1e-9 * np.abs(K).max())
    assert multiplier > 0.0


def test_small_eigenvalues_are_lifted_to_the_floor():
    X, y = partly_labeled()
    learner = LRML(n_neighbors=3, dissimilar_weight=3.0, floor=0.05).fit(X, y)
    values, vectors = np.linalg.eigh(literal_matrix(X, *every_pair(y), 3, 3.0, 3.0))
    assert values[0] < 0.0
    assert learner.n_lifted_ == np.sum(values < 0.05 * values[-1])
    values = np.maximum(values, 0.05 * values[-1])
    expected = np.exp(np.mean(np.log(values))) * (vectors / values) @ vectors.T
    assert_allclose(learner.get_mahalanobis_matrix(), expected, atol=1e-9 * expected.max())
    with pytest.raises(ValueError, match="dissimilar_weight=3 and floor=0 leave no minimum"):
        LRML(dissimilar_weight=3.0, floor=0.0).fit(X, y)
    with pytest.raises(ValueError, match="dissimilar_weight=1e"):
        LRML(dissimilar_weight=1e9).fit(X, y)


@pytest.mark.parametrize("sign", [1, -1])
def test_pairs_of_one_kind_are_enough(sign):
    X, _ = partly_labeled()
    rows = np.array([[0, 1], [2, 3], [4, 5]])
    M = LRML(n_neighbors=3, **MILD).fit(X, marks=Marks(rows, [sign] * 3, rows=X))
    signs = np.array([sign] * 3 + [-sign])
    K = literal_matrix(X, [*rows, [0, 2]], signs, 3, 2.0 * (sign > 0), 0.2 * (sign < 0))
    M = M.get_mahalanobis_matrix()
    assert_allclose(M @ K, np.trace(M @ K) / 4 * np.eye(4), atol=1e-9)


def test_directions_without_points_have_the_euclidean_metric():
    X, y = partly_labeled()
    plain = LRML().fit(X, y).components_
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(60, 60)))
    wide = LRML().fit(np.pad(X, [(0, 0), (0, 56)]) @ rotation, y).components_
    whole = rotation @ wide @ rotation.T
    assert_allclose(whole[:4, :4], plain, atol=1e-9)
    assert_allclose(whole[4:], np.eye(60)[4:], atol=1e-9)


def test_few_points_are_all_neighbors_of_each_other():
    X, y = partly_labeled(26)
    every, many = LRML(n_neighbors=25).fit(X, y), LRML(n_neighbors=300).fit(X, y)
    assert_allclose(every.components_, many.components_)
