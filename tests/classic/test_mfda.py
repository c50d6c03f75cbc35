"""MFDA against its definition, brute force, random projections and a problem made for it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from seraph import Marks
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


def same_space(first, second, atol=1e-7):
    assert_allclose(first.T @ first, second.T @ second, atol=atol)


@pytest.mark.parametrize(("n", "m", "k"), [(30, 6, 4), (30, 3, 7), (12, 20, 5)])
def test_weights_are_those_of_the_literal_loop(n, m, k):
    X = np.random.default_rng(0).normal(size=(n, m))
    assert_allclose(reconstruction(X, k).toarray(), literal_weights(X, k), atol=1e-9)


def test_weights_add_up_to_one_and_the_quadratic_form_annihilates_constants():
    X, _ = blobs()
    R = reconstruction(X, 10).toarray()
    assert_allclose(R.sum(axis=1), 1.0)
    assert_array_equal(np.diag(R), 0.0)
    left = np.eye(len(X)) - R
    assert_allclose(left.T @ left @ np.ones(len(X)), 0.0, atol=1e-12)


def test_points_on_a_line_are_means_of_their_neighbors():
    t = np.linspace(0.0, 1.0, 30)
    X = np.column_stack([2.0 * t, -t, 3.0 * t])
    inner = (X - reconstruction(X, 2) @ X)[1:-1]
    assert_allclose(inner, 0.0, atol=1e-12)


def test_fewer_points_than_neighbors_uses_all_the_others():
    X, y = blobs(n=6)
    assert_array_equal(reconstruction(X, 10).toarray() != 0.0, ~np.eye(6, dtype=bool))
    same_space(MFDA().fit(X, y).components_, MFDA(n_neighbors=5).fit(X, y).components_)


@pytest.mark.parametrize("alpha", ["auto", 0.0, 3.0])
def test_ratio_is_the_literal_one(alpha):
    X, y = blobs()
    y[25:] = -1
    learner = MFDA(alpha=alpha, n_components=2).fit(X, y)
    apart, together = literal_scatters(X, *every_pair(y), learner.alpha_)
    assert_allclose(learner.objective_, ratio_of(learner.components_.T, apart, together))
    assert learner.alpha_ == (0.02 if alpha == "auto" else alpha)
    assert MFDA().fit(*blobs(m=6)).alpha_ == 0.2


@pytest.mark.parametrize("seed", range(5))
def test_ratio_in_the_plane_is_the_largest_of_all_angles(seed):
    X, y = blobs(m=2, seed=seed)
    y[25:] = -1
    learner = MFDA(n_components=1).fit(X, y)
    apart, together = literal_scatters(X, *every_pair(y), learner.alpha_)
    angles = np.linspace(0.0, np.pi, 100_001)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    ratios = np.einsum("ai,ij,aj->a", directions, apart, directions) / np.einsum(
        "ai,ij,aj->a", directions, together, directions
    )
    best = directions[np.argmax(ratios)]
    assert_allclose(learner.objective_, ratios.max(), rtol=1e-7)
    assert_allclose(np.abs(learner.components_[0] @ best), 1.0, rtol=1e-8)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_no_orthonormal_map_has_a_larger_ratio(d):
    X, y = blobs(m=6)
    y[25:] = -1
    learner = MFDA(n_components=d).fit(X, y)
    W = learner.components_.T
    assert_allclose(W.T @ W, np.eye(d), atol=1e-12)
    apart, together = literal_scatters(X, *every_pair(y), learner.alpha_)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1, 1.0, 1e3):
        for _ in range(50):
            other = np.linalg.qr(W + size * rng.normal(size=W.shape))[0]
            assert ratio_of(other, apart, together) <= learner.objective_ * (1.0 + 1e-12)


def test_top_eigenvalues_add_up_to_zero_at_the_optimum():
    """The certificate: no W has tr(W'(S_b - rho S_t)W) > 0, and this one has 0."""
    X, y = blobs(m=6)
    learner = MFDA(n_components=3).fit(X, y)
    apart, together = literal_scatters(X, *every_pair(y), learner.alpha_)
    values = np.linalg.eigvalsh(apart - learner.objective_ * together)
    assert_allclose(values[-3:].sum(), 0.0, atol=1e-8 * np.abs(values).max())


@pytest.mark.parametrize("seed", range(5))
def test_ratio_never_falls_and_soon_comes_to_rest(seed):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(2, 30, 30)) * np.geomspace(1e-2, 1.0, 30)
    numerator, denominator = factors @ factors.transpose(0, 2, 1)
    for d in (1, 5, 15, 30):
        W, history, converged = trace_ratio(numerator, denominator, d)
        assert converged
        assert (np.diff(history) >= 0.0).all()
        assert len(history) <= 20
        assert_allclose(W.T @ W, np.eye(d), atol=1e-12)
        assert_allclose(ratio_of(W, numerator, denominator), history[-1])


def test_ratio_falls_with_the_number_of_components():
    X, y = blobs(m=6)
    ratios = [MFDA(n_components=d).fit(X, y).objective_ for d in range(1, 7)]
    assert (np.diff(ratios) < 0.0).all()
    assert_allclose(MFDA(n_components=6).fit(X, y).get_mahalanobis_matrix(), np.eye(6), atol=1e-12)


def test_zero_denominator_takes_the_largest_numerator_of_its_null_space():
    numerator, denominator = np.diag([1.0, 5.0, 3.0, 9.0]), np.diag([0.0, 0.0, 0.0, 1.0])
    W, history, _ = trace_ratio(numerator, denominator, 2)
    assert history[-1] == np.inf
    assert_allclose(np.abs(W), np.eye(4)[:, [1, 2]], atol=1e-12)
    assert np.isfinite(trace_ratio(numerator, denominator, 4)[1][-1])


def test_few_similar_pairs_without_neighbors_use_directions_in_which_they_agree():
    X, _ = blobs(n=10, m=8)
    rows, signs = [[0, 1], [2, 3], [0, 2], [1, 3], [4, 5]], [1, 1, -1, -1, -1]
    learner = MFDA(alpha=0.0, n_components=2).fit(X, marks=Marks(rows, signs, rows=X))
    Z = learner.transform(X)
    assert learner.objective_ == np.inf
    assert_allclose(Z[[0, 2]], Z[[1, 3]], atol=1e-6)
    assert (np.linalg.norm(Z[[0, 1]] - Z[[2, 3]], axis=1) > 0.1).all()


def test_more_features_than_points_stays_in_their_span():
    X, y = blobs(n=15, m=60)
    learner = MFDA().fit(X, y)
    P = learner.components_
    assert_allclose(P @ P.T, np.eye(7), atol=1e-10)  # half of 14 dimensions
    span = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:14]
    assert_allclose(P @ span.T @ span, P, atol=1e-10)
    apart, together = literal_scatters(X, *every_pair(y), learner.alpha_)
    assert_allclose(learner.objective_, ratio_of(P.T, apart, together))


def test_default_number_of_components_is_half_of_what_varies():
    X, y = blobs(m=7)
    assert MFDA().fit(X, y).components_.shape == (4, 7)
    padded = np.column_stack([X, np.full(len(X), 0.1)])
    assert MFDA().fit(padded, y).components_.shape == (4, 8)
    assert MFDA(n_components=99).fit(padded, y).components_.shape == (7, 8)


def test_beats_the_euclidean_distance_on_a_noisy_curve():
    """A curve in a plane, thirty directions of noise, three labels a class.

    The neighbors see the noise, which the few labels don't: without them it is worse.
    """
    errors = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        t = np.concatenate([rng.uniform(0.0, 0.5, 200), rng.uniform(0.5, 1.0, 200)])
        t = t.reshape(2, 200).T.reshape(-1)  # classes take turns
        y = (t > 0.5).astype(int)
        curve = 2.0 * np.column_stack([np.cos(3.0 * t), np.sin(3.0 * t)])
        X = np.column_stack([curve, 0.6 * rng.normal(size=(400, 30))])
        some = np.where(np.arange(400) < 6, y, -1)
        errors.append(
            [
                1.0 - KNeighborsClassifier(1).fit(Z[:6], y[:6]).score(Z[6:], y[6:])
                for Z in (
                    X,
                    MFDA(n_components=1).fit_transform(X, some),
                    MFDA(n_components=1, alpha=0.0).fit_transform(X, some),
                )
            ]
        )
    euclidean, mfda, without = np.mean(errors, axis=0)
    assert mfda < 0.6 * euclidean
    assert mfda < without


def test_needs_dissimilar_pairs():
    X, _ = blobs()
    with pytest.raises(ValueError, match="All 780 labeled pairs are similar"):
        MFDA().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="All 1 labeled pairs are similar"):
        MFDA().fit(X, marks=Marks([[0, 1]], [1], rows=X))


def test_needs_similar_pairs_or_neighbors():
    X, _ = blobs()
    with pytest.raises(ValueError, match="dissimilar and alpha is 0"):
        MFDA(alpha=0.0).fit(X, marks=Marks([[0, 1]], [-1], rows=X))
    assert MFDA().fit(X, marks=Marks([[0, 1]], [-1], rows=X)).converged_


def test_refuses_dissimilar_points_that_coincide():
    X, _ = blobs()
    X[1] = X[0]
    with pytest.raises(ValueError, match="all 1 dissimilar pairs coincide"):
        MFDA().fit(X, marks=Marks([[0, 1]], [-1], rows=X))
    with pytest.raises(ValueError, match="all 4 dissimilar pairs coincide"):
        MFDA().fit(np.full((4, 3), 0.1), [0, 0, 1, 1])


def test_a_denominator_of_zero_is_an_infinite_ratio_and_no_overflow():
    learner = MFDA(alpha=0).fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1])
    assert learner.objective_ == np.inf
    np.testing.assert_array_equal(np.abs(learner.components_), [[1.0]])
