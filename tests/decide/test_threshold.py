"""Thresholds and probabilities: chosen as asked, and judged honestly."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import brier_score_loss, precision_score, recall_score

from seraph._decide._threshold import Aim, Decision, choose_threshold, judge
from tests.helpers.held import equal_pairs
from tests.helpers.quick import few


def sample(seed=0, n=50, ties=False):
    rng = np.random.default_rng(seed)
    similar = rng.random(n) < 0.3
    d = rng.gamma(3.0, np.where(similar, 0.5, 1.0))
    return (np.round(d, 1) if ties else d), similar


def plain_candidates(d, similar, weights):
    """What every possible threshold reaches, by scikit-learn's definitions."""
    values = np.unique(d)
    between = [values[0] / 2, *(values[:-1] + values[1:]) / 2, values[-1]]
    for t in between:
        called = d <= t
        yield {
            "threshold": t,
            "precision": precision_score(
                similar, called, sample_weight=weights, zero_division=np.nan
            ),
            "recall": recall_score(similar, called),
            "false_accept_rate": called[~similar].mean(),
        }


@pytest.mark.parametrize(
    ("base_rate", "ties"),
    few([(None, False), (0.05, False), (None, True), (0.05, True)], {(0.05, True)}.__contains__),
)
@pytest.mark.parametrize(
    ("strategy", "target"),
    [
        ("equal_error_rate", None),
        ("precision", 0.6),
        ("recall", 0.9),
        ("false_accept_rate", 0.1),
    ],
)
def test_a_threshold_reaches_what_the_best_of_all_does(strategy, target, base_rate, ties):
    d, similar = sample(n=25, ties=ties)
    held = equal_pairs(d, similar, np.zeros((len(d), 2), dtype=int), np.zeros(len(d), dtype=int))
    weights = held.weights(base_rate)
    all_of_them = list(plain_candidates(d, similar, weights))
    if strategy == "precision" and base_rate is not None:
        target = np.nanmax([c["precision"] for c in all_of_them])
    found = choose_threshold(d, similar, weights, Aim(strategy, target))
    best = {
        "equal_error_rate": lambda c: abs(c["false_accept_rate"] - (1 - c["recall"])),
        "precision": lambda c: (not c["precision"] >= target - 1e-9, -c["recall"]),
        "recall": lambda c: (c["recall"] < target - 1e-9, c["false_accept_rate"]),
        "false_accept_rate": lambda c: (c["false_accept_rate"] > target + 1e-9, -c["recall"]),
    }[strategy]
    expected = min(map(best, all_of_them))
    (reached,) = [c for c in all_of_them if c["threshold"] == pytest.approx(found)]
    assert best(reached) == pytest.approx(expected)


def test_a_precision_out_of_reach_is_refused_with_the_best():
    d, similar = np.array([1.0, 2.0, 3.0]), np.array([False, True, True])
    with pytest.raises(ValueError, match=r"precision of 0.9 on these pairs; the best has 0.667"):
        choose_threshold(d, similar, np.ones(3), Aim("precision", 0.9))


def judged(held):
    return judge(held, Decision.choose(held, Aim()), Aim())


def test_pairs_that_share_points_have_wider_intervals():
    rng = np.random.default_rng(0)
    n = 300
    apart = np.arange(2 * n).reshape(n, 2)
    shared = np.column_stack([rng.integers(6, size=n), 6 + rng.integers(20, size=n)])
    wrong = rng.random(26) < 0.3
    width = []
    for rows in (apart, shared):
        similar = np.arange(n) % 2 == 0
        error = wrong[shared[:, 0]] & (rng.random(n) < 0.9)
        d = np.where(similar ^ error, 1.0, 3.0)
        report = judged(equal_pairs(d, similar, rows, np.arange(n) % 5))
        width.append(report["accuracy"][2] - report["accuracy"][1])
    assert width[1] > 1.5 * width[0]


@pytest.mark.slow
def test_ranges_hold_where_hardly_any_pair_is_wrong():
    """A point of a wrong class spoils all its pairs: pairs tell no more than their points."""
    rng = np.random.default_rng(0)
    n, wrong, n_runs = 60, 0.01, 20
    i, j = np.triu_indices(n, k=1)
    within = i % 5 == j % 5
    rows = np.stack([i, j], axis=1)[within]
    alike_kept = (1 - wrong) ** 2 + wrong**2 / 2
    apart_kept = 1 - wrong * (1 - wrong) - wrong**2 / 4
    truth = alike_kept / 3 + 2 * apart_kept / 3
    held = 0
    for _ in range(n_runs):
        y = rng.integers(3, size=n)
        given = np.where(rng.random(n) < wrong, (y + rng.integers(1, 3, size=n)) % 3, y)
        same, alike = (a[rows[:, 0]] == a[rows[:, 1]] for a in (given, y))
        pairs = equal_pairs(np.where(same, 1.0, 3.0), alike, rows, rows[:, 0] % 5)
        _, low, high = judged(pairs)["accuracy"]
        held += low <= truth <= high
    assert held >= 0.95 * n_runs


# Probabilities


def with_log_odds(seed=0, n=3000):
    """Pairs whose log-odds are 3 - 2 d."""
    rng = np.random.default_rng(seed)
    d = rng.uniform(0, 4, size=n)
    similar = rng.random(n) < 1 / (1 + np.exp(2 * d - 3))
    return equal_pairs(d, similar, np.arange(2 * n).reshape(n, 2), np.arange(n) % 5)


def calibrated(held, distances, base_rate=None):
    decision = Decision.choose(held, Aim(base_rate=base_rate))
    return decision.probabilities(np.reshape(distances, (-1, 1)))


def test_the_sigmoid_is_platts():
    held = with_log_odds(n=80)
    n_similar, n_different = held.similar.sum(), (~held.similar).sum()
    soft = np.where(held.similar, (n_similar + 1) / (n_similar + 2), 1 / (n_different + 2))

    def loss(parameters):
        odds = parameters[1] + parameters[0] * held.features[:, 0]
        return np.sum(np.logaddexp(0, odds) - soft * odds)

    expected = minimize(loss, [0.0, 0.0], tol=1e-12).x
    found = Decision.choose(held, Aim())
    assert (found.slope, found.intercept) == pytest.approx(expected, rel=1e-3)


def test_a_base_rate_shifts_the_odds():
    held = with_log_odds()
    share = held.similar.mean()
    odds = np.log(0.05 / 0.95) - np.log(share / (1 - share))
    expected = 1 / (1 + np.exp(2 * held.features[:, 0] - 3 - odds))
    assert np.abs(calibrated(held, held.features[:, 0], 0.05) - expected).mean() < 0.03


def test_separable_pairs_do_not_make_it_certain_and_chance_gives_the_base_rate():
    d = np.r_[np.full(10, 1.0), np.full(10, 3.0)]
    rows = np.arange(40).reshape(20, 2)
    alike, different = calibrated(equal_pairs(d, d < 2, rows, np.arange(20) % 5), [1.0, 3.0])
    assert 0.8 < alike < 0.99
    assert 0.01 < different < 0.2
    wrong = equal_pairs(d, d > 2, rows, np.arange(20) % 5)
    assert calibrated(wrong, [0.0, 9.0]) == pytest.approx(0.5)


def test_probabilities_are_judged_on_pairs_of_other_folds():
    """In each fold the distance says the opposite of what it says in the others."""
    d = np.tile([1.0, 3.0], 30)
    fold = np.repeat(np.arange(2), 30)
    held = equal_pairs(d, (d < 2) ^ (fold == 1), np.arange(120).reshape(60, 2), fold)
    assert brier_score_loss(held.similar, calibrated(held, d)) == pytest.approx(0.25, abs=0.01)
    assert judged(held)["brier_score"] > 0.5
