"""`converged_` is true if and only if the certificate holds; small problems always get there."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from seraph import SERAPH
from seraph._solvers import optimality_gap
from tests.helpers.pose import pose
from tests.helpers.quick import few

TOL = 1e-3  # of SERAPH


def small_problem(seed):
    """Make a few points of one to four features in random units, some with random labels."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(8, 30)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, m)) * rng.choice([0.3, 1, 3], size=m)
    n_labeled, y = int(rng.integers(4, n)), np.full(n, -1)
    y[:n_labeled] = rng.integers(0, 3, size=n_labeled)
    return X, y, float(rng.choice([0.1, 1.0, 3.0]))


# In the first nine some rows of the best factor are much shorter than others.
@pytest.mark.parametrize(
    "seed", few([1, 31, 80, 192, 220, 226, 271, 276, 493, *range(300, 312)], lambda k: k < 302)
)
def test_small_problems_converge_also_from_a_warm_start(seed):
    X, y, lam = small_problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of labels of one kind, and of rank 0
        warnings.simplefilter("error", ConvergenceWarning)
        learner = SERAPH(lam=lam).fit(X, y)
        warm = SERAPH(lam=10 * lam, warm_start=True).fit(X, y).set_params(lam=lam).fit(X, y)
    assert learner.converged_
    assert max(learner.optimality_gap_, warm.optimality_gap_) <= TOL


@pytest.mark.parametrize("seed", range(6))
def test_one_direction_and_an_outlier_converge(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), np.full(40, -1)
    y[:10] = rng.integers(0, 2, size=10)
    X[y == 1] += 1.0
    X[-1] = 1e3
    learner = SERAPH(n_components=1).fit(X, y)
    assert learner.converged_
    with pytest.warns(UserWarning, match="rank 0"):
        nothing = SERAPH(lam=1e9).fit(X, y)
    assert learner.objective_ > nothing.objective_ + 0.1


@pytest.mark.parametrize("seed", few(range(8), lambda k: k < 3))
def test_without_entropy_the_metric_vanishes_from_the_top_eigenvalue_at_zero_on(seed):
    """There, eta = 1 makes p = 1 / (1 + 1 / e) for every pair."""
    rng = np.random.default_rng(1000 + seed)
    X, y = rng.normal(size=(30, 4)), np.r_[rng.integers(0, 2, size=10), np.full(20, -1)]
    i, j = np.triu_indices(10, 1)
    gradient = (X[i] - X[j]).T * (expit(1.0) - (y[i] == y[j])) @ (X[i] - X[j])
    lam_max = np.linalg.eigvalsh(gradient)[-1]
    for factor in (1.001, 1.01):
        with pytest.warns(UserWarning, match="rank 0"):
            learner = SERAPH(lam=factor * lam_max, mu=0.0).fit(X, y)
        assert learner.converged_
        assert len(learner.components_) == 0
    learner = SERAPH(lam=0.99 * lam_max, mu=0.0).fit(X, y)
    assert learner.converged_
    assert len(learner.components_) == 1


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e5, 4.5e5])
def test_in_single_precision_the_gap_is_true_far_from_the_origin(rng, offset):
    X = rng.normal(size=(100, 5))
    y = np.where(np.arange(100) < 20, X[:, 0] > 0, -1)
    X = (X + offset).astype(np.float32)
    learner = SERAPH().fit(X, y)
    problem, _ = pose(X.astype(np.float64), y)
    F = problem.objective
    P = problem.frame.from_features(learner.components_.astype(np.float64))
    assert optimality_gap(P, F.value_and_gradient(P)[1], F.scale) <= 1.1 * TOL


@pytest.mark.parametrize("unit", [1e-320, 1e-162, 1e155, 1e306])
@pytest.mark.parametrize("m", [3, 30])
def test_units_beyond_all_range_are_refused(rng, unit, m):
    X, y = rng.normal(size=(30, m)) + 1.0, np.arange(30) % 2
    with pytest.raises(ValueError, match="divide X by this distance"):
        SERAPH().fit(unit * X, y)


@pytest.mark.parametrize(("unit", "dtype"), [(1e-149, float), (1e149, float), (1e-30, "f4")])
def test_extreme_units_work(rng, unit, dtype):
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    plain, scaled = (SERAPH().fit((u * X).astype(dtype), y) for u in (1.0, unit))
    assert scaled.converged_
    P, Q = plain.components_.astype(float), unit * scaled.components_.astype(float)
    np.testing.assert_allclose(Q.T @ Q, P.T @ P, rtol=1e-4, atol=1e-5)


def test_the_gap_that_is_shown_falls_to_tol_only_at_the_end():
    n, rng = 150, np.random.default_rng(1)
    y = rng.integers(3, size=n)
    X = 1.5 * rng.normal(size=(3, 5))[y] + rng.normal(size=(n, 5))
    states = []
    learner = SERAPH(callback=states.append).fit(X, np.where(np.arange(n) < 40, y, -1))
    gaps = np.array([state.gap for state in states])
    assert np.all(gaps[:-1] > TOL)
    assert learner.optimality_gap_ <= TOL


@pytest.mark.slow
def test_where_rounding_is_the_limit_the_warning_says_so():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=500)
    X = (rng.normal(size=(3, 20))[y] + rng.normal(size=(500, 20))).astype(np.float32)
    y = np.where(np.arange(500) < 60, y, -1)
    with pytest.warns(ConvergenceWarning, match="pass X in float64") as caught:
        learner = SERAPH(tol=1e-9, max_iter=3000).fit(X, y)
    assert "max_iter" not in str(caught[-1].message)
    assert not learner.converged_
    assert learner.n_iter_ < 300
    assert learner.optimality_gap_ < 1e-5
    # Both ways out that the warning names lead out. A warning would be an error here.
    assert SERAPH(tol=1e-5).fit(X, y).converged_
    assert SERAPH(tol=1e-7).fit(X.astype(np.float64), y).converged_
