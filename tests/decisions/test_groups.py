"""Thresholds for candidates, and groups of what they accept."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from seraph._decisions import CandidateDecision, HeldOut, grouped
from seraph._decisions._candidates import fitted_curves
from seraph._pairs import PairLabels

NONE = PairLabels.make(6, required=False)


def held(n=200, seed=0):
    rng = np.random.default_rng(seed)
    d = rng.uniform(0.0, 3.0, n)
    similar = rng.random(n) < expit(6.0 - 3.0 * d**2)
    rows = np.arange(2 * n).reshape(n, 2)
    return HeldOut(d, similar, rows, np.arange(n) % 5, np.ones(n))


def test_the_threshold_is_the_largest_that_reaches_the_precision():
    d = np.random.default_rng(1).uniform(0.0, 3.0, 500)
    decision = CandidateDecision.reach(held(), d, 0.97)
    p = decision.probability(np.sort(d))
    reached = [t for t in range(1, len(d) + 1) if p[:t].mean() >= 0.97 and p[t - 1] >= 0.5]
    assert (d <= decision.threshold).sum() == max(reached)
    assert decision.precision[0] == pytest.approx(p[: max(reached)].mean())
    assert decision.recall[0] == pytest.approx(p[: max(reached)].sum() / p.sum())


def test_the_expected_precision_holds_however_the_answers_were_chosen():
    """Answers are spread evenly; the candidates are mostly far apart, as neighbors are."""
    rng = np.random.default_rng(2)
    d = 3.0 * np.sqrt(rng.random(20_000))
    truth = rng.random(len(d)) < expit(6.0 - 3.0 * d**2)
    decision = CandidateDecision.reach(held(400), d, 0.9)
    accepted = d <= decision.threshold
    low, high = decision.precision[1:]
    assert low - 0.02 <= truth[accepted].mean() <= high + 0.02
    low, high = decision.recall[1:]
    assert low - 0.02 <= truth[accepted].sum() / truth.sum() <= high + 0.02


def test_the_curve_is_a_logistic_regression():
    part = held()
    weights = np.random.default_rng(3).integers(0, 4, size=(3, 200)).astype(float)
    a, b = fitted_curves(part.distances**2, part.similar, weights)
    scale = (part.distances**2).std()
    x = (part.distances**2 / scale)[:, np.newaxis]
    for k in range(3):
        model = LogisticRegression(C=10.0, tol=1e-10, max_iter=10_000)
        model.fit(x, part.similar, sample_weight=weights[k])
        assert b[k] == pytest.approx(-model.coef_[0, 0] / scale, rel=1e-4)
        assert a[k] == pytest.approx(model.intercept_[0], rel=1e-4)


def test_answers_that_a_distance_separates_give_a_finite_curve():
    d, similar = np.arange(1.0, 9.0), np.arange(8) < 4
    a, b = fitted_curves(d, similar, np.ones((1, 8)))
    p = expit(a[0] - b[0] * d)
    assert (p[:4] > 0.5).all()
    assert (p[4:] < 0.5).all()
    assert p[0] < 1.0


def test_no_pair_is_accepted_that_is_more_likely_different():
    d = np.linspace(0.0, 3.0, 500)
    decision = CandidateDecision.reach(held(), d, 0.5)
    assert decision.probability(np.array([decision.threshold]))[0] == pytest.approx(0.5, abs=0.02)


def test_a_distance_that_says_nothing_reaches_nothing():
    part = held()
    turned = HeldOut(3.0 - part.distances, part.similar, part.rows, part.fold, part.counts)
    with pytest.raises(ValueError, match="cannot be reached"):
        CandidateDecision.reach(turned, np.linspace(0.0, 3.0, 50), 0.95)


def test_a_chain_is_parted():
    Z = np.arange(6.0)[:, np.newaxis]
    chain = np.column_stack([np.arange(5), np.arange(1, 6)])
    groups = grouped(Z, chain, np.ones(5), 1.2, NONE)
    assert np.bincount(groups).tolist() == [2, 2, 2]


def test_groups_keep_to_the_answers():
    Z = np.array([[0.0], [0.1], [0.2], [5.0], [9.0], [9.1]])
    labels = PairLabels.make(6, pairs=[[0, 3], [0, 2]], pair_labels=[1, -1])
    pairs = np.array([[0, 3], [0, 1], [1, 2], [4, 5]])
    groups = grouped(Z, pairs, np.array([0.0, 0.1, 0.1, 0.1]), 3.0, labels)
    assert groups[0] == groups[3]
    assert groups[0] != groups[2]
    assert groups[4] == groups[5]


def test_groups_are_numbered_by_their_first_rows():
    Z = np.array([[0.0], [9.0], [9.0], [0.0], [5.0], [7.0]])
    groups = grouped(Z, np.array([[1, 2], [0, 3]]), np.zeros(2), 1.0, NONE)
    assert groups.tolist() == [0, 1, 1, 0, -1, -1]


def test_rows_that_hang_together_by_too_many_are_parted(monkeypatch):
    monkeypatch.setattr("seraph._decisions._groups._LARGEST", 4)
    Z = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    pairs = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    d = np.abs(Z[pairs[:, 0], 0] - Z[pairs[:, 1], 0])
    assert grouped(Z, pairs, d, 1.0, NONE).tolist() == [0, 0, 0, 1, 1, 1]
    equal = np.zeros((6, 1))
    assert grouped(equal, pairs, np.zeros(5), 1.0, NONE).tolist() == [0] * 6


def test_no_accepted_pair_gives_no_group():
    Z = np.zeros((6, 1))
    assert (grouped(Z, np.empty((0, 2), dtype=int), np.empty(0), 1.0, NONE) == -1).all()
