"""NCA: that of scikit-learn on the labeled rows, with the interface of the other learners."""

import numpy as np
import pytest
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from seraph.classic._nca import NCA
from tests.helpers.blobs import overlapping


def same_metric(learner, reference, **tolerance):
    expected = reference.components_.T @ reference.components_
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), expected, **tolerance)


@pytest.mark.parametrize(
    ("parameters", "theirs"),
    [
        ({}, {"init": "identity"}),
        ({"n_components": 2}, {"init": "pca"}),
        ({"n_components": 2, "init": "random", "random_state": 3}, {"init": "random"}),
        ({"init": np.eye(2, 4)[::-1]}, {"init": np.eye(2, 4)[::-1]}),
    ],
    ids=str,
)
def test_equals_scikit_learns_on_the_labeled_rows(rng, parameters, theirs):
    X, y = overlapping(rng, 60)
    partly = np.where(np.arange(60) % 4 == 1, -1, y)
    learner = NCA(**parameters).fit(X, partly)
    settings = {"max_iter": 200, "random_state": 0} | parameters | theirs
    labeled = X[partly >= 0]
    reference = NeighborhoodComponentsAnalysis(**settings)
    reference.fit(labeled - labeled.mean(axis=0), y[partly >= 0])
    assert learner.components_.shape == reference.components_.shape
    same_metric(learner, reference, rtol=1e-6, atol=1e-6)


def test_objective_is_the_literal_expectation_and_beats_the_start(rng):
    X, y = overlapping(rng, 30)
    learner = NCA().fit(X, y)

    def expected_right(Z):
        total = 0.0
        for i in range(30):
            p = np.array([np.exp(-np.sum((Z[i] - Z[j]) ** 2)) if j != i else 0 for j in range(30)])
            total += p[y == y[i]].sum() / p.sum()
        return total

    assert learner.objective_ == pytest.approx(expected_right(learner.transform(X)), rel=1e-9)
    assert learner.objective_ > expected_right(X) + 5.0


def test_fewer_points_than_features_give_the_map_of_all_features(rng):
    X, y = rng.normal(size=(12, 30)), np.arange(12) % 3
    learner = NCA(tol=1e-9).fit(X, y)
    whole = NeighborhoodComponentsAnalysis(init="identity", tol=1e-9, max_iter=200).fit(
        X - X.mean(axis=0), y
    )
    same_metric(learner, whole, atol=1e-4)
    outside = np.linalg.svd(X - X.mean(axis=0))[2][11:]
    np.testing.assert_allclose(
        learner.transform(outside + X[0]) - learner.transform(X[:1]), outside, atol=1e-9
    )
