"""Estimates from the pairs of a subset of the points, where most pairs are labeled."""

from dataclasses import replace

import numpy as np
import pytest

from seraph import SERAPH, Marks, seraph_path
from seraph._engine import Settings
from seraph._engine._problem import Problem
from seraph._marks import PairLabels
from seraph._sweep import (
    NumpySweep,
    PairTerms,
    PointsInMemory,
    Posterior,
    SubsetSweep,
    _design,
    subset_sizes,
)
from seraph._sweep._design import stratified


def classes(n=700, m=4, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return 1.5 * rng.normal(size=(n_classes, m))[y] + rng.normal(size=(n, m)), y


@pytest.fixture
def small(monkeypatch):
    """Subsets pay off for few points, too."""
    monkeypatch.setattr(_design, "_MANY_PAIRS", 50_000)
    monkeypatch.setattr(_design, "_SUBSET_ROWS", 100)
    monkeypatch.setattr(_design, "_SUBSET_ROWS_PER_FEATURE", 1)


# The subset


@pytest.mark.parametrize(("n", "k", "size"), [(700, 700, 100), (700, 300, 100), (50, 0, 10)])
def test_a_subset_has_each_kind_of_row_in_proportion(n, k, size):
    rows = stratified(n, k, size)
    assert np.all(np.diff(rows) > 0)
    assert rows[0] >= 0
    assert rows[-1] < n
    assert abs(len(rows) - size) <= 2
    assert abs(np.sum(rows < k) - size * k / n) <= 1
    # Of any run of rows, as of the rows of a class, it has about its share.
    for start in range(0, n - n // 4, n // 4):
        count = np.sum((start <= rows) & (rows < start + n // 4))
        assert abs(count - size / 4) <= 3


def test_few_points_have_no_subsets():
    assert subset_sizes(2000, 5) == ()
    assert subset_sizes(20_000, 2000) == ()
    first, second = subset_sizes(20_000, 16)
    assert second == 2 * first
    assert second**2 <= 0.2 * 20_000**2


@pytest.mark.parametrize("wrt", ["metric", "factor", "threshold"])
@pytest.mark.parametrize("q", [None, Posterior(), Posterior(np.eye(2, 4))], ids=str)
@pytest.mark.parametrize("k", [60, 90])
def test_an_estimate_is_the_sum_over_its_pairs(rng, wrt, q, k):
    X, P = rng.normal(size=(90, 4)), rng.normal(size=(2, 4))
    codes = np.sort(rng.integers(3, size=k))
    pairs = np.array([[3, 80], [61, 62]])[: 2 if k < 90 else 0]
    marks = {"pairs": pairs, "similar": np.array([True, False])[: len(pairs)]}
    terms = PairTerms(codes, **marks, eta=1.3, mu=0.4 if k < 90 else 0.0, q=q)
    sweep = SubsetSweep(NumpySweep(X), 90, k, 30, lambda rows: NumpySweep(X[rows]))
    value, gradient = sweep(P, terms, wrt)
    few = replace(terms, codes=codes[sweep.rows[sweep.rows < k]], pairs=pairs[:0])
    some, slope = NumpySweep(X[sweep.rows])(P, replace(few, similar=few.similar[:0]), wrt)
    times = 90 * 89 / (len(sweep.rows) * (len(sweep.rows) - 1))
    no_codes = replace(terms, codes=codes[:0], mu=0.0, q=None)
    listed, part = NumpySweep(X)(P, no_codes, wrt)
    assert value == pytest.approx(times * some + listed, rel=1e-12)
    np.testing.assert_allclose(gradient, times * slope + part, rtol=1e-10, atol=1e-10)


def test_an_estimate_is_near_the_sum(rng):
    X, y = classes(3000)
    codes, X = np.sort(y), X[np.argsort(y, kind="stable")]
    P = 0.5 * rng.normal(size=(2, 4))
    whole = NumpySweep(X)
    some = SubsetSweep(whole, 3000, 3000, 600, lambda rows: NumpySweep(X[rows]))
    value, gradient = whole(P, PairTerms(codes), "metric")
    about, slope = some(P, PairTerms(codes), "metric")
    assert about == pytest.approx(value, rel=0.05)
    assert np.linalg.norm(slope - gradient) < 0.1 * np.linalg.norm(gradient)


# Fits

FITS = [
    {},
    pytest.param({"algorithm": "em", "em_max_iter": 3, "em_tol": 1.0}, marks=pytest.mark.slow),
    pytest.param({"gamma": 1.0}, marks=pytest.mark.slow),
    {"n_components": 2},
    pytest.param({"backend": "torch", "device": "cpu"}, marks=pytest.mark.slow),
    {"backend": "numba", "n_jobs": 2},
]


@pytest.mark.parametrize("settings", FITS, ids=str)
@pytest.mark.parametrize("n_unlabeled", [0, 200])
def test_labeled_points_are_fitted_by_way_of_subsets(small, monkeypatch, settings, n_unlabeled):
    X, y = classes()
    y = np.where(np.arange(len(y)) < n_unlabeled, -1, y)
    found = SERAPH(**settings).fit(X, y)
    assert np.any(found.history_["share"] < 0.1)
    monkeypatch.setattr(_design, "_MANY_PAIRS", 10**9)
    exact = SERAPH(**settings).fit(X, y)
    assert np.all(exact.history_["share"] == 1.0)
    assert found.converged_
    assert exact.converged_
    assert found.objective_ == pytest.approx(exact.objective_, rel=1e-5)
    A, B = (one.components_.T @ one.components_ for one in (found, exact))
    assert np.linalg.norm(A - B) < 0.02 * np.linalg.norm(B)


@pytest.mark.slow
def test_many_labeled_points_take_a_few_sweeps_over_all_pairs():
    X, y = classes(n=6000)
    found = SERAPH().fit(X, y)
    assert found.converged_
    assert np.sum(found.history_["share"] == 1.0) <= 6
    assert found.history_["share"].min() < 0.15


@pytest.mark.parametrize("n_classes", [2, 50, 350])
def test_classes_of_any_size_end_with_a_certificate(small, n_classes):
    X, y = classes(n_classes=n_classes)
    found = SERAPH(tol=1e-4).fit(X, y)
    assert found.converged_
    assert found.optimality_gap_ <= 1e-4


def test_marked_pairs_count_in_full(small):
    X, y = classes()
    pairs = np.array([[0, 1], [2, 3], [4, 5]])
    y[:6] = -1
    labels = PairLabels.make(len(X), y, Marks(pairs, [1, -1, 1], weights=[1e3, 1e3, 1e3], rows=X))
    made = Problem.make(PointsInMemory(X), labels, Settings(backend="numpy", mu=0.0))
    F = made.objective("auto")
    (_, first), *_ = F.samples
    P = made.first_factor(None, narrow=True, eta=1.0)
    assert first.by_metric(P)[0] == pytest.approx(F.by_metric(P)[0], rel=0.05)


def test_a_path_counts_the_sweeps_over_subsets(small):
    X, y = classes()
    path = seraph_path(X, y, n_lams=3)
    assert np.all(path.n_sweeps > 0)
