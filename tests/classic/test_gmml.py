"""GMML against its definition, the equation it solves, and its objective."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import sqrtm

from seraph import Marks
from seraph.classic import GMML
from tests.helpers.blobs import blobs, every_pair, literal_scatters


def literal_metric(S, D, t):
    """The closed form by scipy's roots: S^(-1/2) (S^(1/2) D S^(1/2))^t S^(-1/2)."""
    root = np.real(sqrtm(S))
    values, vectors = np.linalg.eigh(root @ D @ root)
    middle = vectors @ np.diag(values**t) @ vectors.T
    return np.linalg.inv(root) @ middle @ np.linalg.inv(root)


@pytest.mark.parametrize("t", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_metric_is_the_literal_one(t, ridge):
    X, y = blobs()
    y[30:] = -1
    learner = GMML(t=t, ridge=ridge).fit(X, y)
    S, D = literal_scatters(X, *every_pair(y), ridge)
    expected = literal_metric(S, D, t)
    assert_allclose(learner.get_mahalanobis_matrix(), expected, atol=1e-9 * abs(expected).max())


def test_similar_pairs_alone_are_set_against_all_pairs_of_points():
    X, _ = blobs()
    rows = np.array([[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]])
    learner = GMML(ridge=0.1).fit(X, marks=Marks(rows, [1] * 5, rows=X))
    every = np.array([(i, j) for i in range(len(X)) for j in range(i)])
    S, D = literal_scatters(X, np.vstack([rows, every]), [1] * 5 + [-1] * len(every), 0.1)
    assert_allclose(learner.get_mahalanobis_matrix(), literal_metric(S, D, 0.5), atol=1e-9)
