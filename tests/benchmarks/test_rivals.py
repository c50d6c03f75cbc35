"""LDM and MFDA against their definitions, by loops, and against other solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from scipy.special import logsumexp

from benchmarks.paper._rivals import LDM, MFDA, likelihood, reconstruct, trace_ratio
from tests.helpers.blobs import blobs, every_pair


def literal_likelihood(Z, y):
    """Sum over points of the log of the kernel mass on the points of their class."""
    value = 0.0
    for i in range(len(Z)):
        exponents = {True: [], False: []}
        for j in range(len(Z)):
            if i != j:
                exponents[bool(y[i] == y[j])].append(-np.sum((Z[i] - Z[j]) ** 2))
        if exponents[True] and exponents[False]:
            value += logsumexp(exponents[True]) - logsumexp(exponents[True] + exponents[False])
    return value


def test_ldm_finds_the_weights_of_another_solver():
    X, y = blobs(n=50, m=5)
    y[:2] = 7, 8  # classes of one point
    squares, gamma = (X[:, np.newaxis] - X) ** 2, np.array([0.0, 0.3, 1.0, 2.0, 0.1])
    value, gradient = likelihood(squares, y, gamma)
    assert_allclose(value, literal_likelihood(X * np.sqrt(gamma), y), rtol=1e-10)
    numeric = approx_fprime(gamma, lambda g: likelihood(squares, y, g)[0], 1e-7)
    assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4)
    learner = LDM().fit(X, y)
    assert learner.converged_
    axes = np.linalg.svd(X - X.mean(axis=0))[2]
    Z = (X - X.mean(axis=0)) @ axes.T
    squares = (Z[:, np.newaxis] - Z) ** 2
    second = minimize(
        lambda g: -likelihood(squares, y, g)[0], np.full(5, 0.1), bounds=[(0.0, None)] * 5
    )
    expected = axes.T @ np.diag(second.x) @ axes
    assert_allclose(literal_likelihood(learner.transform(X), y), -second.fun, rtol=1e-4)
    assert_allclose(learner.get_mahalanobis_matrix(), expected, atol=0.02 * second.x.max())


@pytest.mark.parametrize(("n", "m", "k"), [(30, 3, 7), (12, 20, 5)])
def test_mfda_writes_points_as_means_of_their_neighbors(n, m, k):
    X = np.random.default_rng(0).normal(size=(n, m))
    for i, mean in enumerate(reconstruct(X, k)):
        near = np.argsort(np.linalg.norm(X - X[i], axis=1))[1 : k + 1]
        gaps = X[near] - X[i]
        gram = gaps @ gaps.T
        weights = np.linalg.solve(gram + 1e-3 * np.trace(gram) * np.eye(k), np.ones(k))
        assert_allclose(mean, weights @ X[near] / weights.sum(), atol=1e-9)


@pytest.mark.parametrize("m", [6, 60])  # and more features than points
def test_no_projection_has_a_larger_ratio_than_that_of_mfda(m):
    X, y = blobs(m=m)
    y[25:] = -1
    P = MFDA().fit(X, y).components_
    apart, together = np.zeros((2, m, m))
    for (i, j), sign in zip(*every_pair(y), strict=True):
        total = together if sign > 0 else apart
        total += np.outer(X[i] - X[j], X[i] - X[j])
    rest = X - reconstruct(X, 10)
    together += 0.2 * rest.T @ rest
    assert_allclose(P @ P.T, np.eye(len(P)), atol=1e-10)
    ratio = np.trace(P @ apart @ P.T) / np.trace(P @ together @ P.T)
    span = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:39]
    values = np.linalg.eigvalsh(span @ (apart - ratio * together) @ span.T)
    assert_allclose(values[-len(P) :].sum(), 0.0, atol=1e-8 * np.abs(values).max())
    W = trace_ratio(np.diag([1.0, 4.0, 9.0]), np.diag([1.0, 1.0, 3.0]), 1)
    assert_allclose(np.abs(W[:, 0]), [0.0, 1.0, 0.0], atol=1e-9)
