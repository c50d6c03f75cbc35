"""RCA against its definition, its optimum, and chunks counted by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from seraph import Marks
from seraph.classic import RCA
from tests.helpers.blobs import blobs


def literal_scatter(X, groups, ridge=0.0):
    """Mean scatter about the mean of each group, by a loop."""
    m, total, count = X.shape[1], np.zeros((X.shape[1],) * 2), 0
    for group in groups:
        for row in group:
            gap = X[row] - X[list(group)].mean(axis=0)
            total += np.outer(gap, gap)
            count += 1
    mean = total / count
    return mean + ridge * np.trace(mean) / m * np.eye(m)


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_metric_is_the_inverse_scatter_within_the_classes(ridge):
    X, y = blobs()
    y[30:] = -1
    learner = RCA(ridge=ridge).fit(X, y)
    C = literal_scatter(X, [np.flatnonzero(y == c) for c in range(3)], ridge)
    assert_allclose(learner.get_mahalanobis_matrix(), np.linalg.inv(C))
    assert learner.n_chunks_ == 3


def test_similar_pairs_are_joined_to_chunks():
    X, _ = blobs()
    rows, signs = [[0, 1], [2, 1], [3, 4], [5, 6], [0, 3]], [1, 1, 1, -1, -1]
    learner = RCA(ridge=0.5).fit(X, marks=Marks(rows, signs, rows=X))
    C = literal_scatter(X, [(0, 1, 2), (3, 4)], 0.5)
    assert_allclose(learner.get_mahalanobis_matrix(), np.linalg.inv(C))
    assert learner.n_chunks_ == 2


def test_few_components_are_those_of_fishers_discriminant():
    X, y = blobs(n=90)
    ours = RCA(n_components=2, ridge=0.0).fit(X, y).components_
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_[:, :2].T
    project = [P.T @ np.linalg.solve(P @ P.T, P) for P in (ours, theirs)]
    assert_allclose(project[0], project[1], atol=1e-9)
