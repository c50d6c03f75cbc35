"""ITML against its own paper: the constraints, the dual, and the conditions of its optimum."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.datasets import load_wine

from seraph import Marks
from seraph._marks import PairLabels
from seraph.classic._definite import logdet_gap
from seraph.classic._itml import ITML, _SlackObjective
from seraph.classic._pair_sums import PairSums
from seraph.classic._points import spread_rows
from tests.helpers.blobs import even_blobs as blobs
from tests.helpers.quick import few

GAMMAS = [0.05, 1.0, 5.0]


def constraints(X, y, bounds):
    """Difference of each pair, whether it is similar, and its bound."""
    i, j = np.triu_indices(len(X), 1)
    similar = y[i] == y[j]
    return X[i] - X[j], similar, np.where(similar, *bounds)


def divergence(A, A0):
    ratio = np.linalg.solve(A0, A)
    return np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(A)


def slacks(A, differences, similar, bounds):
    """The best ones: the bound, or the distance where it is beyond."""
    d2 = np.array([v @ A @ v for v in differences])
    return np.where(similar, np.maximum(d2, bounds), np.minimum(d2, bounds))


def primal(A, differences, similar, bounds, gamma, A0=None):
    """Objective with slacks, literally."""
    A0 = np.eye(len(A)) if A0 is None else A0
    xi = slacks(A, differences, similar, bounds)
    return divergence(A, A0) + gamma * divergence(np.diag(xi), np.diag(bounds))


def slack_problem(X, y, gamma):
    sums = PairSums(PairLabels.make(len(X), y))
    return _SlackObjective(X[sums.rows], sums, (1.5, 8.0), gamma)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_gradient_against_finite_differences(gamma, rng):
    problem = slack_problem(*blobs(24), gamma)
    L = (problem.root.T + 0.3 * rng.normal(size=(3, 3))).ravel()

    def value(x):
        return problem.value_and_half(x.reshape(3, 3))[0]

    def gradient(x):
        return 2.0 * problem.value_and_half(x.reshape(3, 3))[1].ravel()

    assert check_grad(value, gradient, L) < 1e-5 * np.linalg.norm(gradient(L))


@pytest.mark.parametrize("gamma", GAMMAS)
def test_the_gap_is_the_primal_less_the_dual(gamma, rng):
    X, y = blobs(24)
    differences, similar, bounds = constraints(X, y, (1.5, 8.0))
    problem = slack_problem(X, y, gamma)
    # near the solution, where the multipliers are feasible
    root = np.linalg.cholesky(
        ITML(gamma=gamma, bounds=(1.5, 8.0), tol=0.01).fit(X, y).get_mahalanobis_matrix()
    )
    root = root @ (np.eye(3) + 0.005 * rng.normal(size=(3, 3)))
    L = problem.root.T @ root
    A = root @ root.T

    d2 = np.array([v @ A @ v for v in differences])
    active = np.where(similar, d2 > bounds, d2 < bounds)
    multipliers = np.where(active, 1.0 / bounds - 1.0 / d2, 0.0)
    weighted = gamma * (differences * multipliers[:, np.newaxis]).T @ differences
    dual = np.linalg.slogdet(np.eye(3) + weighted)[1]
    dual += gamma * np.log(1.0 - multipliers * bounds).sum()

    value, half = problem.value_and_half(L)
    value -= 2.0 * np.linalg.slogdet(L)[1]
    assert value == pytest.approx(primal(A, differences, similar, bounds, gamma), rel=1e-9)
    assert logdet_gap(L.T @ half - np.eye(3)) == pytest.approx(value - dual, rel=1e-6)
    assert value - dual > 1e-4


@pytest.mark.parametrize("prior", ["identity", "covariance"])
@pytest.mark.parametrize("gamma", few(GAMMAS, {0.05}.__contains__))
def test_the_optimality_conditions_hold(gamma, prior):
    X, y = blobs(24)
    learner = ITML(gamma=gamma, prior=prior, tol=1e-10).fit(X, y)
    A0 = np.eye(3) if prior == "identity" else np.linalg.inv(np.cov(X.T))
    differences, similar, bounds = constraints(X, y, learner.bounds_)
    A = learner.get_mahalanobis_matrix()
    value = primal(A, differences, similar, bounds, gamma, A0)
    assert learner.objective_ == pytest.approx(value, rel=1e-9)
    d2 = np.array([v @ A @ v for v in differences])
    xi = slacks(A, differences, similar, bounds)
    # Stationary in xi: gamma (1 / xi - 1 / bound) = -+ multiplier.
    multipliers = gamma * np.where(similar, 1.0, -1.0) * (1.0 / bounds - 1.0 / xi)
    assert np.all(np.where(similar, d2 <= xi, d2 >= xi))
    assert np.all(multipliers >= 0.0)
    assert np.any(multipliers > 0.0)
    np.testing.assert_allclose(multipliers * (d2 - xi), 0.0, atol=1e-12)
    # Stationary in A.
    signed = np.where(similar, multipliers, -multipliers)[:, np.newaxis]
    inverse = np.linalg.inv(A0) + (signed * differences).T @ differences
    P = learner.components_
    np.testing.assert_allclose(P @ inverse @ P.T, np.eye(3), atol=1e-3)


def test_the_bounds_are_percentiles_of_squared_distances_of_different_points():
    X, y = blobs(60)
    X = np.vstack([X, X[:20]])
    y = np.concatenate([y, y[:20]])
    i, j = np.triu_indices(80, 1)
    d2 = np.sum((X[i] - X[j]) ** 2, axis=1)
    bounds = np.percentile(d2[d2 > 0], [5, 95])
    np.testing.assert_allclose(ITML(n_constraints=None).fit(X, y).bounds_, bounds, rtol=1e-12)
    few = ITML().fit(X[16:64], y[16:64])
    d2 = d2[(i >= 16) & (j >= 16) & (i < 64) & (j < 64)]
    np.testing.assert_allclose(few.bounds_, np.percentile(d2[d2 > 0], [5, 95]), rtol=1e-12)


def test_a_dissimilar_pair_of_one_point_is_left_out():
    X, y = blobs(20)
    twins = np.vstack([X, X[:1]])
    i, j = np.triu_indices(20, 1)
    pairs, signs = np.column_stack([i, j]), np.where(y[i] == y[j], 1, -1)
    bounds = (1.0, 9.0)
    without = ITML(bounds=bounds).fit(X, marks=Marks(pairs, signs, rows=X))
    more = ITML(bounds=bounds).fit(
        twins, marks=Marks(np.vstack([pairs, [[0, 20]]]), np.append(signs, -1), rows=twins)
    )
    assert more.objective_ == pytest.approx(without.objective_, rel=1e-6)
    by_class = ITML(bounds=bounds).fit(twins, np.append(y, 7))
    assert by_class.converged_ or by_class.stopped_early_
    assert np.isfinite(by_class.objective_)


def test_a_sample_by_groups_finds_nearly_the_same_metric():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    sampled, every = (ITML(n_constraints=n, tol=1e-3).fit(X, y) for n in ("auto", None))
    assert sampled.converged_
    np.testing.assert_allclose(sampled.bounds_, every.bounds_, rtol=0.1)
    assert sampled.objective_ != every.objective_
    assert sampled.objective_ == pytest.approx(every.objective_, rel=0.15)
    near, far = (learner.get_mahalanobis_matrix() for learner in (sampled, every))
    assert np.vdot(near, far) > 0.98 * np.linalg.norm(near) * np.linalg.norm(far)


def test_pairs_of_classes_share_the_weight_of_those_usually_sampled_and_each_mark_has_one(rng):
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    pairs = np.column_stack(np.triu_indices(60, 1))
    marks = Marks(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], rows=X)
    learner = ITML().fit(X, y)
    assert learner.gamma_ == pytest.approx(40 * 2**2 / len(pairs))
    same = ITML(gamma=learner.gamma_).fit(X, y)
    np.testing.assert_array_equal(learner.components_, same.components_)
    assert ITML().fit(X, np.arange(60) % 10).gamma_ == 1.0  # fewer pairs than that
    assert ITML().fit(X, marks=marks).gamma_ == 1.0
    both = ITML().fit(X, np.where(np.arange(60) < 50, y, -1), marks=marks)
    n_marked = len(pairs) - 50 * 49 // 2
    assert both.gamma_ == pytest.approx((160 + n_marked) / len(pairs))


def test_the_gap_is_the_logdet_divergence_of_small_and_large_eigenvalues(rng):
    for size in (1e-9, 1e-3, 0.1, 0.9):
        x = rng.uniform(-size, size, size=4)
        turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        expected = np.sum(x - np.log1p(x))
        assert logdet_gap((turn * x) @ turn.T) == pytest.approx(expected, rel=1e-6, abs=1e-32)
    assert logdet_gap(np.full((2, 2), np.inf)) == np.inf


@pytest.mark.parametrize("n", [10, 64, 150, 1000])
@pytest.mark.parametrize("period", [2, 3, 7])
def test_every_range_of_spread_rows_has_its_share_of_each_class(n, period):
    order = spread_rows(n)
    assert sorted(order) == list(range(n))
    by_class = np.arange(n) * period // n
    for first in range(0, n - 15, 16):
        counts = np.bincount(by_class[order[first : first + 16]], minlength=period)
        assert np.abs(counts - 16 / period).max() <= 2.0
