"""Fits by way of samples: the maximum of all pairs, in a few sums over all pairs."""

import numpy as np
import pytest

from seraph import SERAPH, Marks
from seraph._engine import Settings
from seraph._engine._problem import Problem
from seraph._marks import PairLabels
from seraph._solvers import low_rank, optimality_gap, sampled_low_rank
from seraph._sweep import PointsInMemory
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
    found = sampled_low_rank(F, P, samples=F.samples(), **options)
    exact = low_rank(F, P, **options)
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
    F = made.objective("auto")
    options = {"max_iter": 200, "tol": 1e-3, "callback": silent, "max_rank": 2}
    found = sampled_low_rank(F, P, samples=F.samples(), **options)
    assert found.converged
    assert len(found.P) <= 2


def test_few_iterations_are_few_sums_over_all_pairs():
    made = problem()
    P = made.first_factor(None, narrow=True, eta=1.0)
    F = made.objective("auto")
    for max_iter in (1, 2):
        options = {"max_iter": max_iter, "tol": 1e-9, "callback": silent}
        found = sampled_low_rank(F, P, samples=F.samples(), **options)
        assert not found.converged
        assert sum(step.share == 1.0 for step in found.steps) == max_iter
        assert found.value == pytest.approx(F.by_metric(found.P)[0], rel=1e-12)


@pytest.mark.slow
def test_a_misleading_sample_only_costs_time():
    """A sample that has nothing to do with the objective: the solver falls back on all pairs."""
    made = problem()
    F = made.objective("auto")
    other = problem(mu=0.0).objective(10.0 * made.auto_lam)
    P = made.first_factor(None, narrow=True, eta=1.0)
    options = {"max_iter": 200, "tol": 1e-4, "callback": silent}
    found = sampled_low_rank(F, P, samples=[(0.1, other)], **options)
    exact = low_rank(F, P, **options)
    assert found.converged
    assert found.value == pytest.approx(exact.value, rel=1e-6)
