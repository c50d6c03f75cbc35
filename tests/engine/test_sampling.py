import numpy as np
import pytest

from seraph._engine._sampling import sample_pairs


@pytest.mark.parametrize("size", [1, 20, 200, 1500])
def test_a_draw_holds_unlabeled_pairs_each_once(rng, size):
    listed = np.array([[50, 3], [40, 41]])
    pairs = sample_pairs(60, 9, listed, size, np.random.RandomState(0))
    assert pairs.shape == (size, 2)
    assert len(np.unique(pairs, axis=0)) == size
    assert np.all(pairs[:, 0] < pairs[:, 1])
    assert np.all(pairs[:, 1] >= 9)
    assert pairs.max() < 60
    assert not {(3, 50), (40, 41)} & {tuple(pair) for pair in pairs.tolist()}
    assert np.all(np.diff(pairs[:, 0]) >= 0)


def test_every_pair_is_as_likely_as_any_other():
    counts = np.zeros((12, 12))
    for seed in range(3000):
        i, j = sample_pairs(12, 4, np.array([[5, 9]]), 6, np.random.RandomState(seed)).T
        counts[i, j] += 1
    free = np.triu(np.ones((12, 12)), k=1)
    free[:4, :4] = free[5, 9] = 0.0
    expected = 3000 * 6 / free.sum()
    assert np.all(counts[free == 0] == 0)
    # Four standard deviations of a binomial count.
    assert np.max(np.abs(counts[free == 1] - expected)) < 4.0 * np.sqrt(expected)


def test_pairs_of_a_billion_rows_are_numbered_exactly():
    n = 10**9
    pairs = sample_pairs(n, 1000, np.empty((0, 2), dtype=int), 1000, np.random.RandomState(0))
    assert np.all((pairs[:, 0] >= 0) & (pairs[:, 0] < pairs[:, 1]) & (pairs[:, 1] < n))
    assert pairs[:, 1].max() > 0.9 * n
