"""Thresholds for candidates, and groups of what they accept."""

import numpy as np
import pytest
from scipy.special import expit

from seraph import Marks
from seraph._decisions import HeldOut
from seraph._marks import PairLabels
from seraph.records._candidates import CandidateDecision, curves_given
from seraph.records._groups import grouped

NONE = PairLabels.make(6, required=False)


def held(n=200, seed=0):
    rng = np.random.default_rng(seed)
    d = rng.uniform(0.0, 3.0, n)
    similar = rng.random(n) < expit(6.0 - 3.0 * d**2)
    rows = np.arange(2 * n).reshape(n, 2)
    return HeldOut(d, similar, rows, np.arange(n) % 5, np.ones(n))


def predicted(decision, d):
    """What the decision says of accepting all candidates up to its threshold."""
    accepted = d <= decision.threshold
    return decision.predicted(d[accepted], d[~accepted])


def test_the_threshold_is_the_largest_that_reaches_the_precision():
    d = np.random.default_rng(1).uniform(0.0, 3.0, 500)
    decision = CandidateDecision.reach(held(), d, 0.97)
    p = decision.probability(np.sort(d))
    reached = [t for t in range(1, len(d) + 1) if p[:t].mean() >= 0.97 and p[t - 1] >= 0.5]
    assert (d <= decision.threshold).sum() == max(reached)
    expected = p[: max(reached)].mean(), p[: max(reached)].sum() / p.sum()
    for (value, low, high), share in zip(predicted(decision, d), expected, strict=True):
        assert 0.0 <= low < value < high <= 1.0
        assert value == pytest.approx(share, abs=0.01)


def test_the_expected_precision_holds_however_the_answers_were_chosen():
    """Answers are spread evenly; the candidates are mostly far apart, as neighbors are."""
    rng = np.random.default_rng(2)
    d = 3.0 * np.sqrt(rng.random(20_000))
    truth = rng.random(len(d)) < expit(6.0 - 3.0 * d**2)
    decision = CandidateDecision.reach(held(400), d, 0.9)
    accepted = d <= decision.threshold
    precision, recall = predicted(decision, d)
    assert precision[1] <= truth[accepted].mean() <= precision[2]
    assert recall[1] <= truth[accepted].sum() / truth.sum() <= recall[2]


def test_pairs_that_are_sure_count_as_found_and_right():
    d = np.linspace(0.5, 2.5, 200)
    decision = CandidateDecision.reach(held(), d, 0.9)
    few, many = (decision.predicted(d[:50], d[50:], sure) for sure in (0, 10_000))
    for before, after in zip(few, many, strict=True):
        assert 1.0 - after[1] < 0.1 * (1.0 - before[1])
    assert decision.predicted(d[:0], d) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def test_the_ranges_hold_the_truth_as_often_as_they_say():
    """Curves of all slopes; answers spread evenly, candidates mostly far apart."""
    rng = np.random.default_rng(3)
    inside, n = np.zeros(2), 40
    for _ in range(n):
        slope, middle = 2.5 * np.abs(rng.standard_cauchy()) + 1.0, rng.uniform(2.0, 5.0)
        answered = rng.uniform(0.0, 3.0, 60)
        candidates = 3.0 * np.sqrt(rng.random(500))
        said, true = (
            rng.random(len(d)) < expit(slope * (middle - d**2)) for d in (answered, candidates)
        )
        rows = np.arange(120).reshape(60, 2)
        part = HeldOut(answered, said, rows, np.arange(60) % 5, np.ones(60))
        decision = CandidateDecision.reach(part, candidates, 0.8)
        accepted = candidates <= decision.threshold
        reached = true[accepted].mean(), true[accepted].sum() / true.sum()
        ranges = predicted(decision, candidates)
        inside += [low <= r <= high for r, (_, low, high) in zip(reached, ranges, strict=True)]
    # Of 40 ranges of 95 %, fewer than 35 hold the truth once in 70 times.
    assert (inside >= 35).all()


def test_the_curves_are_the_posterior():
    """A plain oracle: curves from the prior, weighted by what they say of the answers."""
    part = held(40)
    squared = part.distances**2
    x = (squared - squared.mean()) / squared.std()
    rng = np.random.default_rng(4)
    slope = 2.5 * np.abs(rng.standard_cauchy(100_000))
    middle = rng.uniform(x.min() - 0.5, x.max() + 0.5, len(slope))
    sign = np.where(part.similar, 1.0, -1.0)
    weight = np.prod(expit(sign * slope[:, None] * (middle[:, None] - x)), axis=1)
    a, b = curves_given(squared, part.similar)
    for d2 in np.quantile(squared, [0.1, 0.3, 0.5, 0.7]):
        p = expit(slope * (middle - (d2 - squared.mean()) / squared.std()))
        q = expit(a - b * d2)
        mean = np.average(p, weights=weight)
        spread = np.sqrt(np.average((p - mean) ** 2, weights=weight))
        assert q.mean() == pytest.approx(mean, abs=0.01)
        assert q.std() == pytest.approx(spread, abs=0.01)


def test_answers_that_a_distance_separates_leave_doubt():
    d, similar = np.arange(1.0, 9.0), np.arange(8) < 4
    a, b = curves_given(d, similar)
    p = expit(a - np.multiply.outer(d, b)).mean(axis=1)
    assert (p[:4] > 0.5).all()
    assert (p[4:] < 0.5).all()
    assert 0.8 < p[0] < 1.0
    part = HeldOut(np.sqrt(d), similar, np.zeros((8, 2), int), np.zeros(8, int), np.ones(8))
    decision = CandidateDecision.reach(part, np.sqrt(np.linspace(0.5, 8.5, 400)), 0.7)
    for _, low, high in predicted(decision, np.sqrt(np.linspace(0.5, 8.5, 400))):
        assert high == 1.0
        assert low < 0.9


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
    labels = PairLabels.make(6, None, Marks([[0, 3], [0, 2]], [1, -1], rows=6))
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
    monkeypatch.setattr("seraph.records._groups._LARGEST", 4)
    Z = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    pairs = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    d = np.abs(Z[pairs[:, 0], 0] - Z[pairs[:, 1], 0])
    assert grouped(Z, pairs, d, 1.0, NONE).tolist() == [0, 0, 0, 1, 1, 1]
    equal = np.zeros((6, 1))
    assert grouped(equal, pairs, np.zeros(5), 1.0, NONE).tolist() == [0] * 6


def test_no_accepted_pair_gives_no_group():
    Z = np.zeros((6, 1))
    assert (grouped(Z, np.empty((0, 2), dtype=int), np.empty(0), 1.0, NONE) == -1).all()
