"""LFDA against its definition by loops, Fisher's discriminant, and classes of two clusters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

from seraph.classic import LFDA
from seraph.classic._lfda import local_scatters
from tests.helpers.blobs import blobs


def literal_scatters(X, y, k):
    """Both sums over all pairs of labeled points, by a loop."""
    n, m = X.shape
    within, between = np.zeros((m, m)), np.zeros((m, m))
    sigma = []
    for i in range(n):
        same = [np.linalg.norm(X[i] - X[j]) for j in range(n) if y[j] == y[i]]
        sigma.append(sorted(same)[min(k, len(same) - 1)])
    for i in range(n):
        for j in range(n):
            gap = np.outer(X[i] - X[j], X[i] - X[j])
            if y[i] != y[j]:
                between += gap / n / 2
                continue
            width = sigma[i] * sigma[j]
            affinity = np.exp(-np.sum((X[i] - X[j]) ** 2) / width) if width > 0.0 else 0.0
            size = np.sum(y == y[i])
            within += affinity / size * gap / 2
            between += affinity * (1 / n - 1 / size) * gap / 2
    return between, within


@pytest.mark.parametrize("copies", [1, 5])
@pytest.mark.parametrize("k", [3, 50])
def test_scatters_are_the_literal_ones(k, copies):
    X, y = blobs(n=25)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    X[:copies] = X[0]
    X -= X.mean(axis=0)
    for ours, theirs in zip(local_scatters(X, y, k), literal_scatters(X, y, k), strict=True):
        assert_allclose(ours, theirs, atol=1e-10)


def literal_map(X, y, known, beta, k=7):
    between, within = literal_scatters(X[known], y[known], k)
    m = X.shape[1]
    total = np.cov(X.T, bias=True) * known.sum()
    within = (1 - beta) * within + beta * np.trace(within) / m * np.eye(m)
    values, vectors = eigh((1 - beta) * between + beta * total, within)
    return (vectors * np.sqrt(np.maximum(values, 0))).T[::-1]


@pytest.mark.parametrize("beta", [0.0, 0.3])
@pytest.mark.parametrize("d", [None, 2])
def test_metric_is_that_of_the_literal_eigenvectors(beta, d):
    X, y = blobs()
    y[30:] = -1
    P = literal_map(X, y, y >= 0, beta)[:d]
    learner = LFDA(beta=beta, n_components=d).fit(X, y)
    assert learner.components_.shape == P.shape
    assert_allclose(learner.get_mahalanobis_matrix(), P.T @ P, atol=1e-8 * np.abs(P.T @ P).max())
