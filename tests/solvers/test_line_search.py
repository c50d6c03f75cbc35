"""The backtracking line search: Armijo's condition, and which shares it tries."""

import numpy as np
import pytest

from seraph._solvers import backtrack

SUFFICIENT = 1e-4


def along(function, slope):
    """A function of one number, with its slope at 0, as `backtrack` takes it; and its trials."""
    tried = []

    def at(x):
        tried.append(float(x[0]))
        return function(x[0]), len(tried)

    return at, np.zeros(1), np.ones(1), function(0.0), slope, tried


@pytest.mark.parametrize("cut", [0.1, 0.5])
@pytest.mark.parametrize("bend", [0.3, 4.0, 700.0, 1e6])
def test_the_share_found_rises_enough_and_the_one_before_did_not(bend, cut):
    at, start, move, value, slope, tried = along(lambda x: x - 0.5 * bend * x * x, 1.0)
    share, found, n_trials = backtrack(at, start, move, value, slope, shortest=1e-9, least_cut=cut)
    assert found == at(start + share * move)[0] >= value + SUFFICIENT * share * slope
    assert n_trials == len(tried) - 1
    for before in tried[: n_trials - 1]:
        assert before - 0.5 * bend * before**2 < SUFFICIENT * before
    ratios = np.divide(tried[1:n_trials], tried[: n_trials - 1])
    assert np.all((cut * (1 - 1e-12) <= ratios) & (ratios <= 0.5))


def test_a_parabola_is_left_at_its_peak_if_that_is_near():
    at, start, move, value, slope, _ = along(lambda x: x - 0.5 * 4.0 * x * x, 1.0)
    assert backtrack(at, start, move, value, slope, shortest=1e-9)[0] == pytest.approx(0.25)


def test_infinities_and_nan_count_as_no_rise():
    at, start, move, value, slope, _ = along(
        lambda x: 2.0 * x - x * x if x < 0.1 else (-np.inf if x > 0.5 else np.nan), 2.0
    )
    share, found, _ = backtrack(at, start, move, value, slope, shortest=1e-9)
    assert share < 0.1
    assert found > 0.0


def test_a_direction_of_descent_has_no_share():
    at, start, move, value, slope, tried = along(lambda x: -x, 1.0)
    assert backtrack(at, start, move, value, slope, shortest=1e-3, least_cut=0.5) is None
    assert min(tried) >= 1e-3
