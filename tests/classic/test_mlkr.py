"""MLKR against its definition, finite differences, and a target made for it."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from seraph.classic import MLKR
from seraph.classic._mlkr import _SquaredErrors


def problem(n=40, m=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1]


def literal_error(P, X, y):
    """Sum of squared errors of the weighted means, by a loop."""
    total = 0.0
    for i in range(len(X)):
        weights = np.array([np.exp(-np.sum((P @ (X[i] - x)) ** 2)) for x in X])
        weights[i] = 0.0
        total += (y[i] - weights @ y / weights.sum()) ** 2
    return total


def test_objective_is_the_literal_one():
    X, y = problem()
    learner = MLKR().fit(X, 100.0 + 7.0 * y)
    expected = literal_error(learner.components_, X, 100.0 + 7.0 * y)
    assert_allclose(learner.objective_, expected, rtol=1e-8)


def test_gradient_by_finite_differences():
    X, y = problem(n=15)
    error = _SquaredErrors(X, y)
    P = np.random.default_rng(0).normal(size=(2, 4))
    numeric = approx_fprime(P.ravel(), lambda p: error(p.reshape(2, 4))[0], 1e-7)
    assert_allclose(error(P)[1].ravel(), numeric, atol=1e-5)


def test_rows_without_a_target_have_no_influence_on_a_full_map():
    X, y = problem()
    y[30:] = np.nan
    learner = MLKR(tol=1e-9)  # so that where it ends does not depend on rounding errors
    everywhere = learner.fit(X, y).objective_
    assert_allclose(everywhere, learner.fit(X[:30], y[:30]).objective_, rtol=1e-4)
