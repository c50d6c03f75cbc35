"""Which pairs are summed: all, a share of them in tiles, or a list."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from seraph._sweep import NumbaSweep, NumpySweep, PairList, PairTerms, Plan, Posterior
from seraph._sweep._lists import sample_pairs
from seraph._sweep._plan import choose_band
from seraph._sweep._torch import TorchSweep

from tests.helpers.quick import few

PAIRS = np.array([[0, 3], [0, 1], [2, 9], [2, 4], [2, 0], [7, 8], [9, 1]])
NONE = np.empty((0, 2), dtype=int)


# Lists


def test_a_list_has_the_pairs_it_was_made_of():
    listed = PairList.of(PAIRS)
    assert len(listed) == len(PAIRS)
    for start in range(len(PAIRS) + 1):
        for stop in range(start, len(PAIRS) + 2):
            np.testing.assert_array_equal(listed[start:stop], PAIRS[start:stop])


@pytest.mark.parametrize("step", [1, 2, 3, 5, 100])
def test_every_so_many_pairs_are_a_list_too(step):
    some = PairList.of(PAIRS).every(step)
    np.testing.assert_array_equal(some[:], PAIRS[::step])
    np.testing.assert_array_equal(some[1:3], PAIRS[::step][1:3])


def test_no_pairs_are_a_list():
    nothing = PairList.of(NONE)
    assert len(nothing) == 0
    assert nothing[:].shape == (0, 2)


def test_a_row_takes_the_smallest_type_that_numbers_all():
    rng = np.random.RandomState(0)
    for n, size in ((256, 1), (257, 2), (1 << 16, 2), ((1 << 16) + 1, 4), (10**9, 4)):
        assert sample_pairs(n, 0, NONE, 3, rng).columns.itemsize == size


@pytest.mark.parametrize("wrt", ["metric", "factor", "threshold"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_long_list_of_all_pairs_has_their_sum(rng, wrt, n_jobs):
    X, P = rng.normal(size=(300, 4)), rng.normal(size=(2, 4))
    pairs = np.column_stack(np.triu_indices(300, k=1))
    terms = PairTerms(np.empty(0, dtype=int), mu=0.1)
    listed = replace(terms, plan=Plan(listed=PairList.of(pairs), weight=1.0))
    value, gradient = NumpySweep(X)(P, terms, wrt)
    other, same = NumpySweep(X, n_jobs=n_jobs)(P, listed, wrt)
    assert other == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(same, gradient, rtol=1e-9, atol=1e-9 * np.abs(gradient).max())


@pytest.mark.parametrize("wrt", ["metric", "factor", "threshold"])
@pytest.mark.parametrize("q", [None, Posterior(), Posterior(np.eye(3, 4))], ids=str)
def test_a_device_gathers_the_pairs_that_numpy_sums_by_a_sparse_matrix(rng, wrt, q):
    X, P = rng.normal(size=(50, 4)), rng.normal(size=(2, 4))
    pairs = np.argwhere(np.triu(rng.uniform(size=(50, 50)) < 0.3, 1))
    plan = Plan(listed=PairList.of(pairs[::2]), weight=2.0)
    similar, weights = rng.uniform(size=(2, len(pairs[1::2])))
    terms = PairTerms(
        np.empty(0, dtype=int), pairs[1::2], similar, 1.0, 0.1, q, plan, weights=weights
    )
    value, gradient = NumpySweep(X)(P, terms, wrt)
    sweep = TorchSweep(X, "cpu")
    sweep.gathers_lists, sweep.arithmetic.gathered_numbers = True, 50  # as on a small GPU
    other, same = sweep(P, terms, wrt)
    assert other == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(same, gradient, rtol=1e-11, atol=1e-12)


# Sampled lists


def in_order(pairs):
    """Return an array of the pairs, the smaller row first, sorted."""
    found = np.sort(pairs[:], axis=1)
    return found[np.lexsort([found[:, 1], found[:, 0]])]


def test_two_samples_from_one_source_differ():
    rng = np.random.RandomState(np.random.PCG64(3))
    one, other = (sample_pairs(60, 9, NONE, 50, rng) for _ in range(2))
    assert len(one) == len(other) == 50
    assert not np.array_equal(one[:], other[:])


@pytest.mark.parametrize("size", [1, 20, 200, 1500, 1732])
def test_a_sample_has_unlabeled_pairs_each_once(size):
    marked = np.array([[50, 3], [40, 41]])
    found = sample_pairs(60, 9, marked, size, np.random.RandomState(0))
    assert np.all(np.diff(found.rows) > 0)
    assert np.all(np.diff(found.starts) > 0)
    pairs = in_order(found)
    assert pairs.shape == (size, 2)
    assert len(np.unique(pairs, axis=0)) == size
    assert np.all(pairs[:, 0] < pairs[:, 1])
    assert np.all(pairs[:, 1] >= 9)
    assert pairs.max() < 60
    assert not {(3, 50), (40, 41)} & {tuple(pair) for pair in pairs.tolist()}


@pytest.mark.parametrize("size", few([1, 6, 30, 40, 55, 58], {6, 55}.__contains__))
def test_every_pair_is_as_likely_as_any_other(size):
    n_samples = 1000
    counts = np.zeros((12, 12))
    for seed in range(n_samples):
        found = sample_pairs(12, 4, np.array([[5, 9]]), size, np.random.RandomState(seed))
        i, j = in_order(found).T
        counts[i, j] += 1
    free = np.triu(np.ones((12, 12)), k=1)
    free[:4, :4] = free[5, 9] = 0.0
    expected = n_samples * size / free.sum()
    assert np.all(counts[free == 0] == 0)
    # Four standard deviations of a binomial count.
    assert np.max(np.abs(counts[free == 1] - expected)) < 4.0 * np.sqrt(expected)


def test_every_row_has_about_its_share_of_a_sample():
    found = sample_pairs(100, 0, NONE, 990, np.random.RandomState(0))
    counts = np.bincount(found.rows, weights=np.diff(found.starts), minlength=100)
    # A row j is first in j pairs, of which a fifth is sampled; a run may cross to the next row.
    assert np.all(np.abs(counts - 0.2 * np.arange(100)) <= 2.0)


SLOW_SHARES = [pytest.param(share, marks=pytest.mark.slow) for share in (0.2, 0.999)]


@pytest.mark.parametrize("share", [0.1, 0.5, *SLOW_SHARES])
def test_a_sample_takes_little_more_memory_than_its_list(share):
    n = 3000
    size = int(share * (n * (n - 1) // 2 - 100 * 99 // 2))
    tracemalloc.start()
    try:
        found = sample_pairs(n, 100, np.array([[7, 2000]]), size, np.random.RandomState(0))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.columns.nbytes == 2 * size
    assert peak < 2 * size + 2e6  # some numbers of a chunk
    pairs = in_order(found)
    numbers = pairs @ [n, 1]
    assert len(pairs) == size
    assert np.all(np.diff(numbers) > 0)  # sorted, each once
    assert np.all(pairs[:, 0] < pairs[:, 1])
    assert pairs[:, 1].min() >= 100
    assert not np.any(numbers == 7 * n + 2000)


def test_pairs_of_a_billion_rows_are_numbered_exactly():
    n = 10**9
    found = sample_pairs(n, 1000, NONE, 1000, np.random.RandomState(0))
    pairs = in_order(found)
    assert np.all((pairs[:, 0] >= 0) & (pairs[:, 0] < pairs[:, 1]) & (pairs[:, 1] < n))
    assert pairs[:, 1].max() > 0.9 * n


# Tiles


def visited(strips, n):
    """Count how often tiles have each pair of n rows; squares on the diagonal count once."""
    return weighted([strip._replace(weight=1) for strip in strips], n).astype(int)


def weighted(strips, n):
    """Add up the weights of each pair of n rows."""
    found = np.zeros((n, n))
    for strip in strips:
        for columns in strip.columns:
            tile = np.full_like(found[strip.rows, columns], strip.weight)
            found[strip.rows, columns] += np.triu(tile, 1) if strip.rows == columns else tile
    return found


@pytest.mark.parametrize(("n", "k"), [(50, 0), (50, 50), (50, 13), (50, 1)])
@pytest.mark.parametrize("unlabeled", [True, False])
def test_all_pairs_are_visited_once(n, k, unlabeled):
    strips = Plan().tiles(n, k, 8, mu=float(unlabeled))
    expected = np.triu(np.ones((n, n), dtype=int), 1)
    if not unlabeled:
        expected[:, k:] = 0
    np.testing.assert_array_equal(weighted(strips, n), expected)
    labeled = visited([strip for strip in strips if strip.labeled], n)
    np.testing.assert_array_equal(labeled[:k, :k], expected[:k, :k])
    assert labeled.sum() == k * (k - 1) / 2


@pytest.mark.parametrize(("n", "k", "side", "share"), [(500, 7, 40, 0.1), (300, 0, 16, 0.2)])
def test_a_share_of_tiles_has_each_pair_once_and_every_row_equally_often(n, k, side, share):
    strips = Plan(share=share).tiles(n, k, side)
    count, weights = visited(strips, n), weighted(strips, n)
    for found in (count, weights):
        np.testing.assert_array_equal(found[:k, :k], np.triu(np.ones((k, k)), 1))
    count[:k, :k] = 0  # all labeled pairs
    assert not np.any(count + count.T > 1)
    others = count[k:, k:].sum(axis=0) + count[k:, k:].sum(axis=1)
    assert others.max() - others.min() <= 4  # blocks differ by a row
    u = n - k
    assert weights[k:, k:].sum() == pytest.approx(u * (u - 1) / 2)
    assert weights[:k, k:].sum() == pytest.approx(k * u)
    assert 0.5 * share < count.sum() / (n * (n - 1) / 2) < 2 * share


@pytest.mark.parametrize(("n", "k"), [(500, 500), (500, 498), (500, 300), (500, 2)])
@pytest.mark.parametrize("share", [0.02, 0.15, 0.8, 0.999])
def test_weights_make_up_for_the_labeled_pairs_that_are_left_out(n, k, share):
    strips = Plan(share=share, labeled_share=share).tiles(n, k, 40)
    count, weights = visited(strips, n), weighted(strips, n)
    assert not np.any(count + count.T > 1)
    u = n - k
    assert weights[:k, :k].sum() == pytest.approx(k * (k - 1) / 2)
    assert weights[:k, k:].sum() + weights[k:, :k].sum() == pytest.approx(k * u)
    assert weights[k:, k:].sum() == pytest.approx(u * (u - 1) / 2)


@pytest.mark.parametrize("share", [0.06, 0.2, 0.55, 0.9])
@pytest.mark.parametrize("least_side", [1, 64, 2048])
def test_a_share_of_tiles_is_met_closely_and_treats_labeled_rows_alike(share, least_side):
    n, k = 3000, 300
    strips = Plan(share=share).tiles(n, k, 256, least_side)
    count = np.zeros((n, n), dtype=np.int8)
    for strip in strips:
        for columns in strip.columns:
            count[strip.rows, columns] += 1
    count[:k, :k] = 0
    assert count.max() == 1
    n_unlabeled = n * (n - 1) / 2 - k * (k - 1) / 2
    assert abs(count.sum() / n_unlabeled - share) < 0.04
    met = count[:k].sum(axis=1)
    assert met.max() - met.min() <= 0.02 * n


@pytest.mark.parametrize("wrt", ["metric", "factor", "threshold"])
@pytest.mark.parametrize(("k", "labeled_share"), [(5, 1.0), (300, 0.15), (600, 0.15)])
@pytest.mark.parametrize(
    "Sweep", [NumpySweep, NumbaSweep, lambda X, tile: TorchSweep(X, "cpu", tile)]
)
def test_a_share_is_the_sum_over_its_tiles(rng, wrt, k, labeled_share, Sweep):
    n, share = 600, 0.15
    X, P = rng.normal(size=(n, 4)), rng.normal(size=(2, 4))
    plan = Plan(share=share, labeled_share=labeled_share)
    codes = rng.integers(3, size=k)
    value, gradient = Sweep(X, tile=64)(P, PairTerms(codes, eta=1.3, mu=0.4, plan=plan), wrt)
    weights = weighted(plan.tiles(n, k, 64, least_side=64), n)
    i, j = np.nonzero(weights)
    kind = (i >= k).astype(int) + (j >= k)
    nobody = np.empty(0, dtype=int)
    exact, expected = 0.0, 0.0
    for which in np.unique(kind):
        pairs = np.column_stack([i, j])[kind == which]
        weight = weights[i, j][kind == which]
        if which == 0:
            similar = codes[pairs[:, 0]] == codes[pairs[:, 1]]
            terms = PairTerms(nobody, pairs, similar, 1.3, weights=weight)
        else:
            plan = Plan(listed=PairList.of(pairs), weight=weight[0])
            terms = PairTerms(nobody, eta=1.3, mu=0.4, plan=plan)
        part, slope = NumpySweep(X)(P, terms, wrt)
        exact, expected = exact + part, expected + slope
    assert value == pytest.approx(exact, rel=1e-11)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("n", "span", "share"), [(2000, 512, 0.5), (600, 512, 0.1), (5, 512, 0.9)]
)
def test_the_weight_of_a_band_makes_up_for_what_is_left_out(n, span, share):
    reach, weight = choose_band(n, span, share)
    of, n_spans = np.arange(n) // span, -(-n // span)
    apart = np.abs(of[:, None] - of)
    met = np.triu(np.minimum(apart, n_spans - apart) <= reach, 1)
    assert weight * met.sum() == pytest.approx(n * (n - 1) / 2)


# Samples for solvers


def shares(shape, n_labeled, **settings):
    return [share for share, _ in Plan().samples(shape, n_labeled, **settings)]


def test_few_pairs_and_few_rows_for_each_feature_are_not_sampled():
    assert shares((1000, 5), 10) == []
    assert shares((5000, 784), 100) == []
    assert shares((5000, 5), 1000, unlabeled=False) == []
    first, second = shares((20_000, 64), 100)
    assert second == 4 * first < 0.1


def test_a_search_near_the_maximum_is_sampled_with_fewer_rows():
    assert shares((5000, 784), 100, near=True)[0] == pytest.approx(0.0512, rel=0.01)
    assert shares((1500, 784), 100, near=True) == []


@pytest.mark.parametrize(("k", "all_labeled"), [(0, True), (100, True), (4900, False)])
def test_labeled_pairs_are_sampled_only_if_they_are_most(k, all_labeled):
    for share, plan in Plan().samples((5000, 5), k):
        assert plan.share == share
        assert plan.labeled_share == (1.0 if all_labeled else share)
        assert plan.listed is None


def test_samples_of_samples_are_shares_of_them():
    ((share, plan), *_) = Plan(share=0.5, seed=3).samples((20_000, 5), 10)
    assert plan == Plan(share=0.5 * share, seed=3)
    listed = PairList.of(np.column_stack([np.arange(2_000_000)] * 2))
    (share, plan), *more = Plan(listed=listed, weight=3.0).samples((20_000, 5), 10)
    assert share == pytest.approx(0.131, rel=0.01)
    assert not more  # four times as many would be more than a fifth
    assert plan.step == 8
    assert plan.weight * len(plan.listed.every(plan.step)) == pytest.approx(3.0 * len(listed))


# The order of the rows


@pytest.mark.parametrize(("k", "share", "sampled"), [(0, 1, 1), (100, 1, 1), (8000, 0.06, 1 / 8)])
def test_a_share_of_few_pairs_for_each_row_is_sampled_by_rows(k, share, sampled):
    n, plan = 20_000, Plan(share=0.0064, labeled_share=share, by_rows=True)
    ((part, some),) = plan.samples((n, 64), k)
    assert part == 1 / 8
    assert some.rows == k + round((n - k) / 8)
    assert some.labeled_share == sampled * share
    strips = some.tiles(n, k, 384, 16, mu=0.5)
    assert max(strip.stop for strip in strips) == some.rows
    # As many pairs for each row, which stand for all.
    free = [strip for strip in strips if not strip.labeled and strip.rows.start >= k]
    assert count(free) / (n - k) * 8 == pytest.approx(0.0032 * (n - k), rel=0.3)
    weights = sum(strip.weight * count([strip]) for strip in strips if not strip.labeled)
    assert weights == pytest.approx(0.5 * (n * (n - 1) - k * (k - 1)) / 2)
    assert replace(plan, by_rows=False).samples((n, 64), k) == []


def count(strips):
    """Count the pairs of tiles off the diagonal."""
    return sum(
        (strip.rows.stop - strip.rows.start) * (columns.stop - columns.start)
        for strip in strips
        for columns in strip.columns
    )


@pytest.mark.parametrize("wrt", ["metric", "factor", "threshold"])
@pytest.mark.parametrize("make", [NumpySweep, lambda X: TorchSweep(X, "cpu")])
def test_a_sample_of_rows_estimates_the_sum_over_all(rng, wrt, make):
    X, P = rng.normal(size=(4000, 4)), rng.normal(size=(2, 4))
    terms = PairTerms(rng.integers(3, size=50), np.array([[60, 3999]]), np.array([True]), mu=0.01)
    some = replace(terms, plan=Plan(share=0.2, rows=2000))
    (value, gradient), (near, slope) = (make(X)(P, one, wrt) for one in (terms, some))
    assert near == pytest.approx(value, rel=0.02)
    assert np.linalg.norm(slope - gradient) < 0.1 * np.linalg.norm(gradient)


def test_no_order_is_needed_where_nothing_is_sampled():
    labeled = np.array([4, 2])
    assert Plan().order((100, 5), labeled) is None
    assert Plan(listed=PairList.of(PAIRS)).order((5000, 5), labeled) is None


@pytest.mark.parametrize(("k", "sorted_by_class"), [(50, True), (4900, False)])
def test_an_order_has_the_labeled_rows_first_and_each_row_once(k, sorted_by_class):
    labeled = np.random.default_rng(0).permutation(5000)[:k]
    order = Plan().order((5000, 5), labeled)
    assert np.array_equal(np.sort(order), np.arange(5000))
    assert np.array_equal(np.sort(order[:k]), np.sort(labeled))
    assert np.array_equal(order[:k], labeled) == sorted_by_class
    assert np.any(np.diff(order[k:]) < 0)
    assert np.array_equal(Plan().order((5000, 5), labeled), order)  # the same in each fit
    assert not np.array_equal(Plan(seed=1).order((5000, 5), labeled), order)
