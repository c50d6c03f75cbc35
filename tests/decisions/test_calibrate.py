"""Calibrated probabilities: right on average, at the base rate that is asked for."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import brier_score_loss

from seraph._decisions._calibrate import calibrate, probabilities
from seraph.metrics import expected_calibration_error
from tests.helpers.held import equal_pairs


def held(seed=0, n=3000, rate=0.4):
    """Pairs whose log-odds are 3 - 2 d."""
    rng = np.random.default_rng(seed)
    d = rng.uniform(0, 4, size=n)
    similar = rng.random(n) < 1 / (1 + np.exp(2 * d - 3))
    return equal_pairs(d, similar, np.arange(2 * n).reshape(n, 2), np.arange(n) % 5)


def said(found, distances):
    """The probabilities by a calibration that was found."""
    return probabilities(found["slope"], found["intercept"], distances)


def test_the_sigmoid_is_platts():
    pairs = held(n=80)
    n_similar, n_different = pairs.similar.sum(), (~pairs.similar).sum()
    soft = np.where(pairs.similar, (n_similar + 1) / (n_similar + 2), 1 / (n_different + 2))

    def loss(parameters):
        odds = parameters[0] + parameters[1] * pairs.distances
        return np.sum(np.logaddexp(0, odds) - soft * odds)

    expected = minimize(loss, [0.0, 0.0], tol=1e-12).x
    found = calibrate(pairs, None)
    assert [found["intercept"], found["slope"]] == pytest.approx(expected, rel=1e-3)


def test_stated_probabilities_come_true():
    found = calibrate(held(0), None)
    new = held(1)
    p = said(found, new.distances)
    true = 1 / (1 + np.exp(2 * new.distances - 3))
    assert np.abs(p - true).mean() < 0.03
    assert expected_calibration_error(new.similar, p) < 0.04
    assert brier_score_loss(new.similar, p) == pytest.approx(found["brier_score"], abs=0.02)
    assert np.all(np.diff(said(found, np.linspace(0, 9, 50))) <= 0)


def test_a_base_rate_shifts_the_odds():
    pairs = held()
    share = pairs.similar.mean()
    odds = np.log(0.05 / 0.95) - np.log(share / (1 - share))
    p = said(calibrate(pairs, 0.05), pairs.distances)
    expected = 1 / (1 + np.exp(2 * pairs.distances - 3 - odds))
    assert np.abs(p - expected).mean() < 0.03


def test_separable_pairs_do_not_make_it_certain():
    d = np.r_[np.full(10, 1.0), np.full(10, 3.0)]
    pairs = equal_pairs(d, d < 2, np.arange(40).reshape(20, 2), np.arange(20) % 5)
    p = said(calibrate(pairs, None), np.array([1.0, 3.0]))
    assert 0.8 < p[0] < 0.99
    assert 0.01 < p[1] < 0.2


def test_a_distance_that_says_nothing_gives_the_base_rate():
    d = np.r_[np.full(10, 3.0), np.full(10, 1.0)]
    pairs = equal_pairs(d, np.arange(20) < 10, np.arange(40).reshape(20, 2), np.arange(20) % 5)
    p = said(calibrate(pairs, None), np.array([0.0, 9.0]))
    assert p == pytest.approx(0.5)


def test_the_judgment_is_made_on_pairs_of_other_folds():
    """In each fold the distance says the opposite of what it says in the others."""
    d = np.tile([1.0, 3.0], 30)
    fold = np.repeat(np.arange(2), 30)
    pairs = equal_pairs(d, (d < 2) ^ (fold == 1), np.arange(120).reshape(60, 2), fold)
    found = calibrate(pairs, None)
    p = said(found, d)
    assert brier_score_loss(pairs.similar, p) == pytest.approx(0.25, abs=0.01)
    assert found["brier_score"] > 0.5
