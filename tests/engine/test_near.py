"""A fit that continues from a metric takes most of its steps on a sample of the pairs."""

import numpy as np
import pytest

from seraph import SERAPH
from seraph._engine import _continue
from seraph._engine._objective import Objective
from seraph._engine._triplets import Triplets
from seraph._solvers import low_rank, optimality_gap
from seraph._sweep import NumpySweep, PairTerms

OPTIONS = {"max_iter": 500, "callback": lambda step, P: None}


@pytest.fixture
def small(monkeypatch):
    """Make samples pay off for few points."""
    monkeypatch.setattr(_continue, "_MANY_TIMES", 2)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4
    X = rng.normal(size=(200, 5)) + 1.5 * np.eye(4, 5)[y]
    pairs = rng.permutation(200)[:120].reshape(60, 2)
    return X, pairs, y[pairs[:, 0]] == y[pairs[:, 1]]


def make(data, n_marks, **more):
    X, pairs, similar = data
    terms = PairTerms(np.empty(0, dtype=int), pairs[:n_marks], similar[:n_marks], mu=0.003)
    return Objective(NumpySweep(X), terms, 10.0, scale=10.0, **more)


def unlabeled(n_marks):
    return 200 * 199 // 2 - n_marks


def roughness_of(rng):
    M = rng.normal(size=(5, 5))
    return M @ M.T


@pytest.mark.parametrize("extras", ["none", "triplets and a graph"])
def test_a_few_sums_over_all_pairs_reach_the_maximum(small, data, rng, extras):
    more = {}
    if extras != "none":
        rows = np.array([rng.permutation(200)[:3] for _ in range(20)])
        more = {"triplets": Triplets.gather(data[0], rows), "roughness": roughness_of(rng)}
    before, now = make(data, 50, **more), make(data, 60, **more)
    start = low_rank(before, np.eye(5), tol=1e-6, **OPTIONS).P
    sample = _continue.sample_of(now, 200, unlabeled(60))
    n_before = now.sweep.n_sweeps
    P = _continue.nearer(now, sample, start, tol=1e-4, max_rank=None)
    assert now.sweep.n_sweeps > n_before
    value, gradient = now.by_metric(P)
    assert optimality_gap(P, gradient, now.scale) <= 1e-4
    best = low_rank(now, start, tol=1e-7, **OPTIONS)
    assert value == pytest.approx(best.value, rel=1e-6)
    np.testing.assert_allclose(P.T @ P, best.P.T @ best.P, atol=1e-2 * np.abs(P.T @ P).max())


def test_the_objective_never_falls(small, data):
    """Far from the maximum a sample may mislead: then the start stays."""
    now = make(data, 60)
    sample = _continue.sample_of(now, 200, unlabeled(60))
    for size in (1e-3, 1.0, 10.0):
        P = size * np.eye(5)
        moved = _continue.nearer(now, sample, P, tol=1e-9, max_rank=None)
        assert now.by_metric(moved)[0] >= now.by_metric(P)[0]


def test_a_start_at_the_maximum_stays(small, data):
    now = make(data, 60)
    P = low_rank(now, np.eye(5), tol=1e-6, **OPTIONS).P
    sample = _continue.sample_of(now, 200, unlabeled(60))
    assert _continue.nearer(now, sample, P, tol=1e-4, max_rank=None) is P


def test_samples_are_for_many_pairs_that_are_all_swept(data):
    now = make(data, 60)
    assert _continue.sample_of(now, 200, unlabeled(60)) is None


@pytest.mark.parametrize("parameters", [{}, {"n_components": 1}], ids=str)
def test_a_fit_that_continues_finds_what_a_fresh_one_does(small, data, parameters):
    X, pairs, similar = data
    strict = {"tol": 1e-6, "max_iter": 2000, **parameters}
    learner = SERAPH(warm_start=True, **strict).fit(X, pairs=pairs[:50], pair_labels=similar[:50])
    learner.fit(X, pairs=pairs, pair_labels=similar)
    fresh = SERAPH(**strict).fit(X, pairs=pairs, pair_labels=similar)
    A, B = learner.get_mahalanobis_matrix(), fresh.get_mahalanobis_matrix()
    np.testing.assert_allclose(A, B, atol=1e-4 * np.abs(B).max())
    assert learner.converged_
