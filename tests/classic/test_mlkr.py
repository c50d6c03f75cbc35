"""MLKR against its definition, finite differences, and a target made for it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsRegressor

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


def test_the_optimum_is_stationary_and_better_than_its_neighbors():
    X, y = problem()
    learner = MLKR(tol=1e-12).fit(X, y)
    error = _SquaredErrors(X, y)
    value, gradient = error(learner.components_)
    assert np.abs(gradient).max() < 1e-2
    rng = np.random.default_rng(0)
    for _ in range(50):
        other = learner.components_ + 0.05 * rng.normal(size=(4, 4))
        assert error(other)[0] > value


def test_neighbors_predict_better_than_under_the_euclidean_distance():
    X, y = problem(n=300, m=8)
    learner = MLKR().fit(X[:150], y[:150])
    scores = [
        KNeighborsRegressor(3).fit(Z[:150], y[:150]).score(Z[150:], y[150:])
        for Z in (X, learner.transform(X))
    ]
    assert scores[1] > 0.85
    assert scores[1] > scores[0] + 0.2


def test_rows_without_a_target_have_no_influence_on_a_full_map():
    X, y = problem()
    y[30:] = np.nan
    learner = MLKR(tol=1e-9)  # so that where it ends does not depend on rounding errors
    everywhere = learner.fit(X, y).objective_
    assert_allclose(everywhere, learner.fit(X[:30], y[:30]).objective_, rtol=1e-4)


@pytest.mark.parametrize("init", ["pca", "identity", "random", np.eye(2, 4)], ids=str)
def test_every_start_gives_a_map_of_the_asked_shape(init):
    X, y = problem()
    learner = MLKR(n_components=2, init=init).fit(X, y)
    assert learner.components_.shape == (2, 4)
    assert learner.objective_ < np.sum((y - y.mean()) ** 2)


def test_targets_of_minus_one_are_numbers():
    X, y = problem()
    y[y < 0] = -1.0
    assert_allclose(MLKR().fit(X, y).objective_, MLKR().fit(X, y + 5.0).objective_, rtol=1e-6)


def test_says_what_is_wrong():
    X, y = problem()
    with pytest.raises(ValueError, match=r"at least three labeled rows .* got 2, with 2"):
        MLKR().fit(X, np.where(np.arange(40) < 2, y, np.nan))
    with pytest.raises(ValueError, match="got 40, with 1 different"):
        MLKR().fit(X, np.ones(40))
    with pytest.raises(ValueError, match=r"1d array of numbers.*For classes"):
        MLKR().fit(X, np.array(["a", "b"])[np.arange(40) % 2])
    with pytest.raises(ValueError, match="y contains infinity"):
        MLKR().fit(X, np.where(np.arange(40) == 3, np.inf, y))
    with pytest.raises(ValueError, match=r"n_features\) = \(4, 4\); got \(2, 3\)"):
        MLKR(init=np.eye(2, 3)).fit(X, y)
    with pytest.raises(ValueError, match="n_components=5 is too large"):
        MLKR(n_components=5).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="MLKR has not converged"):
        MLKR(max_iter=1).fit(X, y)
