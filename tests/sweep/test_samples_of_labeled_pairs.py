"""Fits by way of samples where most pairs are labeled."""

import numpy as np
import pytest
from seraph._engine import Settings, learn, read_array
from seraph._engine._problem import Problem
from seraph._sweep import NumpySweep, PairTerms, Plan, PointsInMemory, SampleSizes

from seraph import SERAPH, Marks
from seraph._marks import PairLabels


def classes(n=700, m=4, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return 1.5 * rng.normal(size=(n_classes, m))[y] + rng.normal(size=(n, m)), y


# Samples for few points, too.
SMALL = SampleSizes(many_pairs=50_000, per_row=40)


def fitted(X, y, **settings):
    points, found = read_array(X, Settings(**settings))
    return learn(points, PairLabels.make(len(X), y), found)


def test_an_estimate_is_near_the_sum(rng):
    X, y = classes(3000)
    order = np.random.default_rng(0).permutation(3000)
    P = 0.5 * rng.normal(size=(2, 4))
    sweep, terms = NumpySweep(X[order]), PairTerms(y[order])
    value, gradient = sweep(P, terms, "metric")
    about, slope = sweep(P, PairTerms(y[order], plan=Plan(labeled_share=0.04)), "metric")
    assert about == pytest.approx(value, rel=0.02)
    assert np.linalg.norm(slope - gradient) < 0.05 * np.linalg.norm(gradient)


# Fits

FITS = [
    {},
    pytest.param({"solver": "em"}, marks=pytest.mark.slow),
    pytest.param({"gamma": 1.0}, marks=pytest.mark.slow),
    pytest.param({"n_components": 2}, marks=pytest.mark.slow),
    pytest.param({"backend": "torch"}, marks=pytest.mark.slow),
    pytest.param({"backend": "numba", "n_jobs": 2}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("settings", FITS, ids=str)
@pytest.mark.parametrize("n_unlabeled", [pytest.param(0, marks=pytest.mark.slow), 200])
def test_labeled_points_are_fitted_by_way_of_samples(settings, n_unlabeled):
    X, y = classes()
    y = np.where(np.arange(len(y)) < n_unlabeled, -1, y)
    found = fitted(X, y, sizes=SMALL, **settings)
    assert np.any(found.history["share"] < 0.2)
    exact = fitted(X, y, **settings)
    assert np.all(exact.history["share"] == 1.0)
    assert found.converged
    assert exact.converged
    assert found.objective == pytest.approx(exact.objective, rel=1e-5)
    A, B = (one.components.T @ one.components for one in (found, exact))
    assert np.linalg.norm(A - B) < 0.02 * np.linalg.norm(B)


@pytest.mark.slow
def test_many_labeled_points_take_a_few_sweeps_over_all_pairs():
    X, y = classes(n=6000)
    found = SERAPH().fit(X, y)
    assert found.converged_
    assert np.sum(found.history_["share"] == 1.0) <= 6
    assert found.history_["share"].min() < 0.15


@pytest.mark.parametrize("n_classes", [2, 50, 350])
def test_classes_of_any_size_end_with_a_certificate(n_classes):
    X, y = classes(n_classes=n_classes)
    found = fitted(X, y, tol=1e-4, sizes=SMALL)
    assert found.converged
    assert found.optimality_gap <= 1e-4


def test_marked_pairs_count_in_full():
    X, y = classes()
    pairs = np.array([[0, 1], [2, 3], [4, 5]])
    y[:6] = -1
    labels = PairLabels.make(len(X), y, Marks(pairs, [1, -1, 1], weights=[1e3, 1e3, 1e3], rows=X))
    made = Problem.make(PointsInMemory(X), labels, Settings(backend="numpy", mu=0.0, sizes=SMALL))
    F = made.objective("auto")
    (_, first), *_ = F.samples()
    P = made.first_factor(None, narrow=True, eta=1.0)
    assert first.by_metric(P)[0] == pytest.approx(F.by_metric(P)[0], rel=0.05)
