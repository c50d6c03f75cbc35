"""A search that starts near the maximum takes most of its steps on a sample of the pairs."""

import numpy as np
import pytest
from seraph._engine import Settings, learn
from seraph._engine._manifold import Roughness
from seraph._engine._objective import Objective
from seraph._engine._terms import PairSum, Trace
from seraph._engine._triplets import Triplets
from seraph._sweep import NumpySweep, PairTerms, Plan, PointsInMemory, SampleSizes

from seraph import SERAPH, Marks
from seraph._marks import PairLabels
from seraph._solvers import low_rank, optimality_gap, sampled_low_rank
from tests.helpers.quick import few

OPTIONS = {"max_iter": 500, "callback": lambda step, P: None}


# Samples for few points.
SMALL = SampleSizes(many_pairs=10_000, per_row=38)


@pytest.fixture
def summed(monkeypatch):
    """Collect the share of the pairs that each sum is over."""
    found = []
    sweep = NumpySweep.__call__

    def counted(self, P, terms, wrt):
        found.append(terms.plan.share)
        return sweep(self, P, terms, wrt)

    monkeypatch.setattr(NumpySweep, "__call__", counted)
    return found


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(400) % 4)  # tiles are of rows in random order
    X = rng.normal(size=(400, 5)) + 1.5 * np.eye(4, 5)[y]
    pairs = rng.permutation(400)[:120].reshape(60, 2)
    return X, pairs, y[pairs[:, 0]] == y[pairs[:, 1]]


def embeddings(n, m, n_classes):
    """Points whose features have variances that fall slowly, and 110 marks."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n)
    scale = np.arange(1, m + 1) ** -0.5
    X = (scale * rng.normal(size=(n_classes, m)))[y]
    X += scale[rng.permutation(m)] * rng.normal(size=(n, m))
    one, other = rng.permutation(n).reshape(2, n // 2)
    similar = y[one] == y[other]
    rows = np.stack([np.flatnonzero(similar == kind)[:55] for kind in (True, False)]).T.ravel()
    return X, np.column_stack([one, other])[rows], similar[rows]


def make(data, n_marks, *more, sizes=SMALL):
    X, pairs, similar = data
    some = pairs[:n_marks], similar[:n_marks]
    terms = PairTerms(np.empty(0, dtype=int), *some, mu=0.0007, plan=Plan(sizes=sizes))
    return Objective(PairSum(NumpySweep(X), terms), (Trace(10.0), *more), scale=10.0)


def roughness_of(rng):
    M = rng.normal(size=(5, 5))
    return Roughness(M @ M.T)


@pytest.mark.parametrize("extras", ["none", "triplets and a graph"])
def test_a_few_sums_over_all_pairs_reach_the_maximum(data, rng, extras):
    more = ()
    if extras != "none":
        rows = np.array([rng.permutation(400)[:3] for _ in range(20)])
        more = Triplets.gather(data[0], rows), roughness_of(rng)
    before, now = make(data, 50, *more), make(data, 60, *more)
    start = low_rank(before, np.eye(5), tol=1e-6, **OPTIONS).P
    samples = now.samples(near=True)
    found = sampled_low_rank(now, start, tol=1e-4, samples=samples, **OPTIONS)
    assert 2 <= sum(step.share == 1.0 for step in found.steps) <= 8
    value, gradient = now.by_metric(found.P)
    assert found.converged
    assert found.gap == optimality_gap(found.P, gradient, now.scale) <= 1e-4
    np.testing.assert_allclose(found.gradient, gradient)
    best = low_rank(now, start, tol=1e-7, **OPTIONS)
    assert value == pytest.approx(best.value, rel=1e-6)
    A, B = (P.T @ P for P in (found.P, best.P))
    np.testing.assert_allclose(A, B, atol=1e-2 * np.abs(A).max())


def test_the_objective_never_falls(data):
    """Far from the maximum a sample may mislead: then all pairs are summed."""
    now = make(data, 60)
    samples = now.samples(near=True)
    best = low_rank(now, np.eye(5), tol=1e-7, **OPTIONS)
    for size in (1e-3, 10.0):
        found = sampled_low_rank(now, size * np.eye(5), tol=1e-6, samples=samples, **OPTIONS)
        assert found.converged
        assert found.value == pytest.approx(best.value, rel=1e-6)


def test_a_start_at_the_maximum_stays(data):
    now = make(data, 60)
    P = low_rank(now, np.eye(5), tol=1e-6, **OPTIONS).P
    samples = now.samples(near=True)
    found = sampled_low_rank(now, P, tol=1e-4, samples=samples, **OPTIONS)
    assert found.P is P
    assert len(found.steps) == 1


def test_few_pairs_are_not_sampled(data):
    assert make(data, 60, sizes=SampleSizes()).samples(near=True) == []


@pytest.mark.parametrize("parameters", few([{}, {"n_components": 3}], bool), ids=str)
def test_a_fit_that_continues_finds_what_a_fresh_one_does(data, parameters):
    X, pairs, similar = data
    strict = Settings(backend="numpy", tol=1e-5, max_iter=2000, sizes=SMALL, **parameters)

    def fit(n_marks, start=None):
        labels = PairLabels.make(400, None, Marks(pairs[:n_marks], similar[:n_marks], rows=X))
        return learn(PointsInMemory(X), labels, strict, start=start)

    later, fresh = fit(60, start=fit(50).components), fit(60)
    assert later.history["share"].min() < 0.2
    A, B = (one.components.T @ one.components for one in (later, fresh))
    np.testing.assert_allclose(A, B, atol=1e-4 * np.abs(B).max())
    assert later.converged


def refitted(data, summed):
    """Fit 100 marks, then 10 more; and afresh. Also return what each of the two fits summed."""
    X, pairs, similar = data
    learner = SERAPH(warm_start=True)
    learner.fit(X, marks=Marks(pairs[:100], similar[:100], rows=X))
    summed.clear()
    learner.fit(X, marks=Marks(pairs, similar, rows=X))
    later = list(summed)
    summed.clear()
    fresh = SERAPH().fit(X, marks=Marks(pairs, similar, rows=X))
    assert learner.converged_
    assert fresh.converged_
    assert learner.objective_ == pytest.approx(fresh.objective_, rel=1e-5)
    A, B = learner.get_mahalanobis_matrix(), fresh.get_mahalanobis_matrix()
    assert np.linalg.norm(A - B) < 0.03 * np.linalg.norm(B)
    return later, list(summed)


@pytest.mark.slow
def test_ten_more_marks_take_a_third_of_the_work_of_a_fresh_fit(summed):
    later, fresh = refitted(embeddings(5000, 384, 40), summed)
    assert sum(later) < sum(fresh) / 3
    assert later.count(1.0) <= 4
    assert fresh.count(1.0) > 15


# The metrics for other weights of the trace


def test_the_metric_for_another_weight_needs_no_sum_over_all_pairs(summed):
    X, pairs, similar = embeddings(600, 50, 4)  # few rows for each feature
    labels = PairLabels.make(len(X), None, Marks(pairs, similar, rows=X))
    sizes = SampleSizes(many_pairs=100_000, per_row=32)
    learn(PointsInMemory(X), labels, Settings(backend="numpy", average=True, sizes=sizes))
    *_, last_whole = np.flatnonzero(np.array(summed) == 1.0)
    assert len(summed) - last_whole > 5  # sums over a sample follow


def test_few_points_are_never_sampled_for_the_average(data, summed):
    X, pairs, similar = data
    SERAPH(backend="numpy").fit(X, marks=Marks(pairs, similar, rows=X))
    assert set(summed) == {1.0}
