"""The full model (6): its value, Theorems 1 and 2, the search for kappa, and a special case."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from seraph import SERAPH
from seraph._solvers import Result, over_scale
from tests.helpers.oracle import labeled_pairs, numeric_gradient

STRICT = {"tol": 1e-6, "max_iter": 5000}


def log_p(y, d2, kappa, eta):
    """ln p(y), equation (5)."""
    return log_expit(kappa * y * (d2 - eta))


def full_objective(X, A, kappa, known, *, eta, mu, lam, gamma):
    """Value of (6), pair by pair."""
    total = -lam * np.trace(A) - gamma / 2 * kappa**2
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            d2 = (X[i] - X[j]) @ A @ (X[i] - X[j])
            if (i, j) in known:
                total += log_p(1 if known[i, j] else -1, d2, kappa, eta)
            else:
                logs = np.array([log_p(y, d2, kappa, eta) for y in (1, -1)])
                total += mu * np.sum(np.exp(logs) * logs)
    return total


def fitted(data, **parameters):
    return SERAPH(**STRICT, **parameters).fit(*data[:2])


@pytest.mark.parametrize("mu", [0.0, "auto"])
@pytest.mark.parametrize("solver", ["low-rank", pytest.param("spg", marks=pytest.mark.slow)])
def test_the_objective_is_the_papers_and_stationary_in_kappa(wine, mu, solver):
    X, y = wine[0][:40], wine[1][:40]
    learner = SERAPH(gamma=5.0, mu=mu, eta=1.5, solver=solver, **STRICT).fit(X, y)
    A = learner.get_mahalanobis_matrix()
    weights = {"eta": 1.5, "mu": learner.mu_, "lam": learner.lam_, "gamma": 5.0}

    def value(kappa):
        return full_objective(X, A, float(kappa[0]), labeled_pairs(y[:15]), **weights)

    kappa = np.array([learner.kappa_])
    assert learner.kappa_ < 0
    assert learner.objective_ == pytest.approx(value(kappa), rel=1e-9)
    assert abs(numeric_gradient(value, kappa, h=1e-4)[0]) < 1e-3 * 5.0 * abs(learner.kappa_)


class Hump:
    """A scaled model of one scale: a hump at `c`, and a slope that leans to zero elsewhere."""

    def __init__(self, c, width):
        self.c, self.width = c, width

    def value_at_zero(self, P):
        return -1.0

    def at_scale(self, s):
        return s

    def prior(self, s):
        return 0.01 * s

    def value(self, s):
        return -1.0 + 2 * np.exp(-(((np.log(s) - self.c) / self.width) ** 2))

    def slope(self, s, P):
        ends = [self.value(s * r) - self.prior(s * r) for r in (1 + 1e-6, 1 - 1e-6)]
        return (ends[0] - ends[1]) / 2e-6

    def solve(self, s, P):
        rank = 1 if self.value(s) > -0.99 else 0
        return Result(np.ones((rank, 1)), self.value(s), 0.0, True, [])


class Rising(Hump):
    """A hump on a gentle slope, which leads every step of the search past it to the bound."""

    def prior(self, s):
        return -0.01 * np.log(s)


@pytest.mark.parametrize(
    "hump", [Hump(0.05, 0.2), Hump(1.0, 0.15), Hump(-3.0, 0.3), Hump(0.3, 0.1), Rising(0.2, 0.15)]
)
def test_the_search_over_the_scale_finds_a_narrow_hump(hump):
    result, s = over_scale(hump, hump.solve, lambda s: np.ones((1, 1)), tol=1e-6)
    assert np.log(s) == pytest.approx(hump.c, abs=1e-2)
    assert result.value > 0.9
    assert result.converged


@pytest.mark.parametrize("gamma", [1.0, 30.0])
@pytest.mark.parametrize("mu", [0.0, "auto"])
@pytest.mark.parametrize("data", ["wine", pytest.param("digits", marks=pytest.mark.slow)])
def test_theorem_2_the_simplified_model_gives_the_same_posteriors(request, data, mu, gamma):
    data = request.getfixturevalue(data)
    X = data[0]
    full = fitted(data, gamma=gamma, mu=mu, eta=1.2)
    s = -full.kappa_
    simple = fitted(data, eta=s * full.eta_, lam=full.lam_ / s, mu=full.mu_)
    moved = X + 0.3 * X.std(axis=0) * np.random.default_rng(1).normal(size=X.shape)
    pairs = moved[np.random.default_rng(2).integers(len(X), size=(400, 2))]
    p = full.pair_proba(pairs)
    assert np.ptp(p) > 0.5
    np.testing.assert_allclose(simple.pair_proba(pairs), p, atol=1e-4)
    np.testing.assert_allclose(
        simple.get_mahalanobis_matrix(), s * full.get_mahalanobis_matrix(), rtol=0, atol=1e-3
    )


@pytest.mark.parametrize("lam", [0.5, "auto"])
@pytest.mark.parametrize("gamma", [0.5, 20.0])
def test_theorem_1_the_moments_match_up_to_the_slack_of_duality(wine, gamma, lam):
    X, y_partial, _ = wine
    learner = fitted(wine, gamma=gamma, mu=0.0, lam=lam)
    known = labeled_pairs(y_partial[:15])
    (i, j), y = np.array(list(known)).T, np.where(list(known.values()), 1, -1)
    d2 = learner.pair_distance(X[np.c_[i, j]]) ** 2
    kappa = learner.kappa_

    def f(y):  # (4)
        return y / 2 * (d2 - learner.eta_)

    p = np.exp([log_p(sign, d2, kappa, learner.eta_) for sign in (1, -1)])
    slack = np.sum(p[0] * f(1) + p[1] * f(-1)) - np.sum(f(y))
    # The constraint of (1) is active, and its multiplier is -kappa = xi / gamma.
    assert slack == pytest.approx(gamma * abs(kappa), rel=1e-4)
    # Strong duality: the primal value of (1) is the dual value (3).
    primal = -np.sum(p * np.log(p)) - slack**2 / (2 * gamma)
    dual = -np.sum(log_p(y, d2, kappa, learner.eta_)) + gamma / 2 * kappa**2
    assert primal == pytest.approx(dual, rel=1e-6)


def test_the_probabilistic_gdm_of_yang_et_al_is_the_model_without_regularizers():
    """Yang et al. (2006) maximize the likelihood of the pairs over A and a threshold."""
    X, y = make_blobs(40, centers=3, cluster_std=2.5, n_features=2, random_state=3)
    X = X / X.std()
    i, j = np.triu_indices(len(X), k=1)
    sign, D = np.where(y[i] == y[j], 1, -1), X[i] - X[j]

    def negative(theta):
        P, threshold = theta[:4].reshape(2, 2), theta[4]
        t = np.sum((D @ P.T) ** 2, axis=1) - threshold
        w = sign * np.exp(log_expit(sign * t))
        gradient = 2 * (P @ (D.T * w) @ D)
        return -np.sum(log_expit(-sign * t)), np.append(gradient.ravel(), -np.sum(w))

    gdm = minimize(negative, np.append(np.eye(2).ravel(), 1.0), jac=True, options={"gtol": 1e-8})
    with pytest.warns(ConvergenceWarning, match="With lam=0"):
        learner = SERAPH(gamma=0.0, lam=0.0, mu=0.0, **STRICT).fit(X, y)
    P, s = gdm.x[:4].reshape(2, 2), -learner.kappa_
    assert learner.objective_ == pytest.approx(-gdm.fun, rel=1e-8)
    assert s * learner.eta_ == pytest.approx(gdm.x[4], rel=1e-3)
    np.testing.assert_allclose(s * learner.get_mahalanobis_matrix(), P.T @ P, atol=1e-3)


def test_an_optimum_at_kappa_zero_is_told_and_says_nothing_of_any_pair(wine):
    X, y_partial, _ = wine
    with pytest.warns(UserWarning, match=r"kappa = 0.*p = 1/2.*Lower gamma"):
        learner = SERAPH(gamma=1e6, mu=0.0).fit(X, y_partial)
    assert learner.kappa_ == 0.0
    assert learner.components_.shape == (0, 13)
    np.testing.assert_array_equal(learner.pair_proba(X[None, :2]), [0.5])
    assert learner.objective_ == pytest.approx(-105 * np.log(2))
    # Indeed: with this prior every kappa below zero loses more than it can gain.
    for s in np.geomspace(1e-3, 1.0, 8):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*rank 0")
            other = SERAPH(mu=0.0, eta=s, lam=learner.lam_ / s, max_iter=1000).fit(X, y_partial)
        assert other.objective_ - 5e5 * s**2 < learner.objective_


def test_separable_pairs_without_a_prior_drive_kappa_away_and_that_is_told():
    X = np.array([[0.0, 0.0], [0.0, 0.5], [0.0, 1.0], [5.0, 0.0], [5.0, 0.5], [5.0, 1.0]])
    with pytest.warns(ConvergenceWarning, match="gamma=0 if pairs can be separated. Raise gamma"):
        learner = SERAPH(gamma=0.0, mu=0.0).fit(X, [0, 0, 0, 1, 1, 1])
    assert learner.kappa_ < -1e3
