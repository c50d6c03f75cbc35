"""Thresholds: chosen as asked, and judged honestly."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, precision_score, recall_score

from seraph._decisions import judge_threshold
from seraph._decisions._held_out import HeldOut
from seraph._utils._threshold import choose_threshold
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
            "accuracy": accuracy_score(similar, called, sample_weight=weights),
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
        ("accuracy", None),
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
    found = choose_threshold(d, similar, weights, strategy, target)
    best = {
        "accuracy": lambda c: -c["accuracy"],
        "equal_error_rate": lambda c: abs(c["false_accept_rate"] - (1 - c["recall"])),
        "precision": lambda c: (not c["precision"] >= target - 1e-9, -c["recall"]),
        "recall": lambda c: (c["recall"] < target - 1e-9, c["false_accept_rate"]),
        "false_accept_rate": lambda c: (c["false_accept_rate"] > target + 1e-9, -c["recall"]),
    }[strategy]
    expected = min(map(best, all_of_them))
    (reached,) = [c for c in all_of_them if c["threshold"] == pytest.approx(found)]
    assert best(reached) == pytest.approx(expected)


@pytest.mark.parametrize("between", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_no_other_threshold_errs_less(seed, between):
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, 6, 20).astype(float)
    similar = rng.random(20) < 0.5
    found = choose_threshold(distances, similar, between=between)
    errors = {t: np.sum((distances <= t) != similar) for t in np.arange(-0.5, 7.0, 0.5)}
    assert np.sum((distances <= found) != similar) == min(errors.values())
    assert between or found in distances or not (distances <= found).any()


@pytest.mark.parametrize("strategy", ["accuracy", "f_beta", "max_tpr", "max_tnr"])
def test_pairs_of_one_kind_are_all_similar_or_none(strategy):
    d = np.array([1.0, 2.0])
    all_similar, none = np.array([True, True]), np.array([False, False])
    assert choose_threshold(d, all_similar, None, strategy, 1.0, between=False) == 2.0
    assert choose_threshold(d, none, None, strategy, 1.0, between=False) < 1.0


def test_base_rate_is_the_weighted_share():
    d, similar = sample()
    held = equal_pairs(d, similar, np.zeros((len(d), 2)), np.zeros(len(d)))
    weights = held.weights(0.02)
    assert np.average(similar, weights=weights) == pytest.approx(0.02)
    assert weights.mean() == pytest.approx(1.0)


def test_a_precision_out_of_reach_is_refused_with_the_best():
    d, similar = np.array([1.0, 2.0, 3.0]), np.array([False, True, True])
    with pytest.raises(ValueError, match=r"precision of 0.9 on these pairs; the best has 0.667"):
        choose_threshold(d, similar, np.ones(3), "precision", 0.9)


def test_accepting_nothing_is_possible():
    d, similar = np.array([0.0, 1.0]), np.array([False, True])
    t = choose_threshold(d, similar, np.ones(2), "false_accept_rate", 0.0)
    assert not (d <= t).any()


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
        report = judge_threshold(
            equal_pairs(d, similar, rows, np.arange(n) % 5), 2.0, "accuracy", None, None
        )
        width.append(report["accuracy"][2] - report["accuracy"][1])
    assert width[1] > 1.5 * width[0]


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
        distances, counts = np.where(same, 1.0, 3.0), np.ones(len(rows))
        pairs = HeldOut(distances, alike, rows, rows[:, 0] % 5, counts)
        _, low, high = judge_threshold(pairs, 2.0, "accuracy", None, None)["accuracy"]
        held += low <= truth <= high
    assert held >= 0.95 * n_runs
