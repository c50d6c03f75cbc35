"""``unlabeled_pairs="auto"``: a fixed sample of rows and pairs stands for all of many."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, xlogy
from seraph._engine import Settings
from seraph._engine._problem import Problem
from seraph._engine._sampling import plan_sample, sample_rows
from seraph._engine._sampling_error import estimate_error
from seraph._sweep import PointsInMemory

from seraph import SERAPH, Marks
from seraph._marks import PairLabels

MANY = 30_000  # rows, of which some are sampled


def table(n, m=3, n_labels=30, seed=0):
    """Points of four classes, sorted by class, with a few labels."""
    rng = np.random.default_rng(seed)
    classes = np.sort(rng.integers(4, size=n))
    X = 2.0 * rng.normal(size=(4, m))[classes] + rng.normal(size=(n, m)) + 5.0
    y = np.full(n, -1)
    known = rng.permutation(n)[:n_labels]
    y[known] = classes[known]
    return X, y, classes


def posed(X, y=None, marks=None, **settings):
    labels = PairLabels.make(len(X), y, marks)
    settings = Settings(backend="numpy", **settings)
    return Problem.make(PointsInMemory(X), labels, settings), labels


def metric(learner):
    return learner.components_.T @ learner.components_


# The rule


@pytest.mark.parametrize("n", [100, 5_000])
def test_all_pairs_of_up_to_5000_rows_are_summed(n):
    _, y, _ = table(n)
    labels = PairLabels.make(n, y)
    assert sample_rows(labels, 3, Settings()) is None
    assert plan_sample(labels).is_whole


def test_few_rows_say_that_nothing_was_sampled():
    X, y, _ = table(200)
    auto, whole = (SERAPH(unlabeled_pairs=which).fit(X, y) for which in ("auto", "all"))
    np.testing.assert_array_equal(auto.components_, whole.components_)
    assert auto.n_summed_pairs_ == 200 * 199 // 2
    assert auto.sampling_error_ == 0.0


@pytest.mark.parametrize(("k", "size"), [(10, 20_000), (400, 40_000), (3_000, 100_000)])
def test_rows_are_sampled_by_the_number_of_labels(k, size):
    n = 200_000
    labels = PairLabels.make(n, np.where(np.arange(n) < k, np.arange(n) % 3, -1))
    rows = sample_rows(labels, 3, Settings())
    assert len(rows) == k + size
    np.testing.assert_array_equal(rows, np.unique(rows))
    # They are spread over the table: every hundredth of it has its share.
    counts = np.bincount((rows[rows >= k] - k) * 100 // (n - k))
    assert np.abs(counts - size / 100).max() <= 2
    assert plan_sample(labels.among(rows)).share == pytest.approx(128 / (len(rows) - 1))


def test_every_row_that_something_is_known_of_is_in_the_sample():
    marks = Marks([[7, 29_999], [8, 12]], [1, -1], triplets=[[100, 20_001, 5]], rows=MANY)
    y = np.full(MANY, -1)
    y[[3, 17_000]] = 0, 1
    rows = sample_rows(PairLabels.make(MANY, y, marks), 3, Settings())
    assert {3, 5, 7, 8, 12, 100, 17_000, 20_001, 29_999} <= set(rows.tolist())


@pytest.mark.parametrize("settings", [{"unlabeled_pairs": "all"}, {"manifold": 0.1}], ids=str)
def test_all_pairs_and_a_graph_keep_all_rows(settings):
    _, y, _ = table(MANY)
    assert sample_rows(PairLabels.make(MANY, y), 3, Settings(**settings)) is None


def test_many_labeled_rows_keep_256_pairs_of_the_rarer_kind():
    n = 40_000
    labels = PairLabels.make(n, np.arange(n) % 10)
    plan = plan_sample(labels)
    assert plan.labeled_share * labels.n_similar == pytest.approx(256 * n)
    rare = PairLabels.make(n, np.arange(n) % 5_000)  # eight rows of each class
    assert plan_sample(rare).labeled_share == 1.0


# The objective


def test_the_sum_is_the_formula_over_the_sampled_pairs(rng):
    X, y, _ = table(MANY)
    marks = Marks([[7, 29_999], [8, 12]], [1, -1], rows=MANY)
    problem, labels = posed(X, y, marks)
    rows = sample_rows(labels, X.shape[1], Settings())
    center, unit = X.mean(axis=0), np.sqrt(2.0 * X.var(axis=0).sum())
    np.testing.assert_allclose(problem.coordinates.array, (X[rows] - center) / unit, atol=1e-12)
    np.testing.assert_allclose(
        problem.coordinates.covariance, np.cov(X.T, bias=True) / unit**2, rtol=1e-9
    )
    sweep, terms = problem.pairs.sweep, problem.pairs.terms
    P = 2.0 * rng.normal(size=(2, 3))
    Z = sweep.X @ P.T

    def probability(i, j):
        return expit(1.0 - np.square(Z[i] - Z[j]).sum(axis=-1))

    def minus_entropy(p):
        return xlogy(p, p) + xlogy(1.0 - p, 1.0 - p)

    value = total = 0.0
    for strip in terms.tiles(len(Z), 64, 64):
        i = np.arange(strip.rows.start, strip.rows.stop)[:, np.newaxis]
        for columns in strip.columns:
            j = np.arange(columns.start, columns.stop)[np.newaxis]
            once = i < j if columns == strip.rows else np.ones((i.size, j.size), dtype=bool)
            p = probability(i, j)
            if strip.labeled:
                alike = terms.codes[i] == terms.codes[j]
                value += np.log(np.where(alike, p, 1.0 - p))[once].sum()
            else:
                value += strip.weight * minus_entropy(p)[once].sum()
                total += strip.weight * once.sum()
    for (i, j), similar in zip(terms.pairs, terms.similar, strict=True):
        p = probability(i, j)
        value += np.log(p if similar else 1.0 - p) - terms.mu * minus_entropy(p)
        total -= terms.mu
    assert total == pytest.approx(problem.mu * labels.n_unlabeled)
    assert sweep(P, terms, "metric")[0] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("labeled", ["some classes", "marks", "all classes"])
def test_sums_over_samples_vary_as_estimated(labeled):
    n, samplings, k = 12_000 if labeled == "all classes" else MANY, 8, 200
    X, y, classes = table(n, m=2, n_labels=n if labeled == "all classes" else k)
    pairs = np.random.default_rng(1).permutation(n)[: 2 * k].reshape(-1, 2)
    alike = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    P, found, estimates = 3.0 * np.eye(2), [], []
    for seed in range(samplings):  # another order has another sample
        order = np.random.default_rng(seed).permutation(n)
        if labeled == "marks":
            marks = Marks(np.argsort(order)[pairs], np.where(alike, 1, -1), rows=n)
            problem, labels = posed(X[order], None, marks)
        else:
            problem, labels = posed(X[order], y[order])
        found.append(problem.pairs.by_metric(P)[1])
        estimates.append(estimate_error(problem, P, labels))
    spread = np.sqrt(np.var(found, axis=0, ddof=1).sum())
    noise = _spread_of_labels(X, P, classes, k, marked=labeled == "marks")
    if labeled == "all classes":  # from the noise of a part of them
        noise *= (n * (n - 1)) / (k * (k - 1)) * np.sqrt(k / n)
    assert 0.0 < spread < 0.1 * noise
    # (Of 24 numbers, a standard deviation is known to about 15 %.)
    assert np.median(estimates) == pytest.approx(spread / noise, rel=0.5)


def _gradient(Z, i, j, alike):
    p = expit(1.0 - np.square(Z[i] - Z[j]).sum(axis=1))
    apart = Z[i] - Z[j]
    return np.einsum("p,pa,pb->ab", p - alike, apart, apart)


def _spread_of_labels(X, P, classes, size, *, marked):
    """Spread of the labeled gradient over choices of the labeled rows."""
    unit = np.sqrt(2.0 * X.var(axis=0).sum())
    Z, rng, found = X @ P.T / unit, np.random.default_rng(5), []
    for _ in range(300):
        if marked:
            i, j = rng.permutation(len(X))[: 2 * size].reshape(2, -1)
        else:
            rows = rng.permutation(len(X))[:size]
            i, j = (rows[some] for some in np.triu_indices(size, 1))
        found.append(_gradient(Z, i, j, classes[i] == classes[j]))
    return np.sqrt(np.var(found, axis=0).sum()) / 9.0  # by the metric, and Z = 3 X


# The fit


def test_the_same_table_gives_the_same_metric_without_a_seed():
    X, y, _ = table(MANY)
    one, same = (SERAPH(backend="numpy").fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.components_, same.components_)
    assert one.n_unlabeled_ == MANY * (MANY - 1) // 2 - 30 * 29 // 2
    assert one.mu_ == (30 * 29 // 2) / one.n_unlabeled_
    assert one.n_summed_pairs_ < 1_400_000
    assert 0.0 < one.sampling_error_ < 0.1
    assert one.converged_


@pytest.mark.parametrize("marked", [False, True])
def test_most_sums_are_over_an_eighth_of_the_rows(marked):
    """The solver that never samples finds the same maximum of the sum over all sampled pairs."""
    X, y, classes = table(8_000, m=6)
    labels = {"y": y}
    if marked:
        pairs = np.random.default_rng(1).permutation(len(X))[:60].reshape(30, 2)
        labels = {"marks": Marks(pairs, classes[pairs[:, 0]] == classes[pairs[:, 1]], rows=X)}
    some = SERAPH(backend="numpy", shrinkage=0, tol=1e-5).fit(X, **labels)
    whole = SERAPH(backend="numpy", shrinkage=0, tol=1e-5, solver="spg").fit(X, **labels)
    assert set(some.history_["share"]) == {0.125, 1.0}
    assert np.sum(some.history_["share"] == 1.0) < 10
    assert some.converged_
    assert some.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    np.testing.assert_allclose(
        metric(some), metric(whole), rtol=0, atol=0.01 * metric(whole).max()
    )


def test_the_average_agrees_with_one_over_all_sampled_pairs():
    X, y, _ = table(8_000, m=6)
    rough, strict = (SERAPH(backend="numpy", tol=tol).fit(X, y) for tol in (1e-3, 1e-5))
    apart = np.linalg.norm(metric(rough) - metric(strict))
    assert apart < 0.05 * np.linalg.norm(metric(strict))


def test_a_given_weight_of_the_unlabeled_pairs_is_for_all_of_them():
    X, y, _ = table(MANY)
    auto = SERAPH(backend="numpy").fit(X, y)
    given = SERAPH(backend="numpy", mu=auto.mu_).fit(X, y)
    np.testing.assert_allclose(metric(given), metric(auto), rtol=1e-9)


def test_chunks_give_the_metric_of_the_array():
    da = pytest.importorskip("dask.array")
    X, y, _ = table(MANY)
    plain = SERAPH(backend="cpu").fit(X, y)
    chunked = SERAPH().fit(da.from_array(X, chunks=(7_000, 3)), y)
    np.testing.assert_allclose(metric(chunked), metric(plain), rtol=1e-6)
    assert chunked.backend_ != "dask"


def test_a_graph_is_checked_against_all_rows():
    X, y, _ = table(MANY)
    SERAPH(backend="numpy", max_iter=1, tol=1e9).fit(X, y, graph=sparse.eye_array(MANY).tocsr())
    with pytest.raises(ValueError, match="graph"):
        SERAPH(backend="numpy").fit(X, y, graph=sparse.eye_array(20_030).tocsr())


def test_a_fit_copies_no_more_than_the_sample():
    X, y, _ = table(200_000, m=32)
    X = X.astype(np.float32)
    learner = SERAPH(backend="numpy", max_iter=1, tol=1e9)
    learner.fit(*table(6_000)[:2])  # imports
    tracemalloc.start()
    learner.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * X.nbytes


@pytest.mark.parametrize("value", [0.0, 1e200, 3.0])
def test_equal_rows_are_found_to_be_equal(value):
    X, y, _ = table(MANY)
    with pytest.warns(UserWarning, match="rank 0"):
        learner = SERAPH(backend="numpy").fit(np.full_like(X, value), y)
    assert len(learner.learned_components_) == 0
