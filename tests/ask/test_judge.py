"""The test of a session: the AUC, its interval, and when to stop."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from seraph._apps.ask._judge import (
    Auc,
    Judgment,
    advice,
    auc_interval,
    judge,
    steadiness,
    weighted_auc,
)


def test_the_auc_is_that_of_scikit_learn(rng):
    distances = rng.integers(20, size=200).astype(float)  # many ties
    same = rng.random(200) < 0.3
    assert weighted_auc(distances, same, np.ones(200)) == pytest.approx(
        roc_auc_score(same, -distances)
    )
    weights = rng.random(200)
    s, d = distances[same][:, None], distances[~same]
    pairs = weights[same][:, None] * weights[~same] * ((s < d) + 0.5 * (s == d))
    expected = pairs.sum() / np.outer(weights[same], weights[~same]).sum()
    assert weighted_auc(distances, same, weights) == pytest.approx(expected)


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_the_limits_solve_newcombes_equation(value):
    m, n = 7, 12
    low, high = auc_interval(value, m, n)
    assert 0.0 <= low <= value <= high <= 1.0
    assert high - low > 0.2
    for theta in {low, high} - {0.0, 1.0}:
        spread = (1 - theta) / (2 - theta) + theta / (1 + theta)
        variance = theta * (1 - theta) / (m * n) * (1 + ((m + n) / 2 - 1) * spread)
        assert abs(value - theta) == pytest.approx(norm.ppf(0.975) * np.sqrt(variance), rel=1e-6)


def test_the_interval_covers_the_truth_as_often_as_it_says(rng):
    m, n, shift = 8, 16, 1.5
    truth = norm.cdf(shift / np.sqrt(2))
    same = np.arange(m + n) < m
    covered = 0
    for _ in range(400):
        found = judge(rng.normal(size=m + n) - shift * same, same, np.ones(m + n))
        covered += found.low <= truth <= found.high
    assert 0.92 <= covered / 400 <= 0.99


def test_weights_widen_the_interval():
    distances, same = np.arange(20.0), np.arange(20) < 8
    distances[[7, 8]] = distances[[8, 7]]
    even = judge(distances, same, np.ones(20))
    uneven = judge(distances, same, np.where(np.arange(20) % 4, 0.2, 3.4))
    few = judge(distances, same, np.ones(20), most=3)
    assert uneven.high - uneven.low > even.high - even.low
    assert few.high - few.low > even.high - even.low
    assert few.value == even.value


def test_too_few_answers_of_a_kind_give_no_figure():
    assert judge(np.arange(5.0), np.arange(5) < 1, np.ones(5)) is None
    assert judge(np.arange(5.0), np.arange(5) < 4, np.ones(5)) is None


def test_the_same_order_of_distances_is_steady(rng):
    d = rng.random(50)
    assert steadiness(d, d**3) == 1.0
    assert abs(steadiness(d, rng.random(50))) < 0.5
    assert steadiness(d, np.ones(50)) == 0.0


WIDE = Judgment(40, Auc(0.85, 0.40, 0.98), Auc(0.8, 0.4, 0.97))
GOOD = Judgment(40, Auc(0.92, 0.90, 0.94), Auc(0.8, 0.7, 0.9))


@pytest.mark.parametrize(
    ("n", "judgments", "change", "kinds", "said", "stop"),
    [
        (0, [], None, (0, 0), "after a few answers", False),
        (3, [], None, (0, 3), "the first pair that is same", False),
        (3, [], None, (3, 0), "the first pair that is different", False),
        (8, [], None, (4, 4), "Answers kept apart as a test so far: 2.", False),
        (12, [GOOD], None, (6, 6), "95 % interval 0.90-0.94. Answer 28 more", False),
        (60, [GOOD], 0.9, (30, 30), "still changed the distance", False),
        (60, [WIDE], 0.99, (30, 30), "interval 0.40-0.98. About 170 more answers", False),
        (
            60,
            [GOOD],
            0.99,
            (30, 30),
            "The last 20 answers changed little; 95 % interval 0.90-0.94. Ask 20 more, or stop.",
            True,
        ),
    ],
)
def test_the_advice_says_when_to_stop(n, judgments, change, kinds, said, stop):
    text, now = advice(n, judgments, change, n_tests=2, n_same=kinds[0], n_different=kinds[1])
    assert said in text
    assert now == stop
    assert ("stop" in text) == stop


def test_the_advice_is_to_stop_when_nothing_is_left():
    text, now = advice(3, [], None, n_tests=0, n_same=1, n_different=2, left=False)
    assert (text, now) == ("There is nothing left to ask.", True)
