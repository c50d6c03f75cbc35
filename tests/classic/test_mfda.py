"""MFDA against its definition, brute force, random projections and a problem made for it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from seraph.classic import MFDA
from seraph.classic._mfda import reconstruction, trace_ratio
from tests.helpers.blobs import blobs, every_pair


def literal_weights(X, k):
    """Weights of locally linear embedding by a loop over the points."""
    n = len(X)
    R = np.zeros((n, n))
    for i in range(n):
        distances = [np.inf if j == i else np.linalg.norm(X[i] - X[j]) for j in range(n)]
        near = np.argsort(distances, kind="stable")[:k]
        gram = np.array([[(X[a] - X[i]) @ (X[b] - X[i]) for b in near] for a in near])
        weights = np.linalg.solve(gram + 1e-3 * np.trace(gram) * np.eye(len(near)), np.ones(k))
        R[i, near] = weights / weights.sum()
    return R


def literal_scatters(X, rows, signs, alpha, k=10):
    """Numerator and denominator matrices by a loop over the pairs and a dense E."""
    m, n = X.shape[1], len(X)
    apart, together = np.zeros((m, m)), np.zeros((m, m))
    for (i, j), sign in zip(rows, signs, strict=True):
        total = together if sign > 0 else apart
        total += np.outer(X[i] - X[j], X[i] - X[j])
    left = np.eye(n) - literal_weights(X, min(k, n - 1))
    return apart, together + alpha * X.T @ (left.T @ left) @ X


def ratio_of(W, apart, together):
    return np.trace(W.T @ apart @ W) / np.trace(W.T @ together @ W)


@pytest.mark.parametrize(("n", "m", "k"), [(30, 3, 7), (12, 20, 5)])
def test_weights_are_those_of_the_literal_loop(n, m, k):
    X = np.random.default_rng(0).normal(size=(n, m))
    assert_allclose(reconstruction(X, k).toarray(), literal_weights(X, k), atol=1e-9)


@pytest.mark.parametrize("alpha", ["auto", 0.0, 3.0])
def test_ratio_is_the_literal_one(alpha):
    X, y = blobs()
    y[25:] = -1
    learner = MFDA(alpha=alpha, n_components=2).fit(X, y)
    apart, together = literal_scatters(X, *every_pair(y), learner.alpha_)
    assert_allclose(learner.objective_, ratio_of(learner.components_.T, apart, together))
    assert learner.alpha_ == (0.02 if alpha == "auto" else alpha)
    assert MFDA().fit(*blobs(m=6)).alpha_ == 0.2


def test_top_eigenvalues_add_up_to_zero_at_the_optimum():
    """The certificate: no W has tr(W'(S_b - rho S_t)W) > 0, and this one has 0."""
    X, y = blobs(m=6)
    learner = MFDA(n_components=3).fit(X, y)
    apart, together = literal_scatters(X, *every_pair(y), learner.alpha_)
    values = np.linalg.eigvalsh(apart - learner.objective_ * together)
    assert_allclose(values[-3:].sum(), 0.0, atol=1e-8 * np.abs(values).max())


@pytest.mark.parametrize("seed", range(2))
def test_ratio_never_falls_and_soon_comes_to_rest(seed):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(2, 30, 30)) * np.geomspace(1e-2, 1.0, 30)
    numerator, denominator = factors @ factors.transpose(0, 2, 1)
    for d in (1, 5, 15, 30):
        W, history = trace_ratio(numerator, denominator, d)
        assert (np.diff(history) >= 0.0).all()
        assert len(history) <= 20
        assert_allclose(W.T @ W, np.eye(d), atol=1e-12)
        assert_allclose(ratio_of(W, numerator, denominator), history[-1])


def test_zero_denominator_takes_the_largest_numerator_of_its_null_space():
    numerator, denominator = np.diag([1.0, 5.0, 3.0, 9.0]), np.diag([0.0, 0.0, 0.0, 1.0])
    W, history = trace_ratio(numerator, denominator, 2)
    assert history[-1] == np.inf
    assert_allclose(np.abs(W), np.eye(4)[:, [1, 2]], atol=1e-12)
    assert np.isfinite(trace_ratio(numerator, denominator, 4)[1][-1])


def test_more_features_than_points_stays_in_their_span():
    X, y = blobs(n=15, m=60)
    learner = MFDA().fit(X, y)
    P = learner.components_
    assert_allclose(P @ P.T, np.eye(7), atol=1e-10)  # half of 14 dimensions
    span = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:14]
    assert_allclose(P @ span.T @ span, P, atol=1e-10)
    apart, together = literal_scatters(X, *every_pair(y), learner.alpha_)
    assert_allclose(learner.objective_, ratio_of(P.T, apart, together))
