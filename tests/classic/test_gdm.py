"""GDM, and the sums over labeled pairs that it shares with ITML."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from seraph import Marks, classic
from seraph._marks import PairLabels
from seraph._pairs import PairFunction, sum_over_blocks
from seraph._points import subtract_mean
from seraph.classic._gdm import _DissimilarDistances, _unit_constraint
from seraph.classic._pair_sums import PairSums
from tests.helpers.blobs import even_blobs as blobs

# The optimum, from all pairs and whatever the units of the features are.
GDM = partial(classic.GDM, ridge=1.0, n_constraints=None, tol=1e-4)


def sampled_pairs(sums):
    """Return the pairs that are summed, as positions in `sums.rows`."""
    n = len(sums.codes)
    W = sum_over_blocks(np.eye(n), np.eye(n), sums._blocks, Once())[2]
    i, j = np.nonzero(np.triu(W, 1))
    np.testing.assert_array_equal(W[i, j], -1.0)
    return list(zip(i.tolist(), j.tolist(), strict=True))


class Sines(PairFunction):
    """The sine of the squared distance, three times for dissimilar pairs."""

    is_sharp = True

    @staticmethod
    def formula(xp):
        def term(d2, q, numbers):
            factor = xp.where(q > 0.5, 1.0, 3.0)
            return factor * xp.sin(d2), 1.0, factor * xp.cos(d2)

        return term


class Once(PairFunction):
    """The squared distance: each pair has the entry 1 of W."""

    @staticmethod
    def formula(xp):
        return lambda d2, q, numbers: (1.0 * d2, 1.0, 1.0 + 0.0 * d2)


class TestPairSums:
    def labels(self, n):
        """Classes, unlabeled rows, and listed pairs of each kind."""
        y = np.where(np.arange(n) % 3 == 2, -1, np.arange(n) % 4)
        pairs = [[2, 5], [0, 2], [5, 8], [8, 1], [2, 8]]
        return PairLabels.make(n, y, Marks(pairs, [1, -1, -1, 1, 1], rows=n)), y, pairs

    def listed(self, labels, y):
        i, j = np.triu_indices(len(y), 1)
        known = (y[i] >= 0) & (y[j] >= 0)
        pairs = np.vstack([np.column_stack([i, j])[known], labels.pairs])
        return pairs, np.concatenate([(y[i] == y[j])[known], labels.similar])

    def test_scatters_are_the_sums_over_the_pairs(self, rng):
        X = rng.normal(size=(20, 3))
        labels, y, _ = self.labels(20)
        sums = PairSums(labels)
        expected = np.zeros((2, 3, 3))
        for (i, j), similar in zip(*self.listed(labels, y), strict=True):
            expected[0 if similar else 1] += np.outer(X[i] - X[j], X[i] - X[j])
        np.testing.assert_allclose(sums.scatters(X[sums.rows]), expected, rtol=1e-12)

    @pytest.mark.parametrize("n", [20, 300])  # one tile, and several
    def test_laplacian_is_the_sum_over_the_pairs(self, rng, n):
        Z, Y = rng.normal(size=(n, 3)), rng.normal(size=(n, 2))
        labels, y, _ = self.labels(n)
        sums = PairSums(labels)

        value, product = sums.laplacian(Z[sums.rows], Sines(), Y[sums.rows])
        expected, W = 0.0, np.zeros((n, n))
        for (i, j), similar in zip(*self.listed(labels, y), strict=True):
            d2 = np.sum((Z[i] - Z[j]) ** 2)
            factor = 1.0 if similar else 3.0
            expected += factor * np.sin(d2)
            W[i, j] = W[j, i] = factor * np.cos(d2)
        laplacian = np.diag(W.sum(axis=1)) - W
        assert value == pytest.approx(expected, rel=1e-10)
        np.testing.assert_allclose(product, (laplacian @ Y)[sums.rows], atol=1e-10)

    @pytest.mark.parametrize(("n", "n_classes"), [(66, 2), (700, 40)])
    def test_a_sample_has_some_partners_of_each_class_for_each_row(self, n, n_classes):
        y = np.arange(n) % n_classes
        sums = PairSums(PairLabels.make(n, y), sampled=True)
        pairs = np.array(sampled_pairs(sums))
        assert len(np.unique(np.sort(pairs, axis=1), axis=0)) == len(pairs)
        wanted = min(8 * n_classes, 192)
        partners = np.bincount(pairs.ravel(), minlength=n)
        assert partners.min() >= wanted / 2  # the last rows have partners on one side only
        assert np.median(partners) == wanted
        similar = y[sums.rows[pairs[:, 0]]] == y[sums.rows[pairs[:, 1]]]
        assert similar.mean() == pytest.approx(1 / n_classes, rel=0.25)


class TestObjective:
    @pytest.fixture
    def problem(self):
        X, y = blobs(12, 4)
        sums = PairSums(PairLabels.make(12, y))
        X = subtract_mean(X[sums.rows])
        C = _unit_constraint(X, sums, 0.0, 0.0, False)
        return _DissimilarDistances(X @ C, sums)

    @pytest.mark.parametrize("name", ["value_and_factor_gradient", "by_weights"])
    def test_gradient_against_finite_differences(self, problem, rng, name):
        shape = (2, 4) if name == "value_and_factor_gradient" else (4,)
        at, function = rng.uniform(0.5, 1.0, size=shape), getattr(problem, name)
        gradient = function(at)[1].ravel()
        numeric = approx_fprime(at.ravel(), lambda x: function(x.reshape(shape))[0], 1e-7)
        np.testing.assert_allclose(gradient, numeric, atol=1e-4 * np.linalg.norm(gradient))

    def test_gradients_by_metric_and_by_factor_agree(self, problem, rng):
        P = rng.normal(size=(3, 4))
        by_metric, by_factor = problem.value_and_gradient(P), problem.value_and_factor_gradient(P)
        assert by_metric[0] == pytest.approx(by_factor[0])
        np.testing.assert_allclose(2.0 * P @ by_metric[1], by_factor[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("diagonal", [False, True])
def test_agrees_with_a_generic_solver(diagonal):
    X, y = blobs(15, 3)
    i, j = np.triu_indices(len(X), 1)
    alike, apart = ((X[i] - X[j])[(y[i] == y[j]) == same] for same in (True, False))

    def metric(x):
        return np.diag(x**2) if diagonal else x.reshape(3, 3).T @ x.reshape(3, 3)

    start = np.ones(3) if diagonal else np.eye(3).ravel()
    reference = minimize(
        lambda x: -np.sqrt(np.einsum("ki,ij,kj->k", apart, metric(x), apart) + 1e-18).sum(),
        start / np.linalg.norm(alike),
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda x: 1.0 - np.einsum("ki,ij,kj->", alike, metric(x), alike),
        },
        options={"maxiter": 2000, "ftol": 1e-12},
    )
    learner = GDM(diagonal=diagonal, ridge=0.0, tol=1e-8).fit(X, y)
    assert learner.objective_ == pytest.approx(-reference.fun, rel=1e-5)
    atol = 2e-3 / np.vdot(alike, alike)
    np.testing.assert_allclose(learner.get_mahalanobis_matrix(), metric(reference.x), atol=atol)


def test_distances_do_not_change_with_a_linear_map_of_the_features(rng):
    X, y = blobs(m=4)
    mapped = X @ (np.eye(4) + 0.5 * rng.normal(size=(4, 4))) * [1e-3, 1.0, 10.0, 1e3] + 5.0
    few = np.where(np.arange(30) < 7, y, -1)  # too few for the constraint without a ridge
    for labels in (y, few):
        Z, W = GDM(tol=1e-8).fit(X, labels), GDM(tol=1e-8).fit(mapped, labels)
        assert Z.objective_ == pytest.approx(W.objective_, rel=1e-6)
        np.testing.assert_allclose(
            Z.pair_distance(X[[[0, 1], [2, 3], [4, 9]]]),
            W.pair_distance(mapped[[[0, 1], [2, 3], [4, 9]]]),
            rtol=1e-4,
        )


def left_side(P, X, y):
    """The left side of the constraint with the automatic ridge, pair by pair."""
    i, j = np.triu_indices(len(X), 1)
    D, similar = X[i] - X[j], y[i] == y[j]
    squared = np.sum((D @ P.T) ** 2, axis=1)
    n, m = X.shape
    equal, share = m / (m + n), np.mean(similar)
    ridge = (1 - equal) * squared.sum() + equal * np.mean(np.sum(D**2, axis=0)) * np.sum(P**2)
    return squared[similar].sum() + share * ridge


@pytest.mark.parametrize("exponent", [0, 14])
@pytest.mark.parametrize("n", [40, 6])
def test_the_constraint_is_met_whatever_the_scales_of_the_features(rng, n, exponent):
    y = np.arange(n) % 3
    X = (rng.normal(size=(n, 8)) + np.eye(3, 8)[y]) * np.logspace(0, exponent, 8)
    X[:, 3] = X[:, 2]  # another direction in which no pair differs
    learner = classic.GDM(n_constraints=None).fit(X, y)
    assert left_side(learner.components_, X, y) == pytest.approx(1.0, abs=1e-12)
    i, j = np.triu_indices(n, 1)
    apart = (X[i] - X[j])[y[i] != y[j]] @ learner.components_.T
    assert learner.objective_ == pytest.approx(np.linalg.norm(apart, axis=1).sum(), rel=1e-9)
    assert learner.converged_
