"""Fits by way of samples: the maximum of all pairs, in a few sums over all pairs."""

import numpy as np
import pytest

from seraph import SERAPH, Marks
from seraph._engine import Settings, _problem
from seraph._engine._problem import Problem
from seraph._marks import PairLabels
from seraph._solvers import low_rank, optimality_gap, sampled_low_rank
from seraph._sweep import NumpySweep, PairList, PairTerms, PointsInMemory, Sample, shares
from seraph._sweep._design import design
from tests.helpers.quick import few


def classes(n=2000, m=6, n_labels=60, seed=0):
    """Points of four classes, sorted by class: the order that misleads a sample the most."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(4, size=n))
    X = 1.5 * rng.normal(size=(4, m))[y] + rng.normal(size=(n, m))
    known = rng.permutation(n)[:n_labels]
    some = np.full(n, -1)
    some[known] = y[known]
    return X, some


def problem(**settings):
    X, y = classes()
    pairs, alike = [[0, 1999], [700, 701], [3, 1500]], [-1, 1, -1]
    labels = PairLabels.make(len(X), y, Marks(pairs, alike, rows=X))
    return Problem.make(PointsInMemory(X), labels, Settings(backend="numpy", **settings))


def silent(step, P):
    pass


# The tiles that stand for all


@pytest.mark.parametrize(("n", "k", "side", "share"), [(500, 7, 40, 0.1), (300, 0, 16, 0.2)])
def test_a_sample_of_tiles_has_each_pair_once_and_every_row_equally_often(n, k, side, share):
    strips, weights = design(n, k, side, share)
    count = np.zeros((n, n))
    for rows, across in strips:
        for columns in across:
            count[rows, columns] += 1
    count[:k, :k] = 0  # all labeled pairs
    assert not np.any(count + count.T > 1)
    others = count[k:, k:].sum(axis=0) + count[k:, k:].sum(axis=1)
    assert others.max() - others.min() <= 4  # blocks differ by a row
    u = n - k
    assert weights[1] * count[k:, k:].sum() == pytest.approx(u * (u - 1) / 2)
    if k:
        assert weights[0] * count[:k, k:].sum() == pytest.approx(k * u)
    assert 0.5 * share < count.sum() / (n * (n - 1) / 2) < 2 * share


@pytest.mark.parametrize("wrt", ["metric", "factor", "threshold"])
def test_a_share_is_the_sum_over_its_tiles(rng, wrt):
    n, k, share = 600, 5, 0.15
    X, P = rng.normal(size=(n, 4)), rng.normal(size=(2, 4))
    terms = PairTerms(np.arange(k) % 2, eta=1.3, mu=0.4, share=share)
    value, gradient = NumpySweep(X, tile=64)(P, terms, wrt)
    exact, expected = NumpySweep(X)(P, PairTerms(terms.codes, eta=1.3), wrt)
    strips, weights = design(n, k, 64, share, least_side=64)
    for labeled in (True, False):
        pairs = [
            (i, j)
            for rows, across in strips
            for columns in across
            if columns.start >= k and (rows.stop <= k) == labeled
            for i in range(rows.start, rows.stop)
            for j in range(columns.start, columns.stop)
        ]
        sample = Sample(PairList.of(np.array(sorted(pairs))), weights[0 if labeled else 1])
        nobody = PairTerms(np.empty(0, dtype=int), eta=1.3, mu=0.4, sample=sample)
        part, slope = NumpySweep(X)(P, nobody, wrt)
        exact, expected = exact + part, expected + slope
    assert value == pytest.approx(exact, rel=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-10)


def test_few_pairs_and_few_rows_for_each_feature_are_not_sampled():
    assert shares((1000, 5), 10) == ()
    assert shares((5000, 5), 4900) == ()  # nearly all pairs are labeled
    assert shares((5000, 784), 100) == ()
    first, second = shares((20_000, 64), 100)
    assert second == 4 * first < 0.1


# The solver


@pytest.mark.parametrize("step", few(["direct", "M-step", "full model"], "direct".__eq__))
def test_the_maximum_is_that_of_all_pairs(step):
    from seraph._engine._objective import FullModel

    made = problem()
    F = made.objective("auto")
    if step == "M-step":
        F = F.m_step(None)
    elif step == "full model":
        F = FullModel(F, 0.5).at(1.7)
    P = made.first_factor(None, narrow=True, eta=1.0)
    options = {"max_iter": 200, "tol": 1e-5, "callback": silent}
    found, exact = sampled_low_rank(F, P, **options), low_rank(F, P, **options)
    assert found.converged
    assert found.value == pytest.approx(exact.value, rel=1e-8)
    A, B = (one.P.T @ one.P for one in (found, exact))
    assert np.linalg.norm(A - B) < 1e-3 * np.linalg.norm(B)
    assert found.gap == optimality_gap(found.P, F.by_metric(found.P)[1], F.scale) <= 1e-5
    whole = sum(step.share == 1.0 for step in found.steps)
    assert whole <= 6 < len(exact.steps)


def test_the_result_is_certified_on_all_pairs_in_a_few_sums_over_them():
    X, y = classes(n=4000)
    learner = SERAPH(backend="numpy").fit(X, y)
    assert learner.converged_
    assert 2 <= np.sum(learner.history_["share"] == 1.0) <= 5
    assert learner.history_["share"][-1] == 1.0
    assert learner.history_["objective"][-1] == learner.objective_
    assert learner.history_["rank"][-1] == len(learner.learned_components_)


def test_a_start_at_the_maximum_needs_one_sum_over_all_pairs():
    X, y = classes()
    learner = SERAPH(backend="numpy", warm_start=True).fit(X, y)
    again = learner.fit(X, y)
    assert again.converged_
    assert again.n_iter_ == 1


def test_a_capped_rank_is_kept():
    made = problem()
    P = made.first_factor(2, narrow=True, eta=1.0)
    found = sampled_low_rank(
        made.objective("auto"), P, max_iter=200, tol=1e-3, callback=silent, max_rank=2
    )
    assert found.converged
    assert len(found.P) <= 2


def test_few_iterations_are_few_sums_over_all_pairs():
    made = problem()
    P = made.first_factor(None, narrow=True, eta=1.0)
    F = made.objective("auto")
    for max_iter in (1, 2):
        found = sampled_low_rank(F, P, max_iter=max_iter, tol=1e-9, callback=silent)
        assert not found.converged
        assert sum(step.share == 1.0 for step in found.steps) == max_iter
        assert found.value == pytest.approx(F.by_metric(found.P)[0], rel=1e-12)


@pytest.mark.slow
def test_a_misleading_sample_only_costs_time():
    """A sample that has nothing to do with the objective: the solver falls back on all pairs."""
    made = problem()
    F = made.objective("auto")
    other = problem(mu=0.0).objective(10.0 * made.auto_lam)

    class Misled:
        n_features, scale, rounding = F.n_features, F.scale, F.rounding
        samples = ((0.1, other),)
        by_metric, by_factor = F.by_metric, F.by_factor

    P = made.first_factor(None, narrow=True, eta=1.0)
    options = {"max_iter": 200, "tol": 1e-4, "callback": silent}
    found, exact = sampled_low_rank(Misled(), P, **options), low_rank(F, P, **options)
    assert found.converged
    assert found.value == pytest.approx(exact.value, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("listed", "share"), [(10**9, 0.131), (1 << 20, 0.256)])
def test_sampled_pairs_are_sampled_again(monkeypatch, listed, share):
    monkeypatch.setattr(_problem, "_LISTED", listed)  # in a list, or in tiles
    X, y = classes(n=4000)
    learner = SERAPH(backend="numpy", unlabeled_pairs=2_000_000, random_state=0).fit(X, y)
    assert learner.converged_
    assert set(np.round(learner.history_["share"], 3)) <= {share, 1.0}


@pytest.mark.parametrize("share", [0.06, 0.2, 0.55, 0.9])
@pytest.mark.parametrize("least_side", [1, 64, 2048])
def test_a_share_of_tiles_is_met_closely_and_treats_labeled_rows_alike(share, least_side):
    n, k = 3000, 300
    strips, _ = design(n, k, 256, share, least_side)
    count = np.zeros((n, n), dtype=np.int8)
    for rows, across in strips:
        for columns in across:
            count[rows, columns] += 1
    count[:k, :k] = 0
    assert count.max() == 1
    n_unlabeled = n * (n - 1) / 2 - k * (k - 1) / 2
    assert abs(count.sum() / n_unlabeled - share) < 0.04
    met = count[:k].sum(axis=1)
    assert met.max() - met.min() <= 0.02 * n
