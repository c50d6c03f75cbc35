"""Calibrated probabilities: right on average, at the base rate that is asked for."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import brier_score_loss

from seraph import SERAPH
from seraph._decisions._calibrate import calibrated, probabilities
from seraph.classic import Euclidean
from seraph.metrics import expected_calibration_error
from tests.helpers.held import equal_pairs


def held(seed=0, n=3000, rate=0.4):
    """Pairs whose log-odds are 3 - 2 d."""
    rng = np.random.default_rng(seed)
    d = rng.uniform(0, 4, size=n)
    similar = rng.random(n) < 1 / (1 + np.exp(2 * d - 3))
    return equal_pairs(d, similar, np.arange(2 * n).reshape(n, 2), np.arange(n) % 5)


def test_the_sigmoid_is_platts():
    pairs = held(n=80)
    n_similar, n_different = pairs.similar.sum(), (~pairs.similar).sum()
    soft = np.where(pairs.similar, (n_similar + 1) / (n_similar + 2), 1 / (n_different + 2))

    def loss(parameters):
        odds = parameters[0] + parameters[1] * pairs.distances
        return np.sum(np.logaddexp(0, odds) - soft * odds)

    expected = minimize(loss, [0.0, 0.0], tol=1e-12).x
    found = calibrated(pairs, "sigmoid", None)
    assert [found["intercept"], found["slope"]] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_stated_probabilities_come_true(method):
    found = calibrated(held(0), method, None)
    new = held(1)
    p = probabilities(found, new.distances)
    true = 1 / (1 + np.exp(2 * new.distances - 3))
    assert np.abs(p - true).mean() < 0.03
    assert expected_calibration_error(new.similar, p) < 0.04
    assert brier_score_loss(new.similar, p) == pytest.approx(found["brier_score"], abs=0.02)
    assert np.all(np.diff(probabilities(found, np.linspace(0, 9, 50))) <= 0)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_a_base_rate_shifts_the_odds(method):
    pairs = held()
    share = pairs.similar.mean()
    odds = np.log(0.05 / 0.95) - np.log(share / (1 - share))
    p = probabilities(calibrated(pairs, method, 0.05), pairs.distances)
    expected = 1 / (1 + np.exp(2 * pairs.distances - 3 - odds))
    assert np.abs(p - expected).mean() < 0.03
    assert calibrated(pairs, method, 0.05)["base_rate"] == pytest.approx(0.05)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_separable_pairs_do_not_make_it_certain(method):
    d = np.r_[np.full(10, 1.0), np.full(10, 3.0)]
    pairs = equal_pairs(d, d < 2, np.arange(40).reshape(20, 2), np.arange(20) % 5)
    p = probabilities(calibrated(pairs, method, None), np.array([1.0, 3.0]))
    assert 0.8 < p[0] < 0.99
    assert 0.01 < p[1] < 0.2


def test_a_distance_that_says_nothing_gives_the_base_rate():
    d = np.r_[np.full(10, 3.0), np.full(10, 1.0)]
    pairs = equal_pairs(d, np.arange(20) < 10, np.arange(40).reshape(20, 2), np.arange(20) % 5)
    p = probabilities(calibrated(pairs, "sigmoid", None), np.array([0.0, 9.0]))
    assert p == pytest.approx(0.5)


def test_the_judgment_is_made_on_pairs_of_other_folds():
    rng = np.random.default_rng(0)
    d = rng.random(60)
    similar = rng.random(60) < 0.5
    pairs = equal_pairs(d, similar, np.arange(120).reshape(60, 2), np.arange(60) % 5)
    found = calibrated(pairs, "isotonic", None)
    p = probabilities(found, d)
    assert brier_score_loss(similar, p) < 0.25 < found["brier_score"]


def test_every_learner_gets_probabilities():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 3)) + 2 * np.eye(3)[y]
    some = np.where(np.arange(120) < 60, y, -1)
    for learner in (SERAPH(), Euclidean()):
        learner.fit(X, some).calibrate_proba(X, some, method="isotonic")
        p = learner.calibrated_pair_proba(X[[[0, 3], [0, 1]]])
        np.testing.assert_array_equal(learner.calibrated_pair_proba([[0, 3], [0, 1]], X), p)
        assert np.all((p > 0) & (p < 1))
        assert learner.calibration_["brier_score"] < 0.25
    with pytest.raises(ValueError, match="method must be one of 'sigmoid', 'isotonic'"):
        learner.calibrate_proba(X, some, method="beta")
