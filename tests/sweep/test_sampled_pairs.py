"""`unlabeled_pairs`: learn from a sample of the unlabeled pairs instead of all."""

import tracemalloc

import numpy as np
import pytest
from seraph._engine import Settings
from seraph._engine._problem import Problem
from seraph._sweep import BACKENDS, PointsInMemory, SampleSizes

from seraph import SERAPH, Marks
from seraph._marks import PairLabels
from tests.helpers.quick import few

FEW_MARKED = Marks([[20, 30], [3, 50]], [1, -1], rows=60)
MARKED = Marks([[0, 70], [71, 72], [75, 3]], [1, -1, -1], rows=80)
LEARNERS = [
    SERAPH(),
    SERAPH(solver="em"),
    SERAPH(gamma=1.0),
    SERAPH(solver="spg"),
    SERAPH(manifold=0.01),
]
QUICK = few(
    LEARNERS,
    lambda learner: learner.solver != "em" and getattr(learner, "gamma", None) is None,
)


def metric(learner):
    return learner.components_.T @ learner.components_


def fitted(learner, data, **parameters):
    X, y_partial, _ = data
    return learner.__class__(**{**learner.get_params(), **parameters}).fit(X, y_partial)


def problem(data, budget, seed=0, **more):
    """Make a problem with sampled pairs, scattered labeled rows and labeled pairs."""
    X, y_partial, _ = data
    order = np.random.default_rng(1).permutation(len(X))
    labels = PairLabels.make(len(X), y_partial[order], MARKED)
    size = "all" if budget is None else budget
    settings = Settings(unlabeled_pairs=size, backend="numpy", random_state=seed, **more)
    made = Problem.make(PointsInMemory(X[order]), labels, settings)
    return made, labels


# The sample


@pytest.mark.parametrize("budget", [1, 50, 2000, 3000])
def test_no_labeled_pair_is_sampled(wine, budget):
    made, labels = problem(wine, budget)
    # Rows of the sweep, by their number in the user's table.
    row_of = {tuple(point): row for row, point in enumerate(made.coordinates.array)}
    rows = np.array([row_of[tuple(point)] for point in made.pairs.sweep.X])
    sampled = {tuple(sorted(pair)) for pair in rows[made.pairs.terms.plan.listed[:]].tolist()}
    assert len(sampled) == budget
    assert not sampled & {tuple(sorted(pair)) for pair in MARKED.pairs.tolist()}
    assert not any(labels.codes[i] >= 0 and labels.codes[j] >= 0 for i, j in sampled)


def test_a_sample_weighs_as_much_as_all_unlabeled_pairs(wine):
    made, labels = problem(wine, 600)
    n_unlabeled = 80 * 79 // 2 - 15 * 14 // 2 - len(labels.pairs)
    assert made.pairs.terms.plan.weight * 600 == pytest.approx(n_unlabeled, rel=1e-12)


@pytest.mark.parametrize("term", ["entropy", "first M-step", "M-step"])
def test_a_sample_is_unbiased(wine, rng, term):
    few_features = wine[0][:, :4], *wine[1:]
    P = 2.0 * rng.normal(size=(2, 4))

    def value_and_gradient(budget, seed=0):
        made, _ = problem(few_features, budget, seed, mu=0.3)
        objective = made.objective("auto")
        if term != "entropy":
            objective = objective.m_step(None if term == "first M-step" else 0.7 * P)
        value, gradient = objective.by_metric(P)
        return np.append(gradient[np.triu_indices(4)], value)

    exact = value_and_gradient(None)
    sampled = np.array([value_and_gradient(1200, seed) for seed in range(60)])
    noise = sampled.std(axis=0, ddof=1) / np.sqrt(len(sampled))
    # Precise enough to see a weight that is wrong by a few percent. Four standard errors, since
    # there are 11 numbers.
    assert noise[-1] < 0.01 * abs(exact[-1])
    assert np.max(np.abs(sampled.mean(axis=0) - exact) / noise) < 4.0


def test_more_pairs_bring_the_metric_closer_to_that_of_all(wine):
    plain = SERAPH(shrinkage=0)
    exact = metric(fitted(plain, wine))

    def distance(share):
        found = [fitted(plain, wine, unlabeled_pairs=share, random_state=k) for k in range(5)]
        return np.mean([np.linalg.norm(metric(one) - exact) for one in found])

    assert distance(0.9) < 0.5 * distance(0.3) < 0.5 * distance(0.02)


# The parameter


@pytest.mark.parametrize("learner", QUICK, ids=str)
@pytest.mark.parametrize(
    "everything", few([1.0, 80 * 79 // 2 - 105, 10**9], lambda number: 1 < number < 10**9)
)
def test_a_sample_of_all_pairs_changes_nothing(wine, learner, everything):
    exact = fitted(learner, wine)
    same = fitted(learner, wine, unlabeled_pairs=everything)
    np.testing.assert_array_equal(same.components_, exact.components_)


@pytest.mark.parametrize("learner", QUICK, ids=str)
def test_the_seed_determines_the_sample(wine, learner):
    one, same, other = (
        fitted(learner, wine, unlabeled_pairs=400, random_state=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.components_, same.components_)
    assert one.objective_ == same.objective_
    assert np.linalg.norm(metric(one) - metric(other)) > 1e-4 * np.linalg.norm(metric(one))
    assert one.converged_


def test_a_share_is_that_number_of_pairs(wine):
    share = fitted(SERAPH(), wine, unlabeled_pairs=0.25, random_state=0)
    number = fitted(
        SERAPH(), wine, unlabeled_pairs=round(0.25 * share.n_unlabeled_), random_state=0
    )
    np.testing.assert_array_equal(share.components_, number.components_)
    smallest = fitted(SERAPH(), wine, unlabeled_pairs=1e-12, random_state=0)
    one_pair = fitted(SERAPH(), wine, unlabeled_pairs=1, random_state=0)
    np.testing.assert_array_equal(smallest.components_, one_pair.components_)


def test_counts_and_weights_stay_those_of_all_pairs(wine):
    exact = fitted(SERAPH(), wine)
    some = fitted(SERAPH(), wine, unlabeled_pairs=300, random_state=0)
    for name in ("n_similar_", "n_dissimilar_", "n_unlabeled_", "mu_", "lam_"):
        assert getattr(some, name) == getattr(exact, name)


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "dask"])
@pytest.mark.parametrize("n_jobs", few([1, 2], lambda n: n == 2))
def test_backends_and_threads_find_the_same_metric(wine, backend, n_jobs):
    some = {"unlabeled_pairs": 500, "random_state": 0}
    exact = metric(fitted(SERAPH(backend="numpy"), wine, **some))
    found = metric(fitted(SERAPH(backend=backend, n_jobs=n_jobs), wine, **some))
    np.testing.assert_allclose(found, exact, atol=1e-6 * np.abs(exact).max())


def test_without_unlabeled_pairs_nothing_is_sampled(wine):
    X, _, y = wine
    state = np.random.RandomState(0)
    before = state.get_state()[1].copy()
    some = {"unlabeled_pairs": 500, "random_state": state}
    exact = fitted(SERAPH(mu=0.0), wine)
    same = fitted(SERAPH(mu=0.0), wine, **some)
    np.testing.assert_array_equal(same.components_, exact.components_)
    np.testing.assert_array_equal(
        SERAPH(**some).fit(X, y).components_, SERAPH().fit(X, y).components_
    )
    np.testing.assert_array_equal(state.get_state()[1], before)


def test_a_sample_of_tiles_is_unbiased(rng):
    X, P = rng.normal(size=(60, 3)) ** 3, rng.normal(size=(2, 3))
    labels = PairLabels.make(60, np.r_[np.zeros(4), np.ones(4), np.full(52, -1)], FEW_MARKED)

    def value(size, seed=0):
        tiles = {"sizes": SampleSizes(listed=0, listed_per_row=0), "backend": "numpy"}
        settings = Settings(mu=0.3, unlabeled_pairs=size, random_state=seed, **tiles)
        made = Problem.make(PointsInMemory(X), labels, settings)
        assert (made.pairs.terms.plan.share < 1.0) == (size != "all")
        return made.objective("auto").by_metric(P)[0]

    sampled = np.array([value(0.3, seed) for seed in range(30)])
    noise = sampled.std(ddof=1) / np.sqrt(len(sampled))
    assert 0.0 < noise < 0.01 * abs(value("all"))
    assert abs(sampled.mean() - value("all")) < 4.0 * noise


def test_a_sample_of_more_pairs_for_each_row_than_tiles_have_is_one_of_tiles(wine):
    sizes = SampleSizes(listed=0, listed_per_row=10)
    few, _ = problem(wine, 800, sizes=sizes)
    many, labels = problem(wine, 801, sizes=sizes)
    assert few.pairs.terms.plan.share == 1.0
    assert len(few.pairs.terms.plan.listed) == 800
    assert many.pairs.terms.plan.listed is None
    assert many.pairs.terms.plan.share == 801 / labels.n_unlabeled


# Memory


@pytest.mark.parametrize("backend", few(["numpy", "numba"], lambda name: name == "numba"))
def test_memory_grows_with_the_points_and_the_sample_only(rng, backend):
    n, budget = 20_000, 50_000
    y = rng.integers(4, size=n)
    X = rng.normal(size=(4, 6))[y] + rng.normal(size=(n, 6))
    y[40:] = -1
    learner = SERAPH(unlabeled_pairs=budget, random_state=0, backend=backend)
    learner.fit(X[:2000], y[:2000])  # loads and compiles, which does not count
    tracemalloc.start()
    try:
        learner.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # An n x n array of bytes would have 400 MB, and a list of all pairs 1.6 GB.
    assert peak < 0.05 * n * n
